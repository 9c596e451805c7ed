import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runAtOnce, type Span } from '../../../src/json/source.ts'
import { readBody as readAnyBody } from '../../../src/formats/body-members.ts'
import type { BodyFacts, NotReadReason } from '../../../src/formats/contract.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { factsOfBody } from '../../support/read-body.ts'
import { sourceOf } from '../../support/source.ts'
import { forAll } from '../../support/property-runs.ts'

const messages = '[{"role":"user","content":"hi"}]'

const readBody = (body: string) =>
  runAtOnce(readAnyBody(chatCompletions.bodies, sourceOf(body), bodyLimits, null))

const requestIn = (body: string): BodyFacts => factsOfBody(chatCompletions, sourceOf(body))

/** What is read of a request with these fields beside its messages. */
const settings = (fields: object): BodyFacts =>
  requestIn(JSON.stringify({ ...fields, messages: [{ role: 'user' }] }))

const textAt = (body: string, span: Span | null | undefined): string | null =>
  span ? Buffer.from(body).subarray(span.start, span.end).toString() : null

/** The body with the addition in it; null where there is none. */
function asking(body: string): string | null {
  const { usageRequest } = requestIn(body)
  if (usageRequest === null) return null
  const { at, text } = usageRequest
  const bytes = Buffer.from(body)
  return bytes.subarray(0, at.start).toString() + text + bytes.subarray(at.end).toString()
}

/** The body as a plain request: no stream, and no options of one. */
function asPlain(body: string): string | null {
  const edits = requestIn(body).withoutStreaming
  if (edits === null) return null
  let plain = Buffer.from(body)
  for (const { at, text } of edits.toSorted((one, other) => other.at.start - one.at.start))
    plain = Buffer.concat([plain.subarray(0, at.start), Buffer.from(text), plain.subarray(at.end)])
  return plain.toString()
}

const allowed = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode } })

describe('what is read', () => {
  test('a plain request', () => {
    const body = `{"model":"m","messages":${messages}}`
    const request = requestIn(body)
    expect(request).toMatchObject({
      model: 'm',
      isStreamed: false,
      outputLimit: null,
      outputLeastTokens: 1,
      repliesWanted: 1,
      tools: null,
      legacyTools: null,
      schema: null,
      isToolForced: false,
      showsUsage: false,
    })
    expect(textAt(body, request.history)).toBe(messages)
    expect(request.entrySpans.map((span) => textAt(body, span))).toEqual([messages.slice(1, -1)])
  })

  test.each<[object, object]>([
    [{ stream: true }, { isStreamed: true }],
    [{ stream_options: { include_usage: true } }, { showsUsage: true }],
    [{ stream: 'yes' }, { isStreamed: false }],
    [{ stream_options: null }, { showsUsage: false }],
    [{ model: 7 }, { model: null }],
    [{ n: 3 }, { repliesWanted: 3 }],
    [{ n: 0 }, { repliesWanted: 1 }],
    [
      { tools: null, functions: 7, response_format: 'x' },
      { tools: null, legacyTools: null, schema: null },
    ],
    [{ functions: [] }, { legacyTools: { start: 13, end: 15 } }],
    [{ response_format: { type: 'text' } }, { schema: { start: 19, end: 34 } }],
  ])('%j', (fields, expected) => {
    expect(settings(fields)).toMatchObject(expected)
  })

  test.each<[object, BodyFacts['outputLimit']]>([
    [{ max_tokens: 100 }, { field: 'max_tokens', tokens: 100, value: { start: 14, end: 17 } }],
    [
      { max_tokens: 100, max_completion_tokens: 7 },
      { field: 'max_completion_tokens', tokens: 7, value: { start: 42, end: 43 } },
    ],
    [
      { max_completion_tokens: null, max_tokens: 100 },
      { field: 'max_tokens', tokens: 100, value: { start: 43, end: 46 } },
    ],
    [{ max_tokens: -1 }, null],
    [{ max_tokens: 0 }, null],
    [{ max_tokens: 1.5 }, null],
    [{ max_tokens: '100' }, null],
  ])('the output limit of %j', (fields, expected) => {
    const limit = settings(fields).outputLimit
    if (expected === null) expect(limit).toBeNull()
    else expect(limit).toMatchObject(expected)
  })

  test.each<[boolean, readonly object[]]>([
    [false, [{}, ...['auto', 'none', null].map((choice) => ({ tool_choice: choice }))]],
    [false, [{ tool_choice: allowed('auto') }, { function_call: 'auto' }]],
    [true, ['required', 'any', { type: 'function' }].map((choice) => ({ tool_choice: choice }))],
    [true, [{ tool_choice: allowed('required') }, { function_call: { name: 'look' } }]],
  ])('whether a tool call is forced: %s for %j', (isForced, all) => {
    expect(all.filter((fields) => settings(fields).isToolForced !== isForced)).toEqual([])
  })
})

