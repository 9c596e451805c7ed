import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { type ChatClient, type ChatTarget, openChatClient } from '../../src/commands/demo/http-client.ts'
import { type DemoOptions, runDemo } from '../../src/commands/demo/run-demo.ts'
import { startStrictUpstream } from '../support/strict-upstream/strict-upstream.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { listen } from '../support/free-port.ts'
import { startMessagesUpstream } from '../support/messages/messages-upstream.ts'
import { startResponsesUpstream } from '../support/responses/responses-upstream.ts'
import { typeOf } from '../support/responses/wire-item.ts'
import { readFoldgateHeaders } from '../../src/commands/demo/demo-drawing.ts'
import { spokenDialects } from '../../src/commands/demo/wires.ts'

const count = (text: string) => Math.ceil(text.length / 4)
const roomy = { windowTokens: 1_000_000, outputReserveChecked: true, count } as const

async function endless(say = (_text: string) => 'noted') {
  const reply = ({ rawMessages }: { readonly rawMessages: readonly string[] }) => ({
    content: say(rawMessages.at(-1) ?? ''),
  })
  const stand = await startStrictUpstream({ ...roomy, template: 'lenient', reply })
  onTestFinished(() => stand.close())
  return stand
}

const inPlace = ({ url }: { readonly url: string }) => ({
  startFoldgate: async () => ({ url, close: async () => {} }),
})

async function takesAll(
  dialect: 'responses' | 'messages',
  stand: { url: string; close: () => Promise<void>; requests: readonly { readonly rejected: unknown }[] },
) {
  onTestFinished(stand.close)
  const { failed } = await run({ dialect, ...inPlace(stand) })
  expect(failed).toBe(0)
  expect(stand.requests.filter(({ rejected }) => rejected !== null)).toEqual([])
}

const headers: Record<string, string> = {
  'x-foldgate-action': 'compacted;reason=pressure',
  'x-foldgate-passes': 'clear,fold',
  'x-foldgate-tokens': '9876;sent=4001',
  'x-foldgate-pressure': '1.29',
}

const compacting: ChatClient = async () => ({
  message: { role: 'assistant', content: '' },
  usage: { promptTokens: 4000, cachedTokens: 3000 },
  header: (name) => headers[name] ?? null,
})

/** Without the line breaks that fit a text to the terminal. */
const unwrapped = (text: string): string => text.replaceAll(/\s+/g, ' ')

function speaking(name: string) {
  const spoken = spokenDialects.get(name)
  if (spoken === undefined) throw new Error(`The demo does not speak ${name}.`)
  return spoken
}

async function run({
  dialect = 'chat-completions',
  ...options
}: Partial<DemoOptions> & { dialect?: string }) {
  const written: string[] = []
  const result = await runDemo({
    startFoldgate: async ({ url }) => ({ url, close: async () => {} }),
    count,
    write: (text) => written.push(text),
    columns: 110,
    color: false,
    spoken: speaking(dialect),
    ...options,
  })
  return { ...result, text: written.join('') }
}

