import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { slotsOf } from '../../../src/formats/chat/slots.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { parseMessage, factsOf } from '../../support/chat-completions.ts'
import { profileOf } from '../../support/subject.ts'
import { rawSubject, readRaw } from '../../compaction/raw-subject.ts'
import { prose, send } from '../../compaction/sending.ts'
import { sourceOf } from '../../support/source.ts'

/** The one message of a body, with this text as its content. */
function withText(message: string, text: string, mediaKept = 0): string | null {
  const { source, messages } = readRaw(`[ ${message} ]`)
  const [only] = messages
  if (only === undefined) throw new Error('no message')
  const slots = runAtOnce(slotsOf(source, only, parseMessage(source, only)))
  const slot = slots.find(({ kind }) => kind === 'text' || kind === 'result')
  return slot === undefined
    ? null
    : runAtOnce(chatCompletions.entries.edited(source, only, new Map([[slot, text]]), mediaKept))
}

test('a made message differs from the client’s in the replaced value only', () => {
  const message = String.raw`{ "2" : 0,"1":0 , "role":"tool","meta":{"a":1,"a":2,"a":1},"weight":1e400,"id":12345678901234567890,"z":-0.0,"n\u00e4me":"\u00e9\/\ud83d\ude00", "c\u006fntent" : "%","😀":"日本語"  }`
  expect(withText(message.replace('%', String.raw`the \"old\" one`), 'the "new" one')).toBe(
    message.replace('%', String.raw`the \"new\" one`),
  )
})

const partsMessage = (content: readonly string[]) => `{"role":"assistant","content":[${content.join()}]}`

const textPart = (said: string) => `{"type":"text","text":"${said}"}`

describe('the content keeps its type', () => {
  const image = '{"image_url": {"url":"https://images.example/a.png","detail":1e400}, "type":"image_url"}'

  const thought = '{"type":"thinking","thinking":"hm","signature":"c2ln"}'
  // Media stay behind the text as they were spelt, or are dropped; thoughts before it, where their providers want them.
  test.each([
    ['parts, their text in one', [textPart('a'), textPart('b')], 0, [textPart('new')]],
    ['media behind the text', [image, textPart('a')], 1, [textPart('new'), image]],
    ['media dropped', [image, textPart('a')], 0, [textPart('new')]],
    ['thoughts before the text', [image, thought, textPart('a')], 1, [thought, textPart('new'), image]],
    ['thoughts without media', [image, thought, textPart('a')], 0, [thought, textPart('new')]],
  ])('%s', (_, parts, mediaKept, expected) => {
    expect(withText(partsMessage(parts), 'new', mediaKept)).toBe(partsMessage(expected))
  })

  test('a message without a text to replace stays as it is', () => {
    for (const content of ['', ',"content":null', ',"content":17', ',"content":{"text":"a"}'])
      expect(withText(`{"role":"assistant"${content}}`, 'new')).toBeNull()
  })
})

const task = '{"role":"user","content":"Repair it."}'

function call(id: string, argumentsText: string): string {
  return `{"role":"assistant","content":null,"reasoning":1e400,"tool_calls":[{"function":{"arguments":${JSON.stringify(argumentsText)},"name":"read"},"index":0.0,"id":"${id}","type":"function"}]}`
}

function legacyCall(argumentsText: string): string {
  return `{"role":"assistant","reasoning":1e400,"function_call":{"x":1,"x":2,"arguments":${JSON.stringify(argumentsText)},"name":"write"},"content":null}`
}

const result = (id: string, text: string): string =>
  `{"tool_call_id":"${id}","cost":1e400,"role":"tool","content":${JSON.stringify(text)},"x":{"a":1,"a":2}}`

function callArguments(message: string): string[] {
  const { source, messages } = readRaw(`[${message}]`)
  return messages.flatMap((only) => parseMessage(source, only).calls.map((made) => made.argumentsText))
}

