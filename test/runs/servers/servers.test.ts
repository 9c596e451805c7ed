import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { rawMessage } from '../harness/recordings.ts'
import { ask } from './ask.ts'
import { dropHalfWhenFull } from './evaluated.ts'
import { smallVocabulary } from './models.ts'
import { openTap } from './tap.ts'

const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":4}}\n\n'
const more = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'

test('a tap keeps what was sent and answered, and leaves out the rest; a stream is judged by its end', async () => {
  const streams: readonly (readonly [body: string, problem: RegExp | null])[] = [
    [`${finish}data: [DONE]\n\n`, null],
    [`${finish}${usage}data: [DONE]\n\n`, null],
    ['', /^a stream without an end/],
    ['data: {"error":{"message":"full"}}\n\n', /^an error in the stream/],
    [finish, /^no \[DONE\]/],
    [`${finish}${more}data: [DONE]\n\n`, /^after the finish/],
  ]
  const left = streams.map(([body]) => body)
  const server = createServer((incoming, outgoing) => {
    const isModels = incoming.url === '/v1/models'
    incoming.resume().once('end', () => outgoing.end(isModels ? 'models' : left.shift()))
  })
  const port = await freePort()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const tap = await openTap(`http://127.0.0.1:${port}`)
  for (const [, problem] of streams) {
    const messages = ['{"role":"user","content":"ä"}']
    const reply = await ask(tap.origin, { messages, isStreamed: true })
    if (problem === null) expect(reply.problem).toBeNull()
    else expect(reply.problem).toMatch(problem)
    await (await fetch(`${tap.origin}/v1/models`, { headers: { connection: 'close' } })).text()
  }
  const taken = tap.take()
  expect(taken.map(({ status, answer }) => [status, answer])).toEqual(streams.map(([body]) => [200, body]))
  expect(taken.filter(({ body }) => !body.includes('"content":"ä"'))).toEqual([])
  expect(tap.take()).toEqual([])
  await tap.close()
  server.close()
})

test('a client that drops half sends a prompt that grows at its end, until it is full', () => {
  const conversation = Array.from({ length: 12 }, (_, index) =>
    rawMessage(JSON.stringify({ role: index === 0 ? 'system' : 'user', content: `${index}` })),
  )
  const compact = dropHalfWhenFull()
  // Ten tokens each: the head takes two of the eight that there is room for.
  const sent = [8, 9, 10, 11, 12].map((count) =>
    compact({ messages: conversation.slice(0, count), budgetTokens: 80, sizeOf: () => 10 })
      .map(({ message }) => message['content'])
      .join(' '),
  )
  expect(sent).toEqual(['0 1 2 3 4 5 6 7', '0 1 6 7 8', '0 1 6 7 8 9', '0 1 6 7 8 9 10', '0 1 6 7 8 9 10 11'])
})

test('every byte of a vocabulary is a token, and every longer one what joining a pair gives, by their ranks', () => {
  const { tokens, merges } = smallVocabulary(2000)
  expect(tokens.filter((token) => token.length === 1)).toHaveLength(256)
  expect(new Set(tokens).size).toBe(2000)
  expect(merges.map((pair) => pair.replace(' ', ''))).toEqual(tokens.filter((token) => token.length > 1))
  expect(merges.flatMap((pair) => pair.split(' ')).filter((part) => !tokens.includes(part))).toEqual([])
})
