import { standWith } from '../support/stand.ts'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { cutRawRequest } from '../support/strict-upstream/raw-request.ts'
import { growing, longRun, type TestMessage } from '../support/conversations.ts'
import { completion, fakeUpstream, json } from '../support/fake-upstream.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { postChat, rawMessages } from '../support/post-chat.ts'

const smallWindow = { window: { tokens: 8_192, output_reserve: 1_024 } }
const run = longRun(40, 1)

const stand = (profile: object = smallWindow) => standWith(completion('done'), { profile })

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
    [
      'messages behind four megabytes of tools',
      `{"model":"m","tools":[{"x":"${'y'.repeat(4_000_000)}"}],"messages":[${hello}]}`,
    ],
  ])('%s', async (_name, body) => {
    await using at = await stand({})
    const reply = await postChat(at.url, body)
    expect(reply.status).toBe(200)
    expect(at.upstream.requests.map(({ body: received }) => received.equals(Buffer.from(body)))).toEqual([
      true,
    ])
  })

  test('a conversation that fills the window up to the trigger', async () => {
    await using at = await stand({ window: { tokens: 200_000 } })
    const reply = await postChat(at.url, oddBody)
    expect(reply.action).toBe('relayed')
    expect(at.upstream.requests[0]?.body.toString()).toBe(oddBody)
  })
})

describe('what cannot be read with certainty is relayed as it came, however long it is', () => {
  const long = JSON.stringify(run)
  const notUtf8 = Buffer.from(`{"model":"m","messages":${long}}`)
  notUtf8[notUtf8.length - 20] = 0xff
  test.each<[string, string | Buffer]>([
    ['bom', `\uFEFF{"model":"m","messages":${long}}`],
    ['duplicate-key', `{"model":"m","messages":${long},"messages":[]}`],
    ['duplicate-key', `{"model":"m","messages":${long},"mess\\u0061ges":${long}}`],
    ['not-utf8', notUtf8],
    ['not-json-object', `{"model":"m","messages":${long.slice(0, -1)}`],
    ['not-json-object', `{"model":"m","messages":${long}} more`],
    ['not-json-object', `[${long}]`],
    ['not-json-object', ''],
    ['not-json-object', 'messages'],
    ['no-messages', '{"model":"m"}'],
    ['no-messages', '{"model":"m","messages":[]}'],
    ['no-messages', '{"model":"m","messages":{"0":{}}}'],
    [
      'message-unreadable',
      `{"model":"m","messages":[${run.map((each) => JSON.stringify(each)).join(',')},7]}`,
    ],
    ['not-json-object', `{"model":"m","x":{"a":.5},"messages":${long}}`],
    ['invalid-value', `{"model":"${'m'.repeat(100_000)}","messages":${long}}`],
  ])('%s', async (reason, body) => {
    await using at = await stand()
    const reply = await postChat(at.url, body)
    expect(reply.status).toBe(200)
    expect(reply.action).toBe(`relayed;reason=${reason}`)
    expect(at.upstream.requests.map(({ body: received }) => received.equals(Buffer.from(body)))).toEqual([
      true,
    ])
  })

  // Sixty kilobytes of brackets took half a minute to parse, and nobody else was answered meanwhile.
  test('nesting as deep as a body can hold', async () => {
    await using at = await stand()
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    for (const body of [
      `{"model":"m","x":${deep},"messages":[{"role":"user","content":"a"}]}`,
      `{"model":"m","messages":[{"role":"user","content":${deep}}]}`,
      `{"model":"m","tools":${deep},"messages":${long}}`,
      `{"model":"m","messages":${deep}}`,
      deep,
    ]) {
      const reply = await postChat(at.url, body)
      expect([reply.status, reply.action]).toEqual([200, 'relayed;reason=too-deep'])
      expect(at.upstream.requests.at(-1)?.body.equals(Buffer.from(body))).toBe(true)
    }
  })

  test("the upstream's judgement of a malformed body comes back untouched", async () => {
    await using upstream = await fakeUpstream(json({ error: { message: 'bad JSON' } }, 400, { 'X-Own': 'a' }))
    const foldgate = await startFoldgate({ upstream: upstream.url, profile: smallWindow })
    const reply = await postChat(foldgate.url, '{"messages":')
    expect(reply).toMatchObject({ status: 400, text: '{"error":{"message":"bad JSON"}}' })
    expect(reply.header('x-own')).toBe('a')
    expect(upstream.requests).toHaveLength(1)
    await foldgate.close()
  })
})

