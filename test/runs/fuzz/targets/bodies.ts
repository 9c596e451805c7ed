import * as fc from 'fast-check'
import { anyCharacter } from '../../../support/any-character.ts'
import { conversation } from '../../../support/arbitrary-conversation.ts'
import { anyJson, anyOf, anyOr, damages, escaped, withSome, oneText, upTo } from '../arbitrary.ts'
import { checkRewritten, treatmentOf } from '../check.ts'
import { openSmallStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'

/**
 * Bodies of chat completions, good and damaged in every way: the upstream is the judge of them. What is not rewritten
 * arrives byte for byte, and what is rewritten keeps to the promises. What is deep, long or many is `heavy.ts`'s.
 */
export const bodies = fuzzTarget('bodies', 3, ['relayed', 'compacted'], async () => {
  const stage = await openSmallStage({ body_mb: 1, bytes_in_flight_mb: 64 })
  return {
    close: stage.close,
    arbitrary: oddBody(),
    check: async ({ bytes: sent }) => {
      await stage.begin()
      const answer = await stage.client.ask(requestOf('/v1/chat/completions', sent))
      const received = await stage.afterwards()
      const check = ({ body }: { body: Buffer }) => checkRewritten(sent, body)
      return treatmentOf({ sent, reply: REPLY, check }, answer, received).action
    },
  }
})

/** A body, described so that a counterexample can be read. */
type OddBody = { readonly bytes: Buffer; readonly toString: () => string }

/** Bodies of every kind of damage, and none. */
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
  )
}

const shown = (bytes: Buffer): OddBody => ({
  bytes,
  toString: () => JSON.stringify(bytes.toString('latin1')),
})

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
