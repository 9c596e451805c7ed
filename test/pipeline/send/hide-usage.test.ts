import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUsageHider as createChatUsageHider } from '../../../src/formats/chat/usage-hider.ts'
import { hidingUsage } from '../../../src/pipeline/send/usage-in-streams.ts'
import { forAll } from '../../support/property-runs.ts'
import { createEventCutter, type EventPiece } from '../../../src/pipeline/send/event-cutter.ts'

const createUsageHider = () => hidingUsage(createChatUsageHider())

const usage = '{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}'
const delta = '{"choices":[{"index":0,"delta":{"content":"hé 😀"},"finish_reason":null}]}'
const ending = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'

/** What a client gets of these pieces, piece by piece, and then of the end. */
function through(pieces: readonly (string | Buffer)[]): readonly string[] {
  const hider = createUsageHider()
  const fed = pieces.map((piece) => hider.feed(Buffer.from(piece)).toString('latin1'))
  return [...fed, hider.end().toString('latin1')].map((text) => Buffer.from(text, 'latin1').toString())
}

/** What it gets where every byte is a piece of its own. */
function byByte(text: string): string {
  const hider = createUsageHider()
  const out = Array.from(Buffer.from(text), (byte) => hider.feed(Buffer.from([byte])))
  return Buffer.concat([...out, hider.end()]).toString()
}

const whole = (text: string) => through([text]).join('')

test('the usage event is hidden at the end of a stream that leaves out its last blank line, or its last line end', () => {
  for (const end of ['\n', ''])
    expect(whole(`data: ${delta}\n\ndata: ${usage}${end}`)).toBe(`data: ${delta}\n\n`)
  expect(whole(`\uFEFFdata: ${usage}\n\ndata: [DONE]\n\n`)).toBe('data: [DONE]\n\n')
})

