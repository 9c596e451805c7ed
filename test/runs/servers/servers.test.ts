import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { freePort, listen } from '../../support/free-port.ts'
import { ask } from './ask.ts'
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
  await listen(server, port)
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

test('every byte of a vocabulary is a token, and every longer one what joining a pair gives, by their ranks', () => {
  const { tokens, merges } = smallVocabulary(2000)
  expect(tokens.filter((token) => token.length === 1)).toHaveLength(256)
  expect(new Set(tokens).size).toBe(2000)
  expect(merges.map((pair) => pair.replace(' ', ''))).toEqual(tokens.filter((token) => token.length > 1))
  expect(merges.flatMap((pair) => pair.split(' ')).filter((part) => !tokens.includes(part))).toEqual([])
})