describe('in a view', () => {
  test('a cleared result keeps all but its content', () => {
    const history = rawSubject([
      task,
      ...[0, 1, 2, 3, 4, 5].flatMap((n) => [call(`c${n}`, '{}'), result(`c${n}`, prose(`r${n}`, 900))]),
    ])
    const { texts } = send(history, {
      budgetTokens: 6000,
      profile: profileOf({
        clear: { keep_results: 1, at: 0.2 },
        fold: { at: 1 },
        keep: { recent_messages: 2 },
      }),
    })
    expect(texts).toContain(result('c0', '[cleared: result of read, 904 tokens]'))
    expect(texts).toContain(call('c0', '{}'))
  })

  test.each([
    ['clipped arguments', (argumentsText: string) => call('c0', argumentsText), result('c0', 'ok')],
    ['those of a legacy function_call', legacyCall, '{"role":"function","name":"write","content":"ok"}'],
  ])('%s change nothing around them', (_, message, answer) => {
    const long = JSON.stringify({ path: 'a.ts', text: prose('text', 3000) })
    const { texts, passes } = send(rawSubject([task, message(long), answer]), { budgetTokens: 900 })
    expect(passes).toEqual(['clip'])
    const [shown = ''] = callArguments(texts[1] ?? '')
    expect(texts[1]).toBe(message(shown))
    expect(JSON.parse(shown)).toMatchObject({ path: 'a.ts' })
  })

  test('clipped parts stay parts, and their media stay where they fit', () => {
    const image = { type: 'image_url', image_url: { url: 'https://images.example/a.png' } }
    const parts = JSON.stringify([{ type: 'text', text: prose('text', 3000) }, image])
    const history = rawSubject([
      task,
      call('c0', '{}'),
      `{"role":"tool","content":${parts},"tool_call_id":"c0"}`,
    ])
    const profile = profileOf({ preview: { threshold_tokens: 100_000 } })
    const contentUnder = (budgetTokens: number): unknown =>
      send(history, { budgetTokens, profile }).messages[2]?.content
    expect(contentUnder(900)).toEqual([
      { type: 'text', text: expect.stringContaining('[clipped: 3000 tokens in all]') },
      image,
    ])
    expect(contentUnder(200)).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/\[clipped: 3000 tokens in all\][^]*\n\[media left out\]$/),
      },
    ])
  })
})

/** The arguments of a message's calls: what they are read as, and the bytes that stand where they are said to. */
function argumentsOf(message: string) {
  const body = `[1, ${message}]`
  const source = sourceOf(body)
  const span = { start: 4, end: Buffer.byteLength(body) - 1 }
  const parsed = parseMessage(source, { ...span, facts: factsOf(message) })
  const slots = runAtOnce(slotsOf(source, span, parsed)).filter(({ kind }) => kind === 'arguments')
  return slots.map(({ text, spans, isJson, writtenAs }) => ({
    text,
    bytes: spans.map(({ start, end }) => source.text(start, end)).join(),
    kind: writtenAs === 'json' ? 'value' : isJson ? 'encoded' : 'text',
  }))
}

const listed = (...calls: readonly string[]): string =>
  `{"role":"assistant","content":"ä","tool_calls" : [ ${calls.join(' , ')} ]}`

describe('the arguments of calls stand where they were read from', () => {
  test('in the order of the calls, those without any left out', () => {
    expect(
      argumentsOf(
        listed(
          '{"id":"a","function":{"name":"look","arguments":"{\\"x\\":1}"}}',
          '{"id":"b","function":{"name":"look"}}',
          '7',
          '{"function":{"arguments":"{}"}}',
        ),
      ),
    ).toEqual([
      { text: '{"x":1}', bytes: '"{\\"x\\":1}"', kind: 'encoded' },
      { text: '{}', bytes: '"{}"', kind: 'encoded' },
    ])
  })

  // A patch of five thousand tokens was booked as cut and sent whole: only `function.arguments` was looked for.
  test('in a custom tool’s input, which is free text', () => {
    const patch = '{"id":"a","type":"custom","custom":{"name":"apply_patch","input":"*** Begin"}}'
    expect(argumentsOf(listed(patch))).toEqual([{ text: '*** Begin', bytes: '"*** Begin"', kind: 'text' }])
  })

  test('as a value that is no string', () => {
    expect(argumentsOf(listed('{"function":{"arguments":{ "x" : 1 }}}'))).toEqual([
      { text: '{"x":1}', bytes: '{ "x" : 1 }', kind: 'value' },
    ])
  })

  // A `tool_calls` of null was taken for the list of calls, so the one call there was could not be cut.
  test.each(['', '"tool_calls":null,', '"tool_calls":[],', '"tool_calls":{},'])(
    'in a legacy function_call behind %j',
    (before) => {
      const message = `{"role":"assistant",${before}"function_call":{"arguments":"{}","name":"f"}}`
      expect(argumentsOf(message)).toEqual([{ text: '{}', bytes: '"{}"', kind: 'encoded' }])
    },
  )

  test('in the list where both are there', () => {
    const both = listed('{"function":{"arguments":"[]"}}').replace(
      '}]',
      '}],"function_call":{"arguments":"{}"}',
    )
    expect(argumentsOf(both).map(({ bytes }) => bytes)).toEqual(['"[]"'])
  })

  test('under the last of equal keys, as JSON.parse has it', () => {
    const twice = '{"function":{"arguments":"1"},"function":{"arguments":"2","argument\\u0073":"3"}}'
    expect(argumentsOf(listed(twice))).toEqual([{ text: '3', bytes: '"3"', kind: 'encoded' }])
  })

  test('are none where nothing is called', () => {
    expect(argumentsOf('{"role":"assistant","content":"arguments"}')).toEqual([])
    expect(argumentsOf('{"role":"user","tool_calls":[{"function":{"arguments":"{}"}}]}')).toEqual([])
  })
})