// llama.cpp's server puts its timings into a stream's last chunk: the one that ends the reply, or the usage chunk where one was
// asked for. Foldgate asked, hid it, and llama.cpp's clients showed no speed any more. Then it sent what was left of it, with a
// choice that added nothing: an event behind the end of the reply, which no client would have got without Foldgate.
describe('what a usage event says besides belongs to the event that ended the reply', () => {
  const timings =
    '"timings":{"cache_n":236,"prompt_n":1,"prompt_ms":1e+02,"predicted_per_second":52.94494935437416}'
  const head = '"id":"chatcmpl-é","object":"chat.completion.chunk","created":1757141666,"model":"m"'
  const ended = '"choices":[{"finish_reason":"length","index":0,"delta":{}}]'

  test.each<[string, string, string]>([
    [
      'timings, as llama.cpp sends them',
      `data: {${ended},${head}}\n\ndata: {"choices":[],${head},"usage":{"prompt_tokens":9},${timings}}\n\n`,
      `data: {${ended},${head},${timings}}\n\n`,
    ],
    [
      'citations, with CRLF, names, ids and comments',
      `id: 6\r\ndata: {${ended}}\r\n: a}\r\n\r\nevent: message\r\nid: 7\r\n: hé\r\ndata: {"usage":{},"citations":["https://h/ü"]}\r\n\r\n`,
      `id: 6\r\ndata: {${ended},"citations":["https://h/ü"]}\r\n: a}\r\n\r\n: hé\r\n`,
    ],
    [
      'over several lines, with CR',
      `data: {\rdata: ${ended}\rdata: }\r\rdata: {"choices":[],\rdata: "usage":{},"x" :\rdata: [1]}\r\r`,
      `data: {\rdata: ${ended}\rdata: ,"x" : [1]}\r\r`,
    ],
    [
      'behind a byte order mark',
      `\uFEFFdata: {${ended}}\n\ndata: {"usage":{},${timings}}\n\n`,
      `\uFEFFdata: {${ended},${timings}}\n\n`,
    ],
    [
      'but for what that says itself',
      `data: {${ended},"timings":{"prompt_n":2}}\n\ndata: {"usage":{},${timings},"a\\"b":"}"}\n\n`,
      `data: {${ended},"timings":{"prompt_n":2},"a\\"b":"}"}\n\n`,
    ],
    [
      'of several choices the one that ended last',
      `data: {${ended}}\n\ndata: {"choices":[{"index":1,"finish_reason":"stop"}]}\n\ndata: {"usage":{},${timings}}\n\n`,
      `data: {${ended}}\n\ndata: {"choices":[{"index":1,"finish_reason":"stop"}],${timings}}\n\n`,
    ],
  ])('%s', (_name, events, expected) => {
    const [before, behind] = [events.startsWith('\uFEFF') ? '' : `data: ${delta}\n\n`, 'data: [DONE]\n\n']
    expect(whole(before + events + behind)).toBe(before + expected + behind)
  })

  test.each(['null', '[]', '{}'])('%s says nothing', (nothing) => {
    const events = `data: ${ending}\n\ndata: {"choices":[],"usage":{},"citations":${nothing}}\n\n`
    expect(whole(events)).toBe(`data: ${ending}\n\n`)
  })

  test('nor does what every chunk of a provider carries', () => {
    const ordinary = `${head},"provider":"p","obfuscation":"x","service_tier":"default","system_fingerprint":"f"`
    const events = `data: ${ending}\n\ndata: {${ordinary},"choices":[],"usage":{},"x_groq":{"id":"r"}}\n\n`
    expect(whole(events)).toBe(`data: ${ending}\n\n`)
  })

  test('however deep it is nested', () => {
    const deep = `"x":${'['.repeat(30_000)}1${']'.repeat(30_000)}`
    const events = `data: ${ending}\n\ndata: {"choices":[],"usage":{},${deep}}\n\ndata: [DONE]\n\n`
    expect(whole(events)).toBe(`data: ${ending.slice(0, -1)},${deep}}\n\ndata: [DONE]\n\n`)
  })

  test('where that has gone on, it is left out: nothing comes behind the end', () => {
    const events = `data: ${ending}\n\n: ping\n\ndata: {"usage":{},${timings}}\n\ndata: [DONE]\n\n`
    expect(whole(events)).toBe(`data: ${ending}\n\n: ping\n\ndata: [DONE]\n\n`)
    const hider = createUsageHider()
    const pieces = [`data: ${ending}\n\n`, `data: {"usage":{},${timings}}\n\n`].map((piece) =>
      Buffer.from(piece),
    )
    expect(hider.feed(pieces[0] ?? Buffer.alloc(0)).toString()).toBe('')
    expect(hider.overdue().toString()).toBe(`data: ${ending}\n\n`)
    expect(hider.overdue().toString()).toBe('')
    expect(hider.feed(pieces[1] ?? Buffer.alloc(0)).toString()).toBe('')
  })
})

describe('behind the end of a reply nothing follows', () => {
  test.each<[string, string]>([
    // OpenRouter's usage comes with the last choice once more.
    [
      'usage with an empty choice',
      '{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null,"logprobs":null}],"usage":{"cost":0}}',
    ],
    [
      'usage with the same end',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"stop"}],"usage":{}}',
    ],
    ['no choices and a usage that is null', '{"id":"x","choices":[],"usage":null}'],
  ])('%s', (_name, chunk) => {
    const events = [
      `data: ${delta}\n\ndata: ${ending}\n\n`,
      `data: ${chunk}\n\n`,
      'data: [DONE]\n\n',
    ] as const
    expect(whole(events.join(''))).toBe(events[0] + events[2])
  })

  test.each<[string, string]>([
    ['the rest of another choice', '{"choices":[{"index":1,"delta":{"role":"assistant"}}],"usage":{}}'],
    ['more text of the same', '{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{}}'],
    [
      'what a filter says',
      '{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{"hate":{}}}],"usage":{}}',
    ],
    ['what nobody asked for', '{"choices":[],"x":1}'],
    ['an error', '{"choices":[],"usage":{},"error":{"message":"no"}}'],
  ])('but %s does', (_name, chunk) => {
    const events = `data: ${ending}\n\ndata: ${chunk}\n\ndata: [DONE]\n\n`
    expect(whole(events)).toBe(events)
  })
})

