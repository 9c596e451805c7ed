import * as fc from 'fast-check'
import type { RawAnswer } from '../wire/recording-upstream.ts'
import { damageBytes, oddBytes, type DamageBytes } from './damaged-bytes.ts'
import { texts } from '../texts.ts'

/** An answer of an upstream. */
export type OddAnswer = {
  readonly status: string
  readonly headers: readonly string[]
  readonly body: Buffer
  /** How its end is told; `cut`: a length is stated that does not come. */
  readonly framing: 'length' | 'chunked' | 'close' | 'cut' | 'bad chunks'
}

/** What answers of a dialect say. */
export type AnswerTexts = { readonly streamed: fc.Arbitrary<string>; readonly plain: fc.Arbitrary<string> }

/** Streams and plain answers: as they should be, damaged, huge, of wrong types, none at all. */
export function oddAnswer(said: AnswerTexts): fc.Arbitrary<OddAnswer> {
  return fc
    .record({
      status: fc.oneof({ weight: 8, arbitrary: fc.constant('200 OK') }, fc.constantFrom(...statuses)),
      type: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(...types)),
      more: fc.array(fc.constantFrom(...moreHeaders), { maxLength: 2 }),
      isStream: fc.boolean(),
      stream: said.streamed,
      plain: said.plain,
      damages: fc.oneof(
        { weight: 1, arbitrary: fc.constant<DamageBytes[]>([]) },
        fc.array(damage, { maxLength: 3 }),
      ),
      framing: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom('length' as const, 'chunked' as const, 'close' as const) },
        { weight: 1, arbitrary: fc.constantFrom('cut' as const, 'bad chunks' as const) },
      ),
    })
    .map(({ status, type, more, isStream, stream, plain: text, damages, framing }) => {
      const whole = Buffer.from(isStream ? stream : text)
      const body = damages.reduce<Buffer>((bytes, damaging) => damaging(bytes), whole)
      const usual = isStream ? 'text/event-stream' : 'application/json'
      return { status, headers: [`content-type: ${type ?? usual}`, ...more], body, framing }
    })
}

/** The bytes of it. */
export function rawAnswer({ status, headers, body, framing }: OddAnswer): RawAnswer {
  const lengths = {
    length: `content-length: ${body.length}`,
    chunked: 'transfer-encoding: chunked',
    close: 'connection: close',
    cut: `content-length: ${body.length + 10}`,
    'bad chunks': 'transfer-encoding: chunked',
  }
  const head = Buffer.from(
    [`HTTP/1.1 ${status}`, ...headers, lengths[framing], '', ''].join('\r\n'),
    'latin1',
  )
  const end = Buffer.from(framing === 'bad chunks' ? 'no chunk\r\n' : '0\r\n\r\n')
  const isChunked = framing === 'chunked' || framing === 'bad chunks'
  const framed = isChunked ? Buffer.concat([...chunksOf(body), end]) : body
  return { bytes: Buffer.concat([head, framed]), closes: framing !== 'length' && framing !== 'chunked' }
}

// --- internal ---

const statuses = [
  ...texts`
    201 Created ¦ 204 No Content ¦ 304 Not Modified ¦ 400 Bad Request ¦ 401 Unauthorized ¦ 404 Not Found
    413 Too Large ¦ 422 Unprocessable ¦ 429 Too Many ¦ 500 Internal ¦ 503 Unavailable ¦ 599 \u00e9 ¦ 200
    099 What ¦ 999 What ¦ 206 Partial
  `,
]

const types = [
  'text/event-stream; charset=utf-8',
  'TEXT/EVENT-STREAM',
  'application/json',
  'text/html',
  '',
  'application/problem+json',
]

const moreHeaders = [
  'retry-after: 1',
  'content-encoding: gzip',
  'content-encoding: identity',
  'x-ratelimit-remaining-tokens: 1e999',
  'set-cookie: a=b',
]

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    'a',
    [],
    {},
    -1,
    1e308,
    2 ** 53,
    '\ud800',
    'x'.repeat(100_000),
    'length',
    'stop',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const text = fc.oneof({ weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) }, odd)