describe('what asks for the usage of a stream', () => {
  test.each<[string, string]>([
    [
      `{"stream_options" : null ,"messages":${messages},"stream":true}`,
      `{"stream_options" : {"include_usage":true} ,"messages":${messages},"stream":true}`,
    ],
    [
      `{"stream":true,"messages":${messages},"stream_options":{ "include_obfuscation" : false }}`,
      `{"stream":true,"messages":${messages},"stream_options":{"include_usage":true, "include_obfuscation" : false }}`,
    ],
  ])('%s', (body, expected) => {
    expect(asking(body)).toBe(expected)
    expect(requestIn(expected).showsUsage).toBe(true)
  })

  test('wherever it stands, it is the only byte that is added', () => {
    const space = fc.constantFrom('', ' ', '\n', '\t ')
    const options = fc.constantFrom('{}', '{ }', '{"a":1}', '{ "b" : {"include_usage":false} }')
    const fields = fc.record(
      { model: fc.json(), seed: fc.json(), tools: fc.json(), stream_options: options },
      { requiredKeys: [] },
    )
    forAll(100, fields, fc.infiniteStream(space), fc.nat(), (some, spaces, turn) => {
      const entries = Object.entries({ ...some, stream: 'true', messages })
      const turned = [...entries.slice(turn % entries.length), ...entries.slice(0, turn % entries.length)]
      const gap = () => String(spaces.next().value)
      const text = turned.map(([name, value]) => `${gap()}"${name}"${gap()}:${gap()}${value}${gap()}`)
      const body = `${gap()}{${text.join(',')}}${gap()}`
      const asked = asking(body) ?? ''
      expect(asked.length - body.length).toBe(requestIn(body).usageRequest?.text.length)
      const expected: unknown = JSON.parse(body, (_key, value: unknown) => value)
      expect(JSON.parse(asked)).toEqual({
        ...Object(expected),
        stream_options: {
          ...Object(some.stream_options === undefined ? {} : JSON.parse(some.stream_options)),
          include_usage: true,
        },
      })
    })
  })

  test.each([
    ['no stream', '{"model":"m"}'],
    ['a stream that is none', '{"stream":false,"stream_options":null}'],
    ['a client that asked', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['a client that does not want it', '{"stream":true,"stream_options":{"include_usage":false}}'],
    ['the same, escaped', '{"stream":true,"stream_options":{"include\\u005fusage":false}}'],
    ['a value that means nothing', '{"stream":true,"stream_options":{"include_usage":null}}'],
    ['options that are none', '{"stream":true,"stream_options":"usage"}'],
    ['options that are a list', '{"stream":true,"stream_options":[]}'],
  ])('%s: nothing', (_name, fields) => {
    expect(asking(`${fields.slice(0, -1)},"messages":${messages}}`)).toBeNull()
  })
})

describe('what cannot be read with certainty is not read', () => {
  const noObject = [
    '',
    'null',
    messages,
    `{"messages":${messages}`,
    `{"messages":${messages},}`,
    `{"messages":${messages}} x`,
    `{"messages":${messages}}{}`,
    '{"messages":[{"role":"user"},]}',
    `{"n":\ufeff1,"messages":${messages}}`,
    `{"tools":[1}, "messages":${messages}}`,
    `{"n":01,"messages":${messages}}`,
    `{"tools":[}],"messages":${messages}}`,
    `{"user":"\t","messages":${messages}}`,
    `{"us\\xer":1,"messages":${messages}}`,
    `{"messages":tru}`,
  ]
  const twice = [`"messages":${messages}`, '"messa\\u0067es":[]', '"n":1,"n":1']
  const tooLong = [`"model":"${'m'.repeat(70_000)}"`, `"${'k'.repeat(5_000)}":1`]
  const withMessages = (field: string) => `{"messages":${messages},${field}}`
  const none = ['', '"messages":[]', '"messages":null', '"messages":{}', `"prompt":{"messages":${messages}}`]
  test.each<[NotReadReason, readonly string[]]>([
    ['bom', [`\ufeff{"messages":${messages}}`]],
    ['not-json-object', noObject],
    ['duplicate-key', twice.map(withMessages)],
    ['invalid-value', tooLong.map(withMessages)],
    ['no-messages', none.map((fields) => `{${fields}}`)],
  ])('%s', (reason, bodies) => {
    const results = bodies.map((body) => ({ body, result: readBody(body) }))
    expect(results).toEqual(bodies.map((body) => ({ body, result: reason })))
  })
})

describe('where a stream is asked for', () => {
  test.each([
    [`{"stream":true,"messages":${messages}}`, `{"stream":false,"messages":${messages}}`],
    [
      `{"stream_options":{"x":[1]} , "stream":true,"messages":${messages}}`,
      `{"stream":false,"messages":${messages}}`,
    ],
    [
      `{"messages":${messages} , "stream_options" : null,"stream": true }`,
      `{"messages":${messages},"stream": false }`,
    ],
    [
      `{"stream":true,"messages":${messages}\n,"stream_options":{}\n}`,
      `{"stream":false,"messages":${messages}\n}`,
    ],
  ])('%s', (body, plain) => {
    expect(asPlain(body)).toBe(plain)
  })

  test.each(['false', 'null', '"true"', '1'])('nowhere with %s', (value) => {
    expect(asPlain(`{"stream":${value},"stream_options":{},"messages":${messages}}`)).toBeNull()
  })
})
