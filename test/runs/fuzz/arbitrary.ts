import * as fc from 'fast-check'

/**
 * Texts with separators between them, `¦` or the end of a line; blanks around them do not count. They are spelt as in JSON,
 * without quotes: what has to begin or end with a blank spells it `\u0020`. What is filled in stays as it is.
 */
export function texts({ raw }: TemplateStringsArray, ...values: readonly string[]): string[] {
  const spelt = raw.map((part) => part.replaceAll('"', String.raw`\"`))
  const filled = spelt.map((part, index) => part + JSON.stringify(values[index] ?? '').slice(1, -1))
  return filled
    .join('')
    .split(/[\n¦]/)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => String(JSON.parse(`"${text}"`)))
}

/** One of such texts. */
export function oneText(parts: TemplateStringsArray, ...values: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...texts(parts, ...values))
}

type Choice = fc.Arbitrary<unknown> | readonly [weight: number, arbitrary: fc.Arbitrary<unknown>]

type ValueOf<One> =
  One extends fc.Arbitrary<infer Value>
    ? Value
    : One extends readonly [number, fc.Arbitrary<infer Value>]
      ? Value
      : never

/** One of several, each with its weight, which is 1 where none is given. */
export function anyOf<const Choices extends readonly Choice[]>(
  ...choices: Choices
): fc.Arbitrary<ValueOf<Choices[number]>>
export function anyOf(...choices: readonly Choice[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    ...choices.map((choice) =>
      choice instanceof fc.Arbitrary
        ? { weight: 1, arbitrary: choice }
        : { weight: choice[0], arbitrary: choice[1] },
    ),
  )
}

/** An object with any of these members. */
export function withSome(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  return fc.record(members, { requiredKeys: [] })
}

/** At most so many of something. */
export function upTo<Value>(maxLength: number, one: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> {
  return fc.array(one, { maxLength })
}

const values = [1e308, -0, 5e-324, 2 ** 53, -1, 0, '', [], {}, null, true, '\ud800', '\u0000']

/** Any JSON, that of an unusual kind more often than by chance. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(...values),
)

/** One of these, or any JSON. */
export function anyOr(...words: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.oneof(fc.constantFrom(...words), anyJson)
}

/** A place in something, as a share of a thousand, so that it means the same in something smaller. */
export const place = fc.integer({ min: 0, max: 1_000 })

export function indexAt(length: number, share: number): number {
  return Math.min(Math.floor((length * share) / 1_000), Math.max(0, length - 1))
}

/** What has been done to a text or to bytes: nothing, or one thing after the other. */
type Damage = (bytes: Buffer) => Buffer

/** Cuts, flips and doubles what is there, up to so many times, and puts `fragments` somewhere into it. */
export function damages(
  fragments: readonly string[],
  { intact, most }: { readonly intact: number; readonly most: number },
): fc.Arbitrary<Damage | null> {
  const fragment = fc.constantFrom(...fragments.map((each) => Buffer.from(each)), ...oddBytes)
  const damage = fc.oneof(
    place.map((at) => (bytes: Buffer) => bytes.subarray(0, indexAt(bytes.length, at))),
    place.map((at) => (bytes: Buffer) => bytes.subarray(indexAt(bytes.length, at))),
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, mask]) => (bytes: Buffer) => {
      const changed = Buffer.from(bytes)
      const index = indexAt(bytes.length, at)
      changed[index] = (changed[index] ?? 0) ^ mask
      return changed
    }),
    fc.tuple(place, fragment).map(([at, inserted]) => (bytes: Buffer) => {
      const index = indexAt(bytes.length, at)
      return Buffer.concat([bytes.subarray(0, index), inserted, bytes.subarray(index)])
    }),
    fragment.map((first) => (bytes: Buffer) => Buffer.concat([first, bytes])),
    fragment.map((last) => (bytes: Buffer) => Buffer.concat([bytes, last])),
    fc.tuple(place, place).map(([one, other]) => (bytes: Buffer) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)]
      return Buffer.concat([bytes, bytes.subarray(indexAt(bytes.length, from), indexAt(bytes.length, to))])
    }),
  )
  const several = fc.array(damage, { minLength: 1, maxLength: most })
  const all = several.map(
    (each) => (bytes: Buffer) => each.reduce<Buffer>((before, one) => one(before), bytes),
  )
  return anyOf([intact, fc.constant(null)], all)
}

/** The same JSON with one of its fields, at any depth, replaced; the text as it is where it is no JSON. */
export function withOtherField(text: string, share: number, other: unknown): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  const places: { readonly holder: object; readonly key: string }[] = []
  const visit = (holder: object): void => {
    for (const [key, inner] of Object.entries(holder)) {
      places.push({ holder, key })
      if (typeof inner === 'object' && inner !== null) visit(inner)
    }
  }
  if (typeof value === 'object' && value !== null) visit(value)
  const chosen = places[indexAt(places.length, share)]
  if (chosen === undefined) return JSON.stringify(other)
  Reflect.set(chosen.holder, chosen.key, other)
  return JSON.stringify(value)
}

/** With every character beyond ASCII as an escape of JSON. */
export function escaped(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Bytes that are no UTF-8, or that nobody expects where they stand. */
const oddBytes: readonly Buffer[] = [
  ...[[0], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8], [0xe2, 0x82], [0xef, 0xbb, 0xbf]].map((each) =>
    Buffer.from(each),
  ),
  ...['\u2028', '\u00a0', '\\ud800', '\\udc00', '\\u0000', '1e999'].map((each) => Buffer.from(each)),
]