const count = fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 5_000 }) }, odd)

const call = fc.record(
  {
    index: fc.oneof(fc.constantFrom(0, 1, -1, 1e9), odd),
    id: text,
    type: text,
    function: fc.record(
      {
        name: fc.oneof(fc.constant('recall_conversation'), text),
        arguments: fc.oneof(fc.constant('{"query":"a"}'), text),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const said = fc.record(
  {
    role: text,
    content: text,
    reasoning_content: text,
    refusal: text,
    tool_calls: fc.oneof(odd, fc.array(call, { maxLength: 3 })),
    function_call: odd,
  },
  { requiredKeys: [] },
)
const finish = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, 'stop', 'length', 'tool_calls', 'content_filter') },
  odd,
)
const usage = fc.oneof(
  odd,
  fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count }),
    },
    { requiredKeys: [] },
  ),
)
const error = fc.record(
  {
    message: fc.oneof(
      fc.constant(
        "This model's maximum context length is 1000 tokens. However, your messages resulted in 5000 tokens.",
      ),
      text,
    ),
    type: text,
    code: fc.oneof(fc.constant('context_length_exceeded'), odd),
  },
  { requiredKeys: [] },
)

function envelope(kind: 'delta' | 'message'): fc.Arbitrary<unknown> {
  const choice = fc.record(
    {
      index: fc.oneof(fc.constant(0), count),
      [kind]: fc.oneof({ weight: 8, arbitrary: said }, odd),
      finish_reason: finish,
    },
    { requiredKeys: [] },
  )
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record(
        {
          id: text,
          object: text,
          created: count,
          model: text,
          choices: fc.oneof({ weight: 9, arbitrary: fc.array(choice, { maxLength: 2 }) }, odd),
          usage,
        },
        { requiredKeys: [] },
      ),
    },
    { weight: 1, arbitrary: fc.record({ error: fc.oneof(error, odd) }) },
    { weight: 1, arbitrary: odd },
  )
}

const oddEvents = texts`
  data: [DONE]\n\n ¦ : comment\n\n ¦ \n\n\n ¦ event: error\ndata: {"error":{"message":"a"}}\n\n ¦ data\n\n
  id: 1\nretry: 0\n\n ¦ data: \n\n ¦ data: {"choices":[\n\n ¦ data: x\r\r ¦ \ufeffdata: 1\n\n
  data: ${'x'.repeat(300_000)}\n\n ¦ data: ${'['.repeat(50_000)}\n\n ¦ ${'data: 1\n'.repeat(2_000)}
`

const event = fc.oneof(
  { weight: 12, arbitrary: envelope('delta').map((value) => `data: ${JSON.stringify(value)}\n\n`) },
  {
    weight: 2,
    arbitrary: envelope('delta').map(
      (value) => `data:${JSON.stringify(value, null, 1).replaceAll('\n', '\ndata:')}\r\n\r\n`,
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...oddEvents),
  },
)
const streamed = fc.array(event, { maxLength: 8 }).map((events) => events.join(''))

const plain = fc.oneof(
  { weight: 8, arbitrary: envelope('message').map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      'null',
      '['.repeat(100_000),
      `"${'x'.repeat(1_500_000)}"`,
      '<html>busy</html>',
    ),
  },
)

/** Of chat completions. */
export const chatTexts: AnswerTexts = { streamed, plain }

const damage = damageBytes([
  ...oddBytes,
  ...texts`\n\n ¦ \r ¦ data:\u0020 ¦ { ¦ " ¦ ,`.map((fragment) => Buffer.from(fragment)),
])

/** In pieces of odd sizes, so that nothing begins where a piece does. */
function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, size = 1; at < body.length; at += size, size = (size * 3) % 10_007) {
    const piece = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return chunks
}
