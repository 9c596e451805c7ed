import * as fc from 'fast-check'
import { around, bodyOf, concat, listOf, nested, times, type Chat, type Json } from '../../attacks/attack.ts'
import { packed, type Coding } from '../../attacks/packed.ts'
import { texts } from '../texts.ts'

/** A body that is heavier than it looks, by the names of what it was made of. */
export type HeavyBody = {
  /** Where in the request the weight stands. */
  readonly place: string
  readonly weight: string
  /** Of the weight, before it is packed. */
  readonly bytes: number
  readonly coding: Coding | null
  readonly isGrown: boolean
}

/** Counts, depth and lengths in every place; small when packed, whatever they unpack to, up to `bytesMax`. */
export function heavyBody(bytesMax: number): fc.Arbitrary<HeavyBody> {
  return fc.record({
    place: fc.constantFrom(...places.keys()),
    weight: fc.constantFrom(...weights.keys()),
    // As many small ones as large ones: limits of counts and of depth lie anywhere between.
    bytes: fc
      .double({ min: 1, max: Math.log2(bytesMax), noNaN: true })
      .map((exponent) => Math.round(2 ** exponent)),
    coding: fc.option(fc.constantFrom('gzip' as const, 'br' as const, 'zstd' as const), { nil: null }),
    isGrown: fc.boolean(),
  })
}

/** Its bytes: as they are sent, and as they were before they were packed. */
export function heavyBytes({ place, weight, bytes, coding, isGrown }: HeavyBody): {
  readonly plain: Buffer
  readonly sent: Buffer
} {
  const value = weights.get(weight)?.(bytes) ?? 'null'
  const chat = places.get(place)?.(value) ?? around()
  const plain = bodyOf(chat, isGrown)
  return { plain, sent: coding === null ? plain : packed(plain, coding) }
}

// --- internal ---

const items = texts`
  {} ¦ [] ¦ 0 ¦ null ¦ "" ¦ {"a":0} ¦ [[]] ¦ "\\ud800" ¦ {"type":"text","text":"a"} ¦ {"role":"user","content":"a"}
  {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}} ¦ {"type":"image_url","image_url":{"url":"data:,"}}
  {"type":"function","function":{"name":"f"}} ¦ {"role":"tool","tool_call_id":"a","content":"b"}
`

const letters = texts`a ¦ \u0020 ¦ \\n ¦ \\\\ ¦ \\" ¦ \\u0000 ¦ \\ud83d\\ude00 ¦ é ¦ \\r50 % ¦ \\u001b[2A ¦ words and 12. `

/** JSON that takes about so many bytes, and far more where it is built. */
const weights: ReadonlyMap<string, (bytes: number) => Json> = new Map<string, (bytes: number) => Json>([
  ...items.map((item) => [`many ${item}`, (bytes: number) => listOf(item, bytes)] as const),
  ...letters.map(
    (letter) => [`long ${letter}`, (bytes: number) => concat(['"', times(letter, bytes), '"'])] as const,
  ),
  ['deep [', nested],
  ['deep [ without an end', (bytes) => times('[', bytes)],
  ['deep {', (bytes) => concat([times('{"a":', (bytes * 5) / 6), '0', times('}', bytes / 6)])],
  ['keys', (bytes) => concat(['{', keys(bytes), '}'])],
  ['digits', (bytes) => times('7', bytes)],
  ['white space', (bytes) => concat([times(' \n\t\r', bytes), '0'])],
])

const places: ReadonlyMap<string, (value: Json) => Chat> = new Map<string, (value: Json) => Chat>([
  ['an unknown field', (value) => ({ ...around(), before: [concat(['"x":', value])] })],
  ['the last field', (value) => ({ ...around(), after: [concat(['"x":', value])] })],
  ['the messages', (value) => ({ messages: [], insteadOfMessages: value })],
  ['one message', (value) => around(value)],
  ['the model', (value) => ({ ...around(), model: value })],
  ['tools', (value) => ({ ...around(), after: [concat(['"tools":', value])] })],
  ['max_tokens', (value) => ({ ...around(), after: [concat(['"max_tokens":', value])] })],
  ['response_format', (value) => ({ ...around(), after: [concat(['"response_format":', value])] })],
  ...texts`content ¦ role ¦ name ¦ tool_calls ¦ tool_call_id ¦ refusal ¦ reasoning_content ¦ reasoning_details ¦ thinking_blocks ¦ x`.map(
    (key) =>
      [
        `${key} of a message`,
        (value: Json) => around(concat(['{"role":"assistant","content":"a","', key, '":', value, '}'])),
      ] as const,
  ),
  [
    'content of a result',
    (value) =>
      around(
        '{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"}}]}',
        concat(['{"role":"tool","tool_call_id":"c","content":', value, '}']),
      ),
  ],
])

function keys(bytes: number): string {
  return Array.from({ length: Math.max(1, Math.floor(bytes / 12)) }, (_, index) => `"k${index}":0`).join()
}