test('counts the requests that failed on the way, and ends when nothing gets through', async () => {
  const { failed, text } = await run({})
  expect(failed).toBeGreaterThan(40)
  expect(text).toMatch(/failed: 400 This model's maximum context length is 8192 tokens/)
})

// Once the demo never sent more than 5,911 tokens: numbers that guessed a tokenizer decided, and half of the room lay idle.
test.for(['chat-completions', 'responses', 'messages'] as const)(
  'through Foldgate every request is answered, and the largest prompt takes nine tenths of the budget: %s',
  async (dialect) => {
    const counter = await loadCounter('o200k_base')
    const { failed, text } = await run({
      dialect,
      count: counter.count,
      startFoldgate: ({ url, windowTokens }) =>
        startFoldgate({ upstream: url, profile: { window: { tokens: windowTokens ?? 'auto' } } }),
    })
    expect(failed).toBe(0)
    expect(unwrapped(text)).toContain('4 of 4 early facts given back late')
    expect(unwrapped(text)).toContain('The same conversation ended at request')
    const [, told = ''] = /the largest prompt sent had ([\d,]+)/.exec(unwrapped(text)) ?? []
    const largest = Number(told.replaceAll(',', ''))
    // The window of 8,192 tokens, less the 512 that each request keeps for its reply.
    const budgetTokens = 8192 - 512
    expect(largest).toBeGreaterThan(0.9 * budgetTokens)
    expect(largest).toBeLessThanOrEqual(budgetTokens)
  },
)

test('tells at which request the conversation ended without Foldgate, and with what error', async () => {
  const { failed, text } = await run(inPlace(await endless()))
  expect(failed).toBe(0)
  expect(text).toMatch(/Through Foldgate {2}\d+ of \d+ requests answered/)
  expect(text).toMatch(/Without Foldgate {2}The same conversation ended at request \d+ of \d+, in turn \d+:/)
  expect(text).toContain('maximum context length is 8192 tokens')
})

// Thoughts are passed over.
test('in the other APIs a strict server takes the whole conversation', async () => {
  const items = await startResponsesUpstream({
    ...roomy,
    reply: ({ items: { length } }) => ({
      output: [
        { type: 'reasoning' },
        { type: 'message', text: `Of ${length} items.` },
        { type: 'function_call', callId: `call_of_${length}`, name: 'search', arguments: '{}' },
      ],
    }),
  })
  await takesAll('responses', items)
  const types = items.requests[1]?.items.map(typeOf)
  expect(types).toEqual(['message', 'message', 'message', 'function_call', 'function_call_output'])
  const blocks = await startMessagesUpstream({
    ...roomy,
    reply: ({ messages: { length } }) => ({
      content: [
        { type: 'thinking' },
        { type: 'text', text: `Of ${length} messages.` },
        { type: 'tool_use', id: `toolu_${length}`, name: 'search', input: {} },
      ],
    }),
  })
  await takesAll('messages', blocks)
  const made = blocks.requests[1]?.messages.map((message) => message.blocks.map(({ type }) => type).join())
  expect(made).toEqual(['text', 'text,tool_use', 'tool_result'])
})

test('is plain text within the width where there is no terminal, and coloured only where it may be', async () => {
  for (const columns of [60, 120]) {
    const { text } = await run({ columns })
    // oxlint-disable-next-line no-control-regex -- the absence of control characters is what is tested
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/)
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
  }
  expect((await run({ color: true })).text).toContain('\u001B[')
})

test("reads what Foldgate did from the answers' headers", async () => {
  const { text } = await run({ clients: () => compacting })
  expect(text).toMatch(/ 9,876 +4,000 +█+░+ +129% +75% +compacted: clear, fold/)
})

test('with a server of your own, says which facts were kept and which were lost, or why it cannot be reached', async () => {
  const facts = '47113 ines.halvorsen@ledger.example'
  const server = await endless((last) => (/port|e-mail/.test(last) ? facts : 'noted'))
  const upstream = { url: server.url, model: 'mine', apiKey: 'key' }
  const { failed, text } = await run({ upstream })
  expect(failed).toBe(0)
  expect(text).toContain('Facts kept: port, e-mail; lost: path, id.')
  expect(unwrapped(text)).toContain('sent directly, was answered; kept: port, e-mail.')
  expect(server.requests.length).toBeLessThanOrEqual(41)
  expect(Math.max(...server.requests.map((request) => request.promptTokens))).toBeGreaterThan(6000)
  await server.close()
  const gone = await run({ upstream })
  expect([gone.failed, gone.text]).toEqual([
    3,
    expect.stringMatching(/failed: .*(Connection error|ECONNREFUSED)/),
  ])
})

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] }
async function serve(status: number, body: string): Promise<ChatTarget> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${await listen(server)}/v1`, apiKey: '' }
}

test.each([
  ['takes an error behind a good status for a failure', 200, '{"error":{"message":"out of memory"}}'],
  ["tells a refusal in the server's words", 400, '{"error":{"message":"out of memory","code":"context"}}'],
])('the client %s', async (_, status, body) => {
  const client = openChatClient(await serve(status, body), speaking('chat-completions'))
  expect(await client(request)).toMatchObject({ name: 'ChatError', message: `${status} out of memory` })
})

test('reads counts that were not needed as bounds', () => {
  const counts: Record<string, string> = {
    'x-foldgate-action': 'relayed;reason=path',
    'x-foldgate-tokens': '<900;sent=<900',
    'x-foldgate-window': '8192;source=learnt',
    'x-foldgate-passes': '',
  }
  expect(readFoldgateHeaders((name) => counts[name] ?? null)).toEqual({
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
