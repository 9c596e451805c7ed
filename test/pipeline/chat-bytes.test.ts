import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { longRun, type TestMessage } from '../support/conversations.ts'
import { completion, json } from '../support/fake-upstream.ts'
import { postChat, rawMessages } from '../support/post-chat.ts'
import { standWith, type Stand } from '../support/stand.ts'

const [windowTokens, reserveTokens] = [3_000, 512]
const smallWindow = { window: { tokens: windowTokens, output_reserve: reserveTokens } }
const run = longRun(14, 1, 0.5)

let shared: Stand
beforeAll(async () => {
  shared = await standWith(completion('done'), { profile: smallWindow })
  return () => shared[Symbol.asyncDispose]()
})

/** What is answered to a body, and what the upstream received of it. */
async function exchange(
  body: object | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  at: Stand = shared,
) {
  const before = at.upstream.requests.length
  const reply = await postChat(at.url, body, headers)
  const [received = expect.fail(), ...more] = at.upstream.requests.slice(before)
  expect(more).toEqual([])
  return { reply, received }
}

/** JSON that no serialiser writes: spaces, an order of its own, fields that nobody knows, escapes. */
function oddly(message: TestMessage, index: number): string {
  const escaped = JSON.stringify(message).replaceAll('e', '\\u0065').slice(1, -1)
  return `{ "x_${index}" : [ 1.0, 1e400 , 12345678901234567890,{"role":"tool"} ] ,\t${escaped}\n}`
}

const odd = {
  head: '\n{ "temperature" : 1e400,"model":"m", "metadata":{"messages":["not these"]},\r\n\t"messages" :  [ ',
  tail: ' ]\t,"seed":12345678901234567890 , "x-unknown" : {"b":1.50,"a":-0.0, "\\u0061\\ud83d\\ude00":"\\/"}, "stop":null } \n',
}
const oddMessages = run.map(oddly)
const oddBody = odd.head + oddMessages.join(' ,\n ') + odd.tail

describe('what needs no rewriting reaches the upstream byte for byte', () => {
  const hello = '{"role":"user","content":"hi"}'
  test.each<[string, string | Buffer]>([
    [
      'numbers that JSON.parse would change',
      `{"model":"m","x":1e400,"y":12345678901234567890,"z":1.0,"messages":[${hello}]}`,
    ],
    ['white space', `\r\n\t { "model" : "m" ,\n\n "messages" : [\t${hello} ,${hello}\n] } \n`],
    ['escaped keys', `{"model":"m","mess\\u0061ges":[${hello}]}`],
    [
      'unknown fields and escapes',
      `{"\\u006dodel":"m","messages":[{"role":"user","content":"\\u0068\\/\\ud83d\\ude00","x":{}}]}`,
    ],
    ['duplicate keys in a message', `{"model":"m","messages":[{"role":"user","content":"a","content":"b"}]}`],
  ])('%s', async (_name, body) => {
    const { reply, received } = await exchange(body)
    expect(reply.status).toBe(200)
    expect(reply.action).toMatch(/^relayed/)
    expect(received.body.equals(Buffer.from(body))).toBe(true)
  })

  // Each unknown model was remembered by its whole name so that it is warned of once: twenty requests with names of 50 MB ended
  // the process.
  test('what is long beside the messages: four megabytes of tools, and names of models, which are logged only in short', async () => {
    await using at = await standWith(completion('fine'))
    for (const [model, tools] of [
      ['m', [{ x: 'y'.repeat(4_000_000) }]],
      [`${'m'.repeat(60_000)}one`],
      [`${'m'.repeat(60_000)}two`],
      [`${'m'.repeat(5_000_000)}three`],
    ]) {
      const body = JSON.stringify({ model, tools, messages: [{ role: 'user', content: 'hello' }] })
      const { reply, received } = await exchange(body, {}, at)
      expect(reply.status).toBe(200)
      expect(received.body.equals(Buffer.from(body))).toBe(true)
    }
    expect(at.foldgate.log.filter((line) => line.includes('window'))).toHaveLength(3)
    for (const line of at.foldgate.log) expect(line.length).toBeLessThan(1_000)
  })

  test('a conversation that fills the window up to the trigger', async () => {
    await using at = await standWith(completion('done'), { profile: { window: { tokens: 200_000 } } })
    const { reply, received } = await exchange(oddBody, {}, at)
    expect(reply.action).toBe('relayed')
    expect(received.body.toString()).toBe(oddBody)
  })
})

