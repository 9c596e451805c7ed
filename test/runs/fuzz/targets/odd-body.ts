import * as fc from 'fast-check'
import { damageBytes, oddBytes, type DamageBytes } from './damaged-bytes.ts'
import { anyCharacter } from '../../../support/any-character.ts'

/** A body, described so that a counterexample can be read. */
export type OddBody = { readonly bytes: () => Buffer; readonly toString: () => string }

/** Bodies of every kind of damage, and none. `bytesMax` is the limit that some come close to and some exceed. */
export function oddBody(messages: fc.Arbitrary<readonly object[]>, bytesMax: number): fc.Arbitrary<OddBody> {
  const written = fc
    .record({
      messages,
      model: fc.oneof(fc.constant('m'), fc.string({ unit: anyCharacter }), anyJson),
      more: fc.dictionary(fc.constantFrom(...keys), anyJson, { maxKeys: 3 }),
      indent: fc.constantFrom(undefined, 1, '\t'),
      isAscii: fc.boolean(),
    })
    .map(({ model, more, indent, isAscii, messages: all }) => {
      const text = JSON.stringify({ model, ...more, messages: all, seed: 1 }, null, indent)
      return isAscii ? escaped(text) : text
    })
  const damagedText = fc
    .record({
      text: written,
      damages: fc.oneof(fc.constant<DamageBytes[]>([]), fc.array(damage, { maxLength: 3 })),
    })
    .map(({ text, damages }) => damages.reduce<Buffer>((body, damaging) => damaging(body), Buffer.from(text)))
  return fc.oneof(
    { weight: 6, arbitrary: damagedText.map((body) => shown(body)) },
    { weight: 3, arbitrary: wrongTypes.map((value) => shown(Buffer.from(JSON.stringify(value)))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => shown(Buffer.from(bytes))) },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: large(bytesMax) },
    { weight: 1, arbitrary: many },
  )
}

// --- internal ---

const keys = [
  'messages',
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'tools',
  'functions',
  'tool_choice',
  'response_format',
  'metadata',
  'user',
  '__proto__',
  'constructor',
  '',
]

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(1e308, -0, 5e-324, 2 ** 53, -1, 0, '', [], {}, null, true, '\ud800', '\u0000'),
)

const role = fc.oneof(
  fc.constantFrom<unknown>('system', 'developer', 'user', 'assistant', 'tool', 'function', 'critic'),
  anyJson,
)

const wrongMessage = fc.oneof(
  anyJson,
  fc.record(
    {
      role,
      content: fc.oneof(
        anyJson,
        fc.array(fc.oneof(anyJson, fc.record({ type: anyJson, text: anyJson })), { maxLength: 4 }),
      ),
      tool_calls: fc.oneof(
        anyJson,
        fc.array(fc.oneof(anyJson, fc.record({ id: anyJson, type: anyJson, function: anyJson })), {
          maxLength: 3,
        }),
      ),
      tool_call_id: anyJson,
      function_call: anyJson,
      name: anyJson,
    },
    { requiredKeys: [] },
  ),
)

/** JSON that is no chat completion, but looks like one. */
const wrongTypes = fc.oneof(
  anyJson,
  fc.record(
    {
      model: anyJson,
      messages: fc.oneof(
        anyJson,
        fc.array(wrongMessage, { maxLength: 12 }),
        fc.dictionary(fc.string(), wrongMessage),
      ),
      tools: fc.oneof(anyJson, fc.array(anyJson, { maxLength: 4 })),
      stream: anyJson,
      max_tokens: anyJson,
      n: anyJson,
      response_format: anyJson,
    },
    { requiredKeys: [] },
  ),
)

const fragments = [
  ...'{ } [ ] " \\ , : - /**/ 123456789012345678901234567890 "messages":[], "role":"system", ,"model":"other"'.split(
    ' ',
  ),
  '"messages":[{"role":"user","content":"other"}],',
].map((text) => Buffer.from(text))

const damage = damageBytes([...fragments, ...oddBytes])