describe('everything else goes on byte for byte', () => {
  test.each<[string, string]>([
    ['usage beside the last delta', 'data: {"choices":[{"finish_reason":"stop"}],"usage":{"a":1}}\n\n'],
    ['several ends', `data: ${ending}\n\ndata: ${ending}\r\r: a\n\n\n`],
    ['text behind [DONE]', 'data: [DONE]\n\nThat was it, "usage" and all.'],
    ['many blank lines', `\n\n\r\r\r\n\r\ndata: ${delta}\n\n\n\n`],
    ['a missing last blank line', `data: ${delta}\n`],
    ['no events at all', '{"error":{"message":"busy"},"usage":{}}'],
    ['lines without an end to their event', `data: ${delta}\ndata: ${usage}\n`],
    ['nothing', ''],
  ])('%s', (_name, text) => {
    expect(whole(text)).toBe(text)
  })

  test('an untouched piece is not copied', () => {
    const piece = Buffer.from(`data: ${delta}\n\n`)
    const out = createUsageHider().feed(piece)
    expect([out.buffer, out.byteOffset, out.length]).toEqual([piece.buffer, piece.byteOffset, piece.length])
  })
})

describe('nothing waits for longer than it must', () => {
  test('a comment that keeps the connection alive goes on without a blank line', () => {
    expect(through([': ping\n', ': ping\n'])).toEqual([': ping\n', ': ping\n', ''])
  })

  test('the end of a reply goes on with what follows it, or when it is overdue', () => {
    const [ended, done] = [`data: ${ending}\n\n`, 'data: [DONE]\n\n']
    expect(through([ended, done])).toEqual(['', ended + done, ''])
    expect(through([ended, ': ping\n'])).toEqual(['', `${ended}: ping\n`, ''])
    expect(through([ended])).toEqual(['', ended])
    const hider = createUsageHider()
    hider.feed(Buffer.from(`data: ${ending}\r\n\r`))
    expect(hider.overdue().toString()).toBe(`data: ${ending}\r\n\r`)
    expect(hider.feed(Buffer.from('\ndata: [DONE]\r\n\r\n')).toString()).toBe('\ndata: [DONE]\r\n\r\n')
  })

  test('an event beyond 64 kB goes on in parts, however it is cut', () => {
    const long = `data: {"choices":[],"x":"${'y'.repeat(70_000)}","usage":{}}\n\n`
    expect(whole(long)).toBe(long)
    const [first, second, third] = [long.slice(0, 40_000), long.slice(40_000, 69_000), long.slice(69_000)]
    expect(through([first, second, third])).toEqual(['', first + second, third, ''])
  })

  test('one byte at a time costs no more than its length', () => {
    const long = `data: {"choices":[],"model":"${'y'.repeat(60_000)}","usage":{}}\n\n`
    expect(byByte(long)).toBe('')
  })
})

const chunkOf = (said: string, reason: string, more: string): string =>
  `data: {"choices":[{"index":0,"delta":${said},"finish_reason":${reason}}]${more}}`

/** Of these, streams and what only looks like one are put together. */
const fragments = [
  ...'\n \r : { } [ ] , \\"'.split(' '),
  ' ',
  '\r\n',
  'data:',
  'data: ',
  'event: error',
  'error: ',
  '"choices"',
  '"usage"',
  '"choices":[]',
  '"usage":{}',
  '"choices": [1',
  '"é😀"',
  '\uFEFF',
  usage,
  delta,
  ending,
  `data: ${ending}\n\n`,
  `data: ${ending}\r\r`,
  ',"usage":null',
  ',"timings":{"n":1}',
  `data: ${usage}\n\n`,
  `data: ${usage}\r\r`,
  `data: ${usage}\r\n\r\n`,
]

/** The lines of an event, and those of them that the client gets. */
type Lines = readonly [sent: readonly string[], shown: readonly string[]]

/** All of an event. */
const kept: readonly Lines[] = [
  [`data: ${delta}`],
  ['data: {"choices":[],"prompt_filter_results":[]}'],
  ['event: x', 'data: {"a":1,', 'data: "b":"ü"}'],
  ['data: [DONE]'],
  [': keep-alive'],
  [':'],
  ['data'],
  // No usage of a reply, or none that could be told from another.
  ['data: {"choices":[{"usage":1}],"usage":null}'],
  ['data: {"usage":null}'],
  ['data: {"choices":[1],"usage":{}}'],
  ['data: {"choices":[],"usage":[]}'],
  ['data: {"choices":{},"usage":{}}'],
  ['data: {"choices":[],"error":{"message":"no"},"usage":{}}'],
  ['event: error', `data: ${usage}`],
  ['data: {"choices":[{"delta":{"content":"\\"usage\\":{}"}}]}'],
].map((lines) => [lines, lines])