describe('a rewritten body is spliced from the original bytes', () => {
  test('everything around the messages keeps its bytes', async () => {
    await using at = await stand()
    const reply = await postChat(at.url, oddBody)
    expect(reply.action).toBe('compacted')
    const received = at.upstream.requests[0]?.body.toString() ?? ''
    expect(received.length).toBeLessThan(oddBody.length / 2)
    expect(received.slice(0, odd.head.length)).toBe(odd.head)
    expect(received.slice(-odd.tail.length)).toBe(odd.tail)
    const { headers } = at.upstream.requests[0] ?? {}
    expect(headers?.['content-length']).toBe(String(Buffer.byteLength(received)))
  })

  test('every message that is kept keeps its bytes, system and user and newest messages among them', async () => {
    await using at = await stand()
    await postChat(at.url, oddBody)
    const sent = rawMessages(at.upstream.requests[0])
    const meanings = new Map(oddMessages.map((raw) => [JSON.stringify(JSON.parse(raw)), raw]))
    const kept = sent.filter((raw) => meanings.has(JSON.stringify(JSON.parse(raw))))
    for (const raw of kept) expect(oddMessages).toContain(raw)
    expect(kept.length).toBeGreaterThan(3)
    expect(sent[0]).toBe(oddMessages[0])
    expect(sent[1]).toBe(oddMessages[1])
    expect(sent.at(-1)).toBe(oddMessages.at(-1))
  })

  test('neighbours that are both kept keep what stands between them', async () => {
    await using at = await stand()
    await postChat(at.url, oddBody)
    const received = at.upstream.requests[0]?.body.toString() ?? ''
    expect(received).toContain(oddMessages.slice(-2).join(' ,\n ') + odd.tail)
  })
})

describe('compressed request bodies', () => {
  const codings: [string, (body: string) => Buffer][] = [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ]
  test.each(codings)('%s: not rewritten, they reach the upstream as they came', async (coding, compress) => {
    await using at = await stand()
    const body = compress('{"model":"m","messages":[{"role":"user","content":"hi"}]}')
    const reply = await postChat(at.url, body, { 'content-encoding': coding })
    expect(reply.action).toBe('relayed')
    const [received] = at.upstream.requests
    expect(received?.body).toEqual(body)
    expect(received?.headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(body.length),
    })
  })

  test.each(codings)('%s: rewritten, they are sent decoded and say so', async (coding, compress) => {
    await using at = await stand()
    const reply = await postChat(at.url, compress(oddBody), { 'content-encoding': coding })
    expect(reply.action).toBe('compacted')
    const [received] = at.upstream.requests
    expect(received?.headers['content-encoding']).toBeUndefined()
    expect(received?.headers['content-length']).toBe(String(received?.body.length))
    expect(received?.body.toString().slice(0, odd.head.length)).toBe(odd.head)
    expect(rawMessages(received).at(-1)).toBe(oddMessages.at(-1))
  })

  test.each<[string, string, Buffer]>([
    ['a coding that nobody knows', 'snappy', Buffer.from(oddBody)],
    ['bytes that are not what they claim', 'gzip', Buffer.from(oddBody)],
    ['bytes that break off', 'gzip', gzipSync(oddBody).subarray(0, 500)],
  ])('%s is relayed as it came', async (_name, coding, body) => {
    await using at = await stand()
    const reply = await postChat(at.url, body, { 'content-encoding': coding })
    expect(reply.action).toBe('relayed;reason=encoding')
    expect(at.upstream.requests[0]?.body).toEqual(body)
    expect(at.upstream.requests[0]?.headers['content-encoding']).toBe(coding)
  })
})

