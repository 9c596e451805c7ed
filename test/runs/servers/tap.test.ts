import { createServer, request } from 'node:http'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { ask } from './ask.ts'
import { openTap } from './tap.ts'

/** A server that answers each request with the next of these bodies. */
async function answering(bodies: readonly string[]) {
  const left = [...bodies]
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => outgoing.end(left.shift()))
  })
  const port = await freePort()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const tap = await openTap(`http://127.0.0.1:${port}`)
  return {
    tap,
    close: async () => {
      await tap.close()
      server.close()
    },
  }
}

const finished = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'

test('a tap keeps what was sent and answered, request by request, and leaves out what asks for something else', async () => {
  const { tap, close } = await answering(['first', 'models', 'second'])
  for (const [path, body] of [
    ['/v1/chat/completions', '{"a":1}'],
    ['/v1/models', '{}'],
    ['/v1/chat/completions', '{"ä":2}'],
  ] as const) {
    const asked = request(tap.origin + path, { method: 'POST' })
    asked.end(body)
    const [answer] = await once(asked, 'response')
    await once(answer.resume(), 'end')
  }
  expect(tap.take()).toEqual([
    { body: '{"a":1}', status: 200, answer: 'first' },
    { body: '{"ä":2}', status: 200, answer: 'second' },
  ])
  expect(tap.take()).toEqual([])
  await close()
})

test.each([
  ['ends and says so', `data: ${finished}\n\ndata: [DONE]\n\n`, null],
  [
    'brings the usage that was asked for',
    `data: ${finished}\n\ndata: {"choices":[],"usage":{"prompt_tokens":4}}\n\ndata: [DONE]\n\n`,
    null,
  ],
  ['has no event', '', /^a stream without an end/],
  ['has an error', 'data: {"error":{"message":"full"}}\n\n', /^an error in the stream/],
  ['does not say that it is done', `data: ${finished}\n\n`, /^no \[DONE\]/],
  [
    'goes on after its finish',
    `data: ${finished}\n\ndata: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: [DONE]\n\n`,
    /^after the finish/,
  ],
])('a stream that %s is judged by it', async (_, body, problem) => {
  const { tap, close } = await answering([body])
  const reply = await ask(tap.origin, { messages: ['{"role":"user","content":"x"}'], isStreamed: true })
  if (problem === null) expect(reply.problem).toBeNull()
  else expect(reply.problem).toMatch(problem)
  await close()
})