/** Of a usage event, only comments. */
const hidden: readonly Lines[] = [
  [`data: ${usage}`],
  [`data:${usage}`],
  ['id: 1', `data: ${usage}`],
  ['data: {"usage":{"prompt_tokens":1},', 'data: "choices": [] }'],
  ['data: {"usage":{"prompt_tokens":9}}'],
  ['data: {"choices":null,"usage":{}}'],
  ['data: { "choices" : [ ] , "usage" : { } }'],
  ['data: {"choices":[],"error":null,"usage":{}}'],
  [': one', `data: ${usage}`, ': two'],
].map((lines) => [lines, lines.filter((line) => line.startsWith(':'))])

// Who asks for usage gets `"usage":null` in every chunk of OpenAI's. A client that did not ask and reads
// `chunk.usage.total_tokens` where there is a `usage` fails at the first of them.
const nulled: readonly Lines[] = [
  ['{"choices":[{"delta":{"content":"é"}}],"usage":null}', '{"choices":[{"delta":{"content":"é"}}]}'],
  ['{ "usage" : null , "choices": [{}]}', '{ "choices": [{}]}'],
  ['{"id":"x", "usage": null,"choices":[{}]}', '{"id":"x","choices":[{}]}'],
  // Azure's first chunk.
  ['{"choices":[],"usage":null,"prompt_filter_results":[{}]}', '{"choices":[],"prompt_filter_results":[{}]}'],
  [
    '{"choices":[{"delta":{"content":",\\"usage\\":null,"}}],"usage":null}',
    '{"choices":[{"delta":{"content":",\\"usage\\":null,"}}]}',
  ],
].map(([sent, shown]) => [[`data: ${sent}`], [`data: ${shown}`]])

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length].toSorted(
    (one, other) => one - other,
  )
  return sorted.slice(1).map((to, index) => bytes.subarray(sorted[index], to))
}