describe('what cannot be read with certainty is relayed as it came, however long it is', () => {
  const long = JSON.stringify(run)
  const notUtf8 = Buffer.from(`{"model":"m","messages":${long}}`)
  notUtf8[notUtf8.length - 20] = 0xff
  test.each<[string, string | Buffer]>([
    ['bom', `\uFEFF{"model":"m","messages":${long}}`],
    ['not-utf8', notUtf8],
    ['not-json-object', `{"model":"m","messages":${long.slice(0, -1)}`],
    ['no-messages', '{"model":"m"}'],
    [
      'message-unreadable',
      `{"model":"m","messages":[${run.map((each) => JSON.stringify(each)).join(',')},7]}`,
    ],
    ['not-json-object', `{"model":"m","x":{"a":.5},"messages":${long}}`],
    ['invalid-value', `{"model":"${'m'.repeat(100_000)}","messages":${long}}`],
    // Sixty kilobytes of brackets took half a minute to parse, and nobody else was answered meanwhile.
    ['too-deep', `{"model":"m","messages":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ])('%s', async (reason, body) => {
    const { reply, received } = await exchange(body)
    expect([reply.status, reply.action]).toEqual([200, `relayed;reason=${reason}`])
    expect(received.body.equals(Buffer.from(body))).toBe(true)
  })
})

test('a rewritten body is spliced from the original bytes: around the messages, of what is kept, and between neighbours', async () => {
  const { reply, received } = await exchange(oddBody)
  expect(reply.action).toBe('compacted')
  const text = received.body.toString()
  expect(text.length).toBeLessThan(oddBody.length / 2)
  expect(text.slice(0, odd.head.length)).toBe(odd.head)
  expect(text.slice(-odd.tail.length)).toBe(odd.tail)
  expect(text).toContain(oddMessages.slice(-2).join(' ,\n ') + odd.tail)
  expect(received.headers['content-length']).toBe(String(Buffer.byteLength(text)))
  const sent = rawMessages(received)
  const meanings = new Set(oddMessages.map((raw) => JSON.stringify(JSON.parse(raw))))
  const kept = sent.filter((raw) => meanings.has(JSON.stringify(JSON.parse(raw))))
  for (const raw of kept) expect(oddMessages).toContain(raw)
  expect(kept.length).toBeGreaterThan(3)
  expect([sent[0], sent[1], sent.at(-1)]).toEqual([oddMessages[0], oddMessages[1], oddMessages.at(-1)])
})

describe('compressed request bodies', () => {
  const codings: [string, (body: string) => Buffer][] = [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ]
  test.each(codings)('%s: as they came, or rewritten, decoded and saying so', async (coding, compress) => {
    const body = compress('{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    const small = await exchange(body, { 'content-encoding': coding })
    expect(small.reply.action).toBe('relayed')
    expect(small.received.body).toEqual(body)
    expect(small.received.headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(body.length),
    })
    const { reply, received } = await exchange(compress(oddBody), { 'content-encoding': coding })
    expect(reply.action).toBe('compacted')
    expect(received.headers['content-encoding']).toBeUndefined()
    expect(received.headers['content-length']).toBe(String(received.body.length))
    expect(received.body.toString().slice(0, odd.head.length)).toBe(odd.head)
    expect(rawMessages(received).at(-1)).toBe(oddMessages.at(-1))
  })

  test.each<[string, string, Buffer]>([
    ['a coding that nobody knows', 'snappy', Buffer.from(oddBody)],
    ['bytes that are not what they claim', 'gzip', Buffer.from(oddBody)],
    ['bytes that break off', 'gzip', gzipSync(oddBody).subarray(0, 500)],
  ])('%s is relayed as it came', async (_name, coding, body) => {
    const { reply, received } = await exchange(body, { 'content-encoding': coding })
    expect(reply.action).toBe('relayed;reason=encoding')
    expect(received.body).toEqual(body)
    expect(received.headers['content-encoding']).toBe(coding)
  })
})

describe('headers', () => {
  const wishes = {
    'x-foldgate-compact': 'off',
    'x-foldgate-profile': 'default',
    'X-Foldgate-Conversation': 'label of mine',
    'x-foldgate-unheard-of': 'yes',
  }
  test.each<[string, string, Record<string, string>]>([
    ['relayed', '{"model":"m","messages":[{"role":"user","content":"hi"}]}', {}],
    ['compacted', oddBody, { 'x-foldgate-compact': 'force' }],
    ['unread', '{"messages":[]}', {}],
    ['bypassed', oddBody, { 'x-foldgate-bypass': '1' }],
  ])("Foldgate's own never reach the upstream, the client's others do: %s", async (_name, body, more) => {
    const given = { ...wishes, 'x-agent': 'explorer', 'openai-organization': 'org', ...more }
    const { rawHeaders, headers } = (await exchange(body, given)).received
    expect(rawHeaders.filter((text) => /foldgate/i.test(text))).toEqual([])
    expect(headers).toMatchObject({
      'x-agent': 'explorer',
      'openai-organization': 'org',
      authorization: 'Bearer key-of-a-test',
      'content-type': 'application/json',
    })
  })

  test("an answer carries the upstream's headers and Foldgate's own, which nobody upstream can forge", async () => {
    const upstreamHeaders = {
      'x-request-id': 'req_1',
      'x-ratelimit-remaining-tokens': '1234',
      'openai-processing-ms': '7',
      'x-foldgate-action': 'forged',
      'x-foldgate-forged': 'yes',
    }
    await using at = await standWith(json({ choices: [] }, 200, upstreamHeaders), { profile: smallWindow })
    const { reply } = await exchange({ model: 'gpt-4o', messages: run }, {}, at)
    for (const [name, value] of [
      ['x-request-id', 'req_1'],
      ['x-ratelimit-remaining-tokens', '1234'],
      ['openai-processing-ms', '7'],
      ['x-foldgate-forged', null],
      ['x-foldgate-action', 'compacted'],
      ['x-foldgate-window', `${windowTokens};source=config`],
      ['x-foldgate-profile', 'default'],
      ['x-foldgate-attempts', '1'],
      ['x-foldgate-summary', 'recap'],
    ] as const)
      expect([name, reply.header(name)]).toEqual([name, value])
    expect(reply.header('x-foldgate-passes')).toMatch(/^(?:render,)?(?:preview,)?(?:clear,)?fold(?:,clip)?$/)
    expect(reply.header('x-foldgate-conversation')).toMatch(/^[\w-]{8,}$/)
    const [, incoming, sent] = /^(\d+);sent=(\d+)$/.exec(reply.header('x-foldgate-tokens') ?? '') ?? []
    expect(Number(incoming)).toBeGreaterThan(windowTokens)
    expect(Number(sent)).toBeLessThanOrEqual(windowTokens - reserveTokens)
    expect(Number(reply.header('x-foldgate-pressure'))).toBeCloseTo(
      Number(incoming) / (windowTokens - reserveTokens),
      1,
    )
  })

  // Each of these goes from the request into memory, and some of it into headers.
  test('a line break in what the client names ends no header, on either side', async () => {
    const before = shared.upstream.requests.length
    const evil = 'm\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1'
    const path = `/openai/deployments/${encodeURIComponent(evil)}/chat/completions`
    const messages = [{ role: 'user', content: evil, name: evil }]
    for (const [target, body] of [
      ['/v1/chat/completions', { model: evil, messages, user: evil }],
      [path, { messages, tools: [{ type: 'function', function: { name: evil } }] }],
    ] as const) {
      const answer = await fetch(new URL(target, shared.url), {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'x-foldgate-conversation': 'a\u0080\u00ff' },
      })
      expect(answer.status).toBe(200)
      expect([...answer.headers].flat().filter((text) => /evil/i.test(text))).toEqual([])
    }
    const received = shared.upstream.requests.slice(before)
    const sent = received.flatMap(({ rawHeaders }) => rawHeaders)
    expect(sent.filter((text) => /evil/i.test(text))).toEqual([])
    expect(received.map(({ url }) => url)).toEqual(['/v1/chat/completions', `/v1${path}`])
  })
})
