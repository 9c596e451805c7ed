import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUsageHider } from '../../../src/proxy/send/hide-usage.ts'

const usage = '{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}'
const delta = '{"choices":[{"index":0,"delta":{"content":"hé 😀"}}],"usage":null}'

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

describe('the usage event is hidden', () => {
  test.each<[string, string]>([
    ['as OpenAI sends it', `data: ${usage}\n\n`],
    ['without a space', `data:${usage}\n\n`],
    ['with CRLF', `data: ${usage}\r\n\r\n`],
    ['with CR', `data: ${usage}\r\r`],
    ['over several lines', `data: {"choices":[],\ndata: "usage":{"prompt_tokens":9}}\n\n`],
    ['with a name and an id', `event: message\nid: 7\ndata: ${usage}\n\n`],
    ['without choices', 'data: {"usage":{"prompt_tokens":9}}\n\n'],
    ['with choices that are null', 'data: {"choices":null,"usage":{}}\n\n'],
    ['with spaces', 'data: { "choices" : [ ] , "usage" : { } }\n\n'],
    ['with an error that is none', 'data: {"choices":[],"error":null,"usage":{}}\n\n'],
  ])('%s', (_name, event) => {
    const around = [`data: ${delta}\n\n`, 'data: [DONE]\n\n'] as const
    expect(whole(around[0] + event + around[1])).toBe(around.join(''))
    expect(byByte(around[0] + event + around[1])).toBe(around.join(''))
  })

  test('at the end of a stream that leaves out its last blank line, or its last line end', () => {
    expect(whole(`data: ${delta}\n\ndata: ${usage}\n`)).toBe(`data: ${delta}\n\n`)
    expect(whole(`data: ${delta}\n\ndata: ${usage}`)).toBe(`data: ${delta}\n\n`)
  })

  test('behind a byte order mark', () => {
    expect(whole(`\uFEFFdata: ${usage}\n\ndata: [DONE]\n\n`)).toBe('data: [DONE]\n\n')
  })

  test('and comments within it are not', () => {
    expect(whole(`: one\ndata: ${usage}\n: two\n\ndata: [DONE]\n\n`)).toBe(': one\n: two\ndata: [DONE]\n\n')
  })

  test('with the line feed that comes in the next piece', () => {
    expect(through([`data: ${usage}\r\n\r`, '\ndata: [DONE]\r\n\r\n'])).toEqual([
      '',
      'data: [DONE]\r\n\r\n',
      '',
    ])
  })
})

// llama.cpp's server puts its timings into a stream's last chunk: the one that ends it, or the usage chunk where one was asked
// for. Foldgate asked, hid it, and llama.cpp's clients showed no speed any more. As it is the chunk cannot go on either:
// many a client reads `choices[0]` of every chunk.
describe('what a usage event says besides goes on without its usage, and with a choice that adds nothing', () => {
  const timings = '"timings":{"cache_n":236,"prompt_n":1,"predicted_per_second":52.94494935437416}'
  const head = '"id":"chatcmpl-é","object":"chat.completion.chunk","created":1757141666,"model":"m"'
  const choice = '"choices":[{"index":0,"delta":{},"finish_reason":null}]'

  test.each<[string, string, string]>([
    [
      'timings, as llama.cpp sends them',
      `data: {"choices":[],${head},"usage":{"prompt_tokens":9},${timings}}\n\n`,
      `data: {${choice},${head},${timings}}\n\n`,
    ],
    [
      'citations, with CRLF, a name, an id and a comment',
      'event: message\r\nid: 7\r\n: hé\r\ndata: {"usage":{},"citations":["https://h/ü"]}\r\n\r\n',
      `event: message\r\nid: 7\r\n: hé\r\ndata: {"citations":["https://h/ü"],${choice}}\r\n\r\n`,
    ],
    [
      'an event over several lines, with CR',
      `data: {"choices":[],\rdata: "usage":{},\rdata: ${timings}}\r\r`,
      `data: {${choice},${timings}}\r\r`,
    ],
    [
      'behind a byte order mark',
      `\uFEFFdata: {"usage":{},${timings}}\n\n`,
      `data: {${timings},${choice}}\n\n`,
    ],
  ])('%s', (_name, event, expected) => {
    const around = [`data: ${delta}\n\n`, 'data: [DONE]\n\n'] as const
    const [before, behind] = event.startsWith('\uFEFF') ? ['', around[1]] : around
    expect(whole(before + event + behind)).toBe(before + expected + behind)
    expect(byByte(before + event + behind)).toBe(before + expected + behind)
  })

  test('at the end of a stream that leaves out its last line end, too', () => {
    expect(whole(`data: {"choices":[],"usage":{},${timings}}`)).toBe(`data: {${choice},${timings}}`)
  })

  test.each(['null', '[]', '{}'])('%s says nothing', (nothing) => {
    expect(whole(`data: {"choices":[],"usage":{},"citations":${nothing}}\n\n`)).toBe('')
  })

  test('nor does what every chunk of a provider carries', () => {
    const ordinary = `${head},"provider":"p","obfuscation":"x","service_tier":"default","system_fingerprint":"f"`
    expect(whole(`data: {${ordinary},"choices":[],"usage":{},"x_groq":{"id":"r"}}\n\n`)).toBe('')
  })

  test('what is nested too deep to be written again is left out', () => {
    const deep = `${'['.repeat(30_000)}1${']'.repeat(30_000)}`
    expect(whole(`data: {"choices":[],"usage":{},"x":${deep}}\n\ndata: [DONE]\n\n`)).toBe('data: [DONE]\n\n')
  })
})