describe('whatever comes, however it is cut', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
  const event = fc
    .tuple(fc.oneof(...[kept, hidden, nulled].map((each) => fc.constantFrom(...each))), lineEnd)
    .map(([[sent, shown], end]) => {
      const join = (lines: readonly string[]) => lines.map((line) => line + end).join('')
      // The blank line goes with what the event says.
      const isShown = shown.some((line) => !line.startsWith(':')) || sent.length === shown.length
      return { text: join([...sent, '']), shown: join(isShown ? [...shown, ''] : shown) }
    })
  const cuts = fc.array(fc.nat(2_000), { maxLength: 40 })

  test('what goes on is what came but for the usage events and a usage that is null, and no whole event waits', () => {
    forAll(500, fc.array(event, { maxLength: 12 }), cuts, (events, places) => {
      const input = Buffer.from(events.map(({ text }) => text).join(''))
      const expected = Buffer.from(events.map(({ shown }) => shown).join(''))
      const hider = createUsageHider()
      let fed = 0
      let out = Buffer.alloc(0)
      for (const piece of cutAt(input, places)) {
        out = Buffer.concat([out, hider.feed(piece)])
        fed += piece.length
        expect(out.equals(expected.subarray(0, out.length))).toBe(true)
        let taken = 0
        let due = 0
        for (const { text, shown } of events) {
          taken += Buffer.byteLength(text)
          if (taken <= fed) due += Buffer.byteLength(shown)
        }
        expect(out.length).toBeGreaterThanOrEqual(due)
      }
      expect(Buffer.concat([out, hider.end()]).equals(expected)).toBe(true)
    })
  })

  test('where it is cut changes nothing', () => {
    const fragment = fc.constantFrom(...fragments)
    forAll(1_000, fc.array(fragment, { maxLength: 30 }), cuts, (all, places) => {
      const input = Buffer.from(all.join(''))
      const hider = createUsageHider()
      const out = [...cutAt(input, places).map((piece) => hider.feed(piece)), hider.end()]
      expect(Buffer.concat(out).toString()).toBe(whole(all.join('')))
    })
  })

  // What a server sends of a reply, and what it makes of it when it is asked for usage.
  const timings = fc.constantFrom('', ',"timings":{"n":1.0,"t":"ü}"}', ',"citations":["a"],"x":1')
  const saysNull = fc.constantFrom('', ',"usage":null', ', "usage": null')
  const content = fc.constantFrom('hé 😀', ',\\"usage\\":null', '', '\\n\\n', 'data: [DONE]')
  const usageShape = fc.constantFrom<(more: string) => string>(
    (more) => `{"choices":[],"usage":{"prompt_tokens":9}${more}}`,
    (more) => `{"id":"x"${more},"usage":{"prompt_tokens":9}}`,
    (more) =>
      `{"choices":[{"index":0,"delta":{"content":"","role":"assistant"},"finish_reason":null}],"usage":{}${more}}`,
    (more) => `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","logprobs":null}]${more},"usage":{}}`,
  )
  const server = fc.record({
    contents: fc.array(content, { maxLength: 6 }),
    others: fc.array(fc.constantFrom(': ping', 'data: {"choices":[],"prompt_filter_results":[{}]}'), {
      maxLength: 2,
    }),
    timings,
    saysNull,
    usageShape,
    usageCount: fc.integer({ min: 0, max: 2 }),
    isDone: fc.boolean(),
    lineEnd,
  })

  test('a client that did not ask gets the stream of a server that was not asked', () => {
    forAll(1_000, server, cuts, (made, places) => {
      const streamOf = (isAsked: boolean) => {
        const nulls = isAsked ? made.saysNull : ''
        const isMoved = isAsked && made.usageCount > 0
        const usages = Array.from({ length: isAsked ? made.usageCount : 0 }, (_, index) =>
          made.usageShape(index === 0 ? made.timings : ''),
        )
        return [
          ...made.others,
          ...made.contents.map((text) => chunkOf(`{"content":"${text}"}`, 'null', nulls)),
          chunkOf('{}', '"stop"', nulls + (isMoved ? '' : made.timings)),
          ...usages.map((each) => `data: ${each}`),
          ...(made.isDone ? ['data: [DONE]'] : []),
        ]
          .map((lines) => lines + made.lineEnd.repeat(2))
          .join('')
      }
      const hider = createUsageHider()
      const out = [
        ...cutAt(Buffer.from(streamOf(true)), places).map((piece) => hider.feed(piece)),
        hider.end(),
      ]
      expect(Buffer.concat(out).toString()).toBe(streamOf(false))
    })
  })
})

const anyLines = fc.array(fc.constantFrom('data: a', ': b', 'x', '\n', '\r', '\r\n', '\n\n'), {
  maxLength: 40,
})

test('what is taken comes out again, byte for byte, wherever it was cut and however little may be held', () => {
  forAll(
    100,
    anyLines,
    fc.array(fc.nat(200), { maxLength: 6 }),
    fc.constantFrom(1, 4, 1_000),
    (lines, cuts, eventBytesMax) => {
      const text = lines.join('')
      const cutter = createEventCutter({ eventBytesMax })
      const pieces = cutAt(Buffer.from(text), cuts).flatMap((part) => cutter.feed(part))
      expect(Buffer.concat([...pieces.map(({ bytes }) => bytes), cutter.end()]).toString()).toBe(text)
    },
  )
})

// A server that sent nothing but line ends held the event loop for 60 to 90 ms: a piece was made of each of them.
test('line ends too many come together, and the event behind them alone', () => {
  const cutter = createEventCutter({ eventBytesMax: 1_000 })
  const pieces: readonly EventPiece[] = cutter.feed(Buffer.from('\n\r\n\r\rdata: a\n\n\n\n: b\n'))
  expect(pieces.map(({ kind, bytes }) => [kind, bytes.toString()])).toEqual([
    ['event', '\n\r\n\r\r'],
    ['event', 'data: a\n\n'],
    ['event', '\n\n'],
    ['event', ': b\n'],
  ])
})
