import * as fc from 'fast-check'
import { anyCharacter } from '../../../support/any-character.ts'
import { conversation } from '../../../support/arbitrary-conversation.ts'
import { anyJson, anyOf, anyOr, damages, escaped, withSome, oneText, texts, upTo } from '../arbitrary.ts'
import { checkRewritten, treatmentOf } from '../check.ts'
import { openSmallStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Bodies of chat completions, good and damaged in every way: the upstream is the judge of them. What is not rewritten
 * arrives byte for byte, what is rewritten keeps to the promises, and only a body over the limit is refused here.
 */
export const bodies = fuzzTarget('bodies', 3, ['relayed', 'compacted'], async () => {
  const stage = await openSmallStage({ body_mb: BODY_BYTES_MAX / 1024 / 1024, bytes_in_flight_mb: 64 })
  return {
    close: stage.close,
    arbitrary: oddBody(),
    check: async (odd) => {
      await stage.begin()
      const sent = odd.bytes()
      const answer = await stage.client.ask(requestOf('/v1/chat/completions', sent))
      const received = await stage.afterwards()
      if (sent.length > BODY_BYTES_MAX) {
        if (answer.code !== 'body_too_large' || received.length > 0)
          throw new Error(`a body over the limit: ${answer.startLine}, ${received.length} sent on`)
        return '413 body_too_large'
      }
      const check = ({ body }: { body: Buffer }) => checkRewritten(sent, body)
      return treatmentOf({ sent, reply: REPLY, check }, answer, received).action
    },
  }
})

/** A body, described so that a counterexample can be read. */
type OddBody = { readonly bytes: () => Buffer; readonly toString: () => string }

/** Bodies of every kind of damage, and none; some come close to the limit, and some exceed it. */
function oddBody(): fc.Arbitrary<OddBody> {
  const key = oneText`
    messages ¦ model ¦ stream ¦ stream_options ¦ max_tokens ¦ max_completion_tokens ¦ n ¦ tools ¦ functions ¦ tool_choice
    response_format ¦ metadata ¦ user ¦ __proto__ ¦ constructor
  `
  const written = fc
    .record({
      messages: conversation,
      model: anyOf(fc.constant('m'), fc.string({ unit: anyCharacter }), anyJson),
      more: fc.dictionary(anyOf([15, key], fc.constant('')), anyJson, { maxKeys: 3 }),
      indent: fc.constantFrom(undefined, 1, '\t'),
      isAscii: fc.boolean(),
    })
    .map(({ model, more, indent, isAscii, messages }) => {
      const json = JSON.stringify({ model, ...more, messages, seed: 1 }, null, indent)
      return Buffer.from(isAscii ? escaped(json) : json)
    })
  const fragments = [
    ...'{ } [ ] " \\ , : - /**/ 123456789012345678901234567890 "messages":[], "role":"system", ,"model":"other"'.split(
      ' ',
    ),
    '"messages":[{"role":"user","content":"other"}],',
  ]
  const damaged = fc
    .tuple(written, damages(fragments, { intact: 1, most: 3 }))
    .map(([whole, damage]) => damage?.(whole) ?? whole)
  return anyOf(
    [6, damaged.map(shown)],
    [3, wrongTypes().map((value) => shown(Buffer.from(JSON.stringify(value))))],
    fc.uint8Array({ maxLength: 200 }).map((bytes) => shown(Buffer.from(bytes))),
    deep(),
    large(),
    many(),
  )
}

function shown(body: Buffer): OddBody {
  return {
    bytes: () => body,
    toString: () => JSON.stringify(body.toString('latin1')),
  }
}

/** JSON that is no chat completion, but looks like one. */
function wrongTypes(): fc.Arbitrary<unknown> {
  const part = fc.record({ type: anyJson, text: anyJson })
  const call = fc.record({ id: anyJson, type: anyJson, function: anyJson })
  const message = withSome({
    role: anyOr('system', 'developer', 'user', 'assistant', 'tool', 'function', 'critic'),
    content: anyOf(anyJson, upTo(4, anyOf(anyJson, part))),
    tool_calls: anyOf(anyJson, upTo(3, anyOf(anyJson, call))),
    tool_call_id: anyJson,
    function_call: anyJson,
    name: anyJson,
  })
  const wrong = anyOf(anyJson, message)
  const body = withSome({
    model: anyJson,
    messages: anyOf(anyJson, upTo(12, wrong), fc.dictionary(fc.string(), wrong)),
    tools: anyOf(anyJson, upTo(4, anyJson)),
    stream: anyJson,
    max_tokens: anyJson,
    n: anyJson,
    response_format: anyJson,
  })
  return anyOf(anyJson, body)
}

/** Brackets in brackets, to a depth at which whoever goes down by calling himself falls. */
function deep(): fc.Arbitrary<OddBody> {
  const opened = {
    where: fc.constantFrom(...Object.keys(nestedPlaces)),
    levels: fc.constantFrom(10, 1_000, 5_000, 10_000, 100_000),
    kind: fc.constantFrom('[', '{"a":', '[{"a":'),
    isClosed: fc.boolean(),
    // Beside it is what takes a compaction.
    isLong: fc.boolean(),
  }
  return fc.record(opened).map((input) => ({
    bytes: () => {
      const { where, levels, kind, isClosed, isLong } = input
      const brackets = kind.replaceAll(/[^[{]/g, '').split('').toReversed()
      const closing = brackets.map((open) => (open === '[' ? ']' : '}')).join('')
      const value =
        kind.repeat(levels) + (kind.endsWith(':') ? '1' : '') + (isClosed ? closing.repeat(levels) : '')
      const body = nestedPlaces[where]?.(value) ?? value
      return Buffer.from(isLong ? body.replace('"messages":[', `"messages":[${LONG_TURNS}`) : body)
    },
    toString: () => JSON.stringify(input),
  }))
}

const LONG_TURNS =
  '{"role":"user","content":"why?"},{"role":"assistant","content":"because of all the rest"},'.repeat(400)

const nestedPlaces: Readonly<Record<string, (value: string) => string>> = {
  messages: (value) => `{"model":"m","messages":${value}}`,
  message: (value) => `{"model":"m","messages":[{"role":"user","content":"a"},${value}]}`,
  content: (value) => `{"model":"m","messages":[{"role":"user","content":${value}}]}`,
  field: (value) => `{"model":"m","messages":[{"role":"user","content":"a","x":${value}}]}`,
  calls: (value) => `{"model":"m","messages":[{"role":"assistant","tool_calls":${value}}]}`,
  tools: (value) => `{"model":"m","tools":${value},"messages":[{"role":"user","content":"a"}]}`,
  metadata: (value) => `{"model":"m","metadata":${value},"messages":[{"role":"user","content":"a"}]}`,
  arguments: (value) =>
    `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(value)}}}]}]}`,
  all: (value) => value,
}

function large(): fc.Arbitrary<OddBody> {
  const over = fc.constantFrom(-100_000, -1, 0, 1, 100_000)
  const piece = fc.constantFrom('x', 'word ', '\\n', '{', '\\"', 'é', '\\u001b[1A')
  return fc.record({ over, piece }).map((input) => ({
    bytes: () => {
      const [before, after] = ['{"model":"m","messages":[{"role":"user","content":"', '"}]}']
      const room = BODY_BYTES_MAX + input.over - before.length - after.length
      const bytes = Buffer.byteLength(input.piece)
      const times = Math.floor(room / bytes)
      return Buffer.from(before + input.piece.repeat(times) + ' '.repeat(room - times * bytes) + after)
    },
    toString: () => JSON.stringify(input),
  }))
}

function many(): fc.Arbitrary<OddBody> {
  const messages = texts`
    {} ¦ 1 ¦ {"role":"user"} ¦ {"role":"user","content":"a"} ¦ {"role":"system","content":"a"}
    {"role":"assistant","tool_calls":[{"id":"a"}]} ¦ {"role":"tool","tool_call_id":"a"}
  `
  return fc
    .tuple(fc.constantFrom(1_000, 10_000, 20_000), fc.constantFrom(...messages))
    .map(([count, message]) => ({
      bytes: () => Buffer.from(`{"model":"m","messages":[${`${message},`.repeat(count - 1)}${message}]}`),
      toString: () => `${count} × ${message}`,
    }))
}