describe('everything else goes on byte for byte', () => {
  test.each<[string, string]>([
    ['a delta', `data: ${delta}\n\n`],
    ['usage beside the last delta', 'data: {"choices":[{"finish_reason":"stop"}],"usage":{"a":1}}\n\n'],
    ["Azure's first chunk", 'data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}\n\n'],
    ['the same with a usage that is null', 'data: {"choices":[],"usage":null,"x":[]}\n\n'],
    ['a usage that is a list', 'data: {"choices":[],"usage":[]}\n\n'],
    ['choices that are none', 'data: {"choices":{},"usage":{}}\n\n'],
    ['an error with usage', 'data: {"choices":[],"error":{"message":"no"},"usage":{}}\n\n'],
    ['an event named error', `event: error\ndata: ${usage}\n\n`],
    ['[DONE]', 'data: [DONE]\n\n'],
    ['text behind [DONE]', 'data: [DONE]\n\nThat was it, "usage" and all.'],
    ['comments', ': keep-alive\n\n:\n: OPENROUTER PROCESSING\n\n'],
    ['CRLF', `: a\r\n\r\ndata: ${delta}\r\n\r\n`],
    ['many blank lines', `\n\n\r\r\r\n\r\ndata: ${delta}\n\n\n\n`],
    ['a missing last blank line', `data: ${delta}\n`],
    ['a text that speaks of usage', `data: {"choices":[{"delta":{"content":"\\"usage\\":{}"}}]}\n\n`],
    ['no events at all', '{"error":{"message":"busy"},"usage":{}}'],
    ['lines without an end to their event', `data: ${delta}\ndata: ${usage}\n`],
    ['nothing', ''],
  ])('%s', (_name, text) => {
    expect(whole(text)).toBe(text)
    expect(byByte(text)).toBe(text)
  })

  test('an untouched piece is not copied', () => {
    const piece = Buffer.from(`data: ${delta}\n\n`)
    const out = createUsageHider().feed(piece)
    expect([out.buffer, out.byteOffset, out.length]).toEqual([piece.buffer, piece.byteOffset, piece.length])
  })
})

describe('only what may still be a usage event is held back', () => {
  test('a delta goes on as soon as its choices begin', () => {
    const pieces = ['data: {"id":"x","cho', 'ices":[{"index":0,"delta":{"con', 'tent":"a"}}]}\n', '\n']
    expect(through(pieces)).toEqual(['', pieces.slice(0, 2).join(''), pieces[2], pieces[3], ''])
  })

  test('a comment that keeps the connection alive goes on without a blank line', () => {
    expect(through([': ping\n', ': ping\n'])).toEqual([': ping\n', ': ping\n', ''])
  })

  test('an event beyond 64 kB goes on, however it is cut', () => {
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
  `data: ${usage}\n\n`,
  `data: ${usage}\r\r`,
  `data: ${usage}\r\n\r\n`,
]

type Event = { readonly text: string; readonly shown: string }

function written(lines: readonly string[], shown: readonly string[], end: string): Event {
  const join = (each: readonly string[]) => [...each, ''].map((line) => line + end).join('')
  return { text: join(lines), shown: join(shown) }
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length].toSorted(
    (one, other) => one - other,
  )
  return sorted.slice(1).map((to, index) => bytes.subarray(sorted[index], to))
}

describe('whatever comes, however it is cut', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
  const shownLines = fc.constantFrom(
    [`data: ${delta}`],
    ['data: {"choices":[],"usage":null}'],
    ['data: {"choices":[],"prompt_filter_results":[]}'],
    ['event: x', 'data: {"a":1,', 'data: "b":"ü"}'],
    ['data: [DONE]'],
    [': keep-alive'],
    ['data'],
  )
  const usageLines = fc.constantFrom(
    [`data: ${usage}`],
    ['id: 1', `data: ${usage}`],
    ['data: {"usage":{"prompt_tokens":1},', 'data: "choices": [] }'],
    [`data: ${usage}`, ': within'],
  )
  const event: fc.Arbitrary<Event> = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(shownLines, lineEnd).map(([lines, end]) => written(lines, lines, end)) },
    {
      weight: 1,
      arbitrary: fc.tuple(usageLines, lineEnd).map(([lines, end]) => {
        const { text } = written(lines, lines, end)
        const comments = lines.filter((line) => line.startsWith(':'))
        return { text, shown: comments.map((line) => line + end).join('') }
      }),
    },
  )
  const cuts = fc.array(fc.nat(2_000), { maxLength: 40 })

  test('what goes on is what came but for the usage events, and no whole event waits', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), cuts, (events, places) => {
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
      }),
    )
  })

  test('where it is cut changes nothing', () => {
    const fragment = fc.constantFrom(...fragments)
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 30 }), cuts, (all, places) => {
        const input = Buffer.from(all.join(''))
        const hider = createUsageHider()
        const out = [...cutAt(input, places).map((piece) => hider.feed(piece)), hider.end()]
        expect(Buffer.concat(out).toString()).toBe(whole(all.join('')))
      }),
      { numRuns: 1_000 },
    )
  })
})
