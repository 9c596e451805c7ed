import { createServer } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { openChatClient, type ChatTarget } from '../../src/demo/chat-client.ts'
import { readFoldgateHeaders } from '../../src/demo/foldgate-headers.ts'
import { wires } from '../../src/demo/wires.ts'

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] }
const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** A server that gives every request the same answer. */
async function serve(status: number, body: string): Promise<ChatTarget> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`, apiKey: '' }
}

describe('the client', () => {
  test('takes an error behind a good status for a failure', async () => {
    const client = openChatClient(
      await serve(200, '{"error":{"message":"out of memory"}}'),
      wires['chat-completions'],
    )
    expect(await client(request)).toMatchObject({ name: 'ChatError', message: '200 out of memory' })
  })

  test("tells the status of a refusal, in the server's words", async () => {
    const client = openChatClient(
      await serve(400, '{"error":{"message":"too long","code":"context_length_exceeded"}}'),
      wires['chat-completions'],
    )
    expect(await client(request)).toMatchObject({ name: 'ChatError', message: '400 too long' })
  })
})

test('reads counts that were not needed as bounds', () => {
  const headers: Record<string, string> = {
    'x-foldgate-action': 'relayed;reason=path',
    'x-foldgate-tokens': '<900;sent=<900',
    'x-foldgate-window': '8192;source=learnt',
    'x-foldgate-passes': '',
  }
  expect(readFoldgateHeaders((name) => headers[name] ?? null)).toEqual({
    action: 'relayed',
    passes: [],
    conversationTokens: null,
    conversationTokensBelow: 900,
    sentTokens: null,
    pressure: null,
    windowTokens: 8192,
    summary: null,
  })
})
