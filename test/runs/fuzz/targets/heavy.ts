import { z } from 'zod'
import { checkRewritten, treatmentOf } from '../check.ts'
import { openSmallStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'
import * as fc from 'fast-check'
import {
  around,
  before,
  behind,
  bodyOf,
  json,
  listOf,
  nested,
  packed,
  times,
  type Chat,
  type Coding,
  type Json,
} from '../../attacks/attack.ts'
import { texts } from '../arbitrary.ts'

/**
 * Bodies that are heavier than they look: counts, depth and lengths in every place, and codings that make a million
 * bytes of a hundred. Another client is answered while they are read, and what the upstream receives is what was sent, or
 * a conversation that was rewritten by the rules.
 */
export const heavy = fuzzTarget('heavy', 3, ['relayed', 'compacted'], async () => {
  const stage = await openSmallStage({ body_mb: 4, bytes_in_flight_mb: 32 })
  return {
    arbitrary: heavyBody(),
    check: async (body) => {
      await stage.begin()
      const { plain, sent } = heavyBytes(body)
      const coding = body.coding === null ? [] : [`Content-Encoding: ${body.coding}`]
      const asking = stage.client.ask(
        requestOf('/v1/chat/completions', sent, ['Authorization: Bearer sk-heavy', ...coding]),
      )
      // What comes of it is seen below; until then others are served.
      asking.catch(() => {})
      const meanwhile = await stage.afterwards()
      const answer = await asking
      const received = [...meanwhile, ...(await stage.afterwards())]
      if (answer.code !== null && answer.status < 500) {
        if (received.length > 0) throw new Error(`${answer.code}, and yet sent on`)
        return `${answer.status} ${answer.code}`
      }
      const check = (only: { body: Buffer }) => {
        if (plain.length <= COMPARED_BYTES_MAX) checkRewritten(plain, only.body)
        else chatShape.parse(JSON.parse(only.body.toString()))
      }
      return treatmentOf({ sent, reply: REPLY, check }, answer, received).action
    },
    close: stage.close,
  }
})

/** What is longer takes longer to be compared than to be tried. */
const COMPARED_BYTES_MAX = 256 * 1024

const chatShape = z.looseObject({ messages: z.array(z.looseObject({})).min(1) })

/** A body that is heavier than it looks, by the names of what it was made of. */
type HeavyBody = {
  /** Where in the request the weight stands. */
  readonly place: string
  readonly weight: string
  /** Of the weight, before it is packed. */
  readonly bytes: number
  readonly coding: Coding | null
  readonly isGrown: boolean
}

/** Counts, depth and lengths in every place; small when packed, whatever they unpack to. */
function heavyBody(): fc.Arbitrary<HeavyBody> {
  // As many small ones as large ones: limits of counts and of depth lie anywhere between.
  const exponent = fc.double({ min: 1, max: Math.log2(4 * 1024 * 1024 - 1_000), noNaN: true })
  return fc.record({
    place: fc.constantFrom(...places.keys()),
    weight: fc.constantFrom(...weights.keys()),
    bytes: exponent.map((power) => Math.round(2 ** power)),
    coding: fc.option(fc.constantFrom('gzip' as const, 'br' as const, 'zstd' as const), { nil: null }),
    isGrown: fc.boolean(),
  })
}

/** Its bytes: as they are sent, and as they were before they were packed. */
function heavyBytes({ place, weight, bytes, coding, isGrown }: HeavyBody) {
  const chat = places.get(place)?.(weights.get(weight)?.(bytes) ?? 'null') ?? around()
  const plain = bodyOf(chat, isGrown)
  return { plain, sent: coding === null ? plain : packed(plain, coding) }
}

const items = texts`
  {} ¦ [] ¦ 0 ¦ null ¦ "" ¦ {"a":0} ¦ [[]] ¦ "\\ud800" ¦ {"type":"text","text":"a"} ¦ {"role":"user","content":"a"}
  {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}} ¦ {"type":"image_url","image_url":{"url":"data:,"}}
  {"type":"function","function":{"name":"f"}} ¦ {"role":"tool","tool_call_id":"a","content":"b"}
`

const letters = texts`a ¦ \u0020 ¦ \\n ¦ \\\\ ¦ \\" ¦ \\u0000 ¦ \\ud83d\\ude00 ¦ é ¦ \\r50 % ¦ \\u001b[2A ¦ words and 12. `

type Weight = (bytes: number) => Json

/** JSON that takes about so many bytes, and far more where it is built. */
const weights: ReadonlyMap<string, Weight> = new Map<string, Weight>([
  ...items.map((item): [string, Weight] => [`many ${item}`, (bytes) => listOf(item, bytes)]),
  ...letters.map((letter): [string, Weight] => [
    `long ${letter}`,
    (bytes) => json`"${times(letter, bytes)}"`,
  ]),
  ['deep [', nested],
  ['deep [ without an end', (bytes) => times('[', bytes)],
  ['deep {', (bytes) => json`${times('{"a":', (bytes * 5) / 6)}0${times('}', bytes / 6)}`],
  ['keys', (bytes) => json`{${keys(bytes)}}`],
  ['digits', (bytes) => times('7', bytes)],
  ['white space', (bytes) => json`${times(' \n\t\r', bytes)}0`],
])

type Place = (value: Json) => Chat

const keysOfMessage = texts`
  content ¦ role ¦ name ¦ tool_calls ¦ tool_call_id ¦ refusal ¦ reasoning_content ¦ reasoning_details ¦ thinking_blocks ¦ x
`

const places: ReadonlyMap<string, Place> = new Map<string, Place>([
  ['an unknown field', (value) => behind(json`"x":${value}`)],
  ['the last field', (value) => before(json`"x":${value}`)],
  ['the messages', (value) => ({ messages: value })],
  ['one message', (value) => around(value)],
  ['the model', (value) => ({ ...around(), model: value })],
  ...['tools', 'max_tokens', 'response_format'].map((key): [string, Place] => [
    key,
    (value) => before(json`"${key}":${value}`),
  ]),
  ...keysOfMessage.map((key): [string, Place] => [
    `${key} of a message`,
    (value) => around(json`{"role":"assistant","content":"a","${key}":${value}}`),
  ]),
  [
    'arguments of a call',
    (value) => {
      const called = { name: 'f', arguments: String(value) }
      const message = { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: called }] }
      return around(JSON.stringify(message))
    },
  ],
  [
    'content of a result',
    (value) =>
      around(
        '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"}}]}',
        json`{"role":"tool","tool_call_id":"c","content":${value}}`,
      ),
  ],
])

function keys(bytes: number): string {
  return Array.from({ length: Math.max(1, Math.floor(bytes / 12)) }, (_, index) => `"k${index}":0`).join()
}
