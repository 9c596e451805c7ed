import * as fc from 'fast-check'
import { times } from './times.ts'

/** JSON that keeps how it is written: a text is taken as it is, the rest is written with chosen spaces and escapes. */
export type Json =
  | string
  | number
  | boolean
  | null
  | { raw: string }
  | readonly Json[]
  | { entries: readonly [Json, Json][] }

function writeJson(value: Json, next: () => number): string {
  const space = () => [' ', '\n', '\t', '\r\n', '', '', '', ''][next() % 8] ?? ''
  if (typeof value === 'string') return writeString(value, next)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if ('raw' in value) return value.raw
  if (isList(value))
    return `[${value.map((inner) => space() + writeJson(inner, next) + space()).join(',') || space()}]`
  const entries = value.entries.map(
    ([key, inner]) =>
      `${space()}${writeJson(key, next)}${space()}:${space()}${writeJson(inner, next)}${space()}`,
  )
  return `{${entries.join(',') || space()}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

export function writeString(text: string, next: () => number): string {
  const units = times(text.length, (index) => text.charAt(index))
  // A lone surrogate can only be sent escaped: UTF-8 has no bytes for it.
  const mustEscape = !text.isWellFormed()
  const written = units.map((unit) => {
    const isSurrogate = /[\ud800-\udfff]/.test(unit)
    if ((isSurrogate && mustEscape) || (!isSurrogate && next() % 6 === 0)) {
      const digits = unit.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${next() % 2 === 0 ? digits : digits.toUpperCase()}`
    }
    return isSurrogate ? unit : JSON.stringify(unit).slice(1, -1)
  })
  return `"${written.join('')}"`
}

export const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', '\n', '{', ']', ',', ':', 'ä', '\ud83d', '\ude00'),
    maxLength: 8,
  }),
)

const raw = fc
  .constantFrom(...'1e400 -0 12345678901234567890 1E-7 0.10 [[[]]] {"messages":[{"role":"user"}]}'.split(' '))
  .map((value) => ({ raw: value }))

export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, 7),
    raw,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(text, tie('json')), { maxLength: 3 }).map((entries) => ({ entries })),
  ),
})).json

/** An object of these fields, in this order. */
export const written = (...entries: readonly [Json, Json][]): Json => ({ entries })

/** A body with these messages, and with members around them. */
export const bodyOf = (
  messages: fc.Arbitrary<Json>,
  members: fc.Arbitrary<[Json, Json][]> = fc.constant([]),
) =>
  fc
    .tuple(
      messages,
      members,
      fc.array(fc.tuple(text, anyJson), { maxLength: 3 }),
      anyJson,
      fc.infiniteStream(fc.nat(23)),
      fc.nat(4),
    )
    .map(([list, around, others, tools, numbers, place]) => {
      const entries: [Json, Json][] = [['model', 'm'], ['tools', tools], ...around, ...others]
      entries.splice(place, 0, ['messages', list])
      const next = () => numbers.next().value ?? 0
      return Buffer.from(writeJson({ entries }, next))
    })

/** Bodies of which some bytes were changed at random. */
export function changedBodies(bodies: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const interesting = fc.oneof(
    fc.constantFrom(...Array.from('{}[]",:\\ \n\t0-.eEtfnu\0\x0b', (character) => character.charCodeAt(0))),
    fc.nat(255),
  )
  const change = fc.tuple(fc.nat(), interesting, fc.constantFrom('replace', 'insert', 'remove', 'repeat'))
  return fc.tuple(bodies, fc.array(change, { minLength: 1, maxLength: 3 })).map(([body, changes]) => {
    const bytes = [...body]
    for (const [where, byte, how] of changes) {
      const index = where % bytes.length
      if (how === 'replace') bytes[index] = byte
      else if (how === 'insert') bytes.splice(index, 0, byte)
      else if (how === 'remove') bytes.splice(index, 1)
      else bytes.splice(index, 0, ...bytes.slice(index, index + (byte % 40)))
    }
    return Buffer.from(bytes)
  })
}