// A few hundred bytes of brotli can hold a gigabyte, and each further coding multiplies that.
test.each<[string, string, (bytes: Buffer) => Buffer]>([
  ['gzip', 'gzip', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['br', 'br', brotliCompressSync],
  ['zstd', 'zstd', zstdCompressSync],
  ['gzip in gzip', 'gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))],
])('a bomb of %s is relayed as it came, and the next request is served', async (_, coding, compress) => {
  await using at = await standWith(completion('done'), {
    profile: smallWindow,
    settings: { limits: { body_mb: 1, bytes_in_flight_mb: 2 } },
  })
  const bomb = compress(Buffer.alloc(32 * 1024 * 1024, ' '))
  const reply = await postChat(at.url, bomb, { 'content-encoding': coding })
  expect(reply.action).toBe('relayed;reason=encoding')
  expect(at.upstream.requests[0]?.body).toEqual(bomb)
  expect(at.upstream.requests[0]?.headers['content-encoding']).toBe(coding)
  const next = await postChat(at.url, compress(Buffer.from(oddBody)), { 'content-encoding': coding })
  expect(next.action).toBe('compacted')
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
    await using at = await stand()
    await postChat(at.url, body, { ...wishes, 'x-agent': 'explorer', 'openai-organization': 'org', ...more })
    const { rawHeaders = [], headers } = at.upstream.requests[0] ?? {}
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
    await using upstream = await fakeUpstream(json({ choices: [] }, 200, upstreamHeaders))
    const foldgate = await startFoldgate({ upstream: upstream.url, profile: smallWindow })
    const reply = await postChat(foldgate.url, { model: 'gpt-4o', messages: run })
    expect(reply.header('x-request-id')).toBe('req_1')
    expect(reply.header('x-ratelimit-remaining-tokens')).toBe('1234')
    expect(reply.header('openai-processing-ms')).toBe('7')
    expect(reply.header('x-foldgate-forged')).toBeNull()
    expect(reply.action).toBe('compacted')
    expect(reply.header('x-foldgate-window')).toBe('8192;source=config')
    expect(reply.header('x-foldgate-profile')).toBe('default')
    expect(reply.header('x-foldgate-attempts')).toBe('1')
    expect(reply.header('x-foldgate-summary')).toBe('recap')
    expect(reply.header('x-foldgate-passes')).toMatch(/^(?:render,)?(?:preview,)?(?:clear,)?fold(?:,clip)?$/)
    expect(reply.header('x-foldgate-conversation')).toMatch(/^[\w-]{8,}$/)
    const [, incoming, sent] = /^(\d+);sent=(\d+)$/.exec(reply.header('x-foldgate-tokens') ?? '') ?? []
    expect(Number(incoming)).toBeGreaterThan(8_192)
    expect(Number(sent)).toBeLessThanOrEqual(8_192 - 1_024)
    expect(Number(reply.header('x-foldgate-pressure'))).toBeCloseTo(Number(incoming) / (8_192 - 1_024), 1)
    await foldgate.close()
  })

  // Each of these goes from the request into memory, and some of it into headers.
  test('a line break in what the client names ends no header, on either side', async () => {
    await using at = await stand()
    const evil = 'm\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1'
    const path = `/openai/deployments/${encodeURIComponent(evil)}/chat/completions`
    const messages = [{ role: 'user', content: evil, name: evil }]
    for (const [target, body] of [
      ['/v1/chat/completions', { model: evil, messages, user: evil }],
      [path, { messages, tools: [{ type: 'function', function: { name: evil } }] }],
    ] as const) {
      const answer = await fetch(new URL(target, at.url), {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'x-foldgate-conversation': 'a\u0080\u00ff' },
      })
      expect(answer.status).toBe(200)
      expect([...answer.headers].flat().filter((text) => /evil/i.test(text))).toEqual([])
    }
    const sent = at.upstream.requests.flatMap(({ rawHeaders }) => rawHeaders)
    expect(sent.filter((text) => /evil/i.test(text))).toEqual([])
    expect(at.upstream.requests.map(({ url }) => url)).toEqual(['/v1/chat/completions', `/v1${path}`])
  })

  test('a small request states bounds, and that nothing was done', async () => {
    await using at = await stand()
    const reply = await postChat(at.url, { model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    expect(reply.action).toBe('relayed')
    expect(reply.header('x-foldgate-tokens')).toMatch(/^<\d+;sent=<\d+$/)
    expect(reply.header('x-foldgate-pressure')).toMatch(/^<0\.\d\d$/)
    expect(reply.header('x-foldgate-passes')).toBeNull()
    expect(reply.header('x-foldgate-summary')).toBe('none')
  })

  test('the id of a conversation stays the same as it grows', async () => {
    await using at = await stand()
    const ids = new Set<string | null>()
    for (const messages of growing(run.slice(0, 40))) {
      const reply = await postChat(at.url, { model: 'm', messages })
      ids.add(reply.header('x-foldgate-conversation'))
    }
    expect(ids.size).toBe(1)
  })
})

test('the raw texts that these tests cut out of a body are its messages', () => {
  expect(cutRawRequest(oddBody).messages).toEqual(oddMessages)
})