const nestedPlaces = new Map<string, (value: string) => string>(
  Object.entries({
    messages: (value: string) => `{"model":"m","messages":${value}}`,
    message: (value: string) => `{"model":"m","messages":[{"role":"user","content":"a"},${value}]}`,
    content: (value: string) => `{"model":"m","messages":[{"role":"user","content":${value}}]}`,
    field: (value: string) => `{"model":"m","messages":[{"role":"user","content":"a","x":${value}}]}`,
    calls: (value: string) => `{"model":"m","messages":[{"role":"assistant","tool_calls":${value}}]}`,
    tools: (value: string) => `{"model":"m","tools":${value},"messages":[{"role":"user","content":"a"}]}`,
    metadata: (value: string) =>
      `{"model":"m","metadata":${value},"messages":[{"role":"user","content":"a"}]}`,
    arguments: (value: string) =>
      `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(value)}}}]}]}`,
    all: (value: string) => value,
  }),
)

/** Brackets in brackets, to a depth at which whoever goes down by calling himself falls. */
const deep: fc.Arbitrary<OddBody> = fc
  .record({
    where: fc.constantFrom(...nestedPlaces.keys()),
    levels: fc.constantFrom(10, 1_000, 5_000, 10_000, 100_000),
    kind: fc.constantFrom('[', '{"a":', '[{"a":'),
    isClosed: fc.boolean(),
    // Beside it is what takes a compaction.
    isLong: fc.boolean(),
  })
  .map((input) => ({
    bytes: () => {
      const { where, levels, kind, isClosed, isLong } = input
      const closing = kind
        .replaceAll(/[^[{]/g, '')
        .split('')
        .toReversed()
        .map((open) => (open === '[' ? ']' : '}'))
        .join('')
      const value =
        kind.repeat(levels) + (kind.endsWith(':') ? '1' : '') + (isClosed ? closing.repeat(levels) : '')
      const body = nestedPlaces.get(where)?.(value) ?? value
      return Buffer.from(isLong ? body.replace('"messages":[', `"messages":[${LONG_TURNS}`) : body)
    },
    toString: () => JSON.stringify(input),
  }))

const LONG_TURNS =
  '{"role":"user","content":"why?"},{"role":"assistant","content":"because of all the rest"},'.repeat(400)

function large(bytesMax: number): fc.Arbitrary<OddBody> {
  return fc
    .record({
      over: fc.constantFrom(-100_000, -1, 0, 1, 100_000),
      piece: fc.constantFrom('x', 'word ', '\\n', '{', '\\"', 'é', '\u001b[1A'),
    })
    .map(({ over, piece }) => ({
      bytes: () => {
        const before = '{"model":"m","messages":[{"role":"user","content":"'
        const after = '"}]}'
        const encoded = piece === '\u001b[1A' ? '\\u001b[1A' : piece
        const room = bytesMax + over - before.length - after.length
        const times = Math.floor(room / Buffer.byteLength(encoded))
        const rest = ' '.repeat(room - times * Buffer.byteLength(encoded))
        return Buffer.from(before + encoded.repeat(times) + rest + after)
      },
      toString: () => JSON.stringify({ over, piece }),
    }))
}

const many: fc.Arbitrary<OddBody> = fc
  .record({
    count: fc.constantFrom(1_000, 10_000, 20_000),
    message: fc.constantFrom(
      '{}',
      '1',
      '{"role":"user"}',
      '{"role":"user","content":"a"}',
      '{"role":"system","content":"a"}',
      '{"role":"assistant","tool_calls":[{"id":"a"}]}',
      '{"role":"tool","tool_call_id":"a"}',
    ),
  })
  .map(({ count, message }) => ({
    bytes: () =>
      Buffer.from(`{"model":"m","messages":[${Array.from({ length: count }, () => message).join(',')}]}`),
    toString: () => `${count} × ${message}`,
  }))

function shown(body: Buffer): OddBody {
  return { bytes: () => body, toString: () => JSON.stringify(body.toString('latin1')) }
}

function escaped(text: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
