import * as fc from 'fast-check'
import { texts } from '../texts.ts'
import { anyCharacter } from '../../../support/any-character.ts'

/** Makes another value of one that was kept, and says how. */
export type DamageValue = {
  /** `beside` are the values that lie beside it. */
  readonly change: (value: string, beside: readonly string[]) => string
  readonly toString: () => string
}

/** Any damage: other text, another entry's value, a character, an end, or one field of the JSON that it is. */
export function damageValue(): fc.Arbitrary<DamageValue> {
  const otherText = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...others) },
    fc.string({ unit: anyCharacter }),
  )
  const otherField = fc.oneof(fc.constantFrom(...odd), fc.jsonValue({ maxDepth: 2 }))
  return fc.oneof(
    { weight: 3, arbitrary: otherText.map((text) => told(() => text, ['is', text])) },
    {
      weight: 2,
      arbitrary: place.map((at) =>
        told((value, beside) => beside[indexOf(at, beside.length)] ?? value, ['is another', at]),
      ),
    },
    {
      weight: 2,
      arbitrary: place.map((at) =>
        told((value) => value.slice(0, indexOf(at, value.length)), ['is cut at', at]),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(place, fc.integer({ min: 1, max: 127 }))
        .map(([at, mask]) =>
          told((value) => flipped(value, indexOf(at, value.length), mask), ['is flipped at', at, mask]),
        ),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(place, otherField)
        .map(([at, other]) => told((value) => withOtherField(value, at, other), ['has at', at, other])),
    },
  )
}

// --- internal ---

function told(change: DamageValue['change'], how: readonly unknown[]): DamageValue {
  return { change, toString: () => JSON.stringify(how).slice(0, 400) }
}

const oddTexts = texts`
  x ¦ -1 ¦ NaN ¦ __proto__ ¦ \u0000 ¦ \ud800 ¦ 2999-12-31T00:00:00.000Z ¦ ../.. ¦ ${'x'.repeat(20_000)}
`
const oddNumbers = [0, -1, 1, 0.5, -0.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 8.64e15 + 1, 4_102_444_800_000]

const odd: readonly unknown[] = [
  null,
  true,
  false,
  '',
  [],
  {},
  [null],
  { length: -1 },
  ...oddNumbers,
  ...oddTexts,
]

const others = [
  '',
  ...texts`
    \u0020 ¦ null ¦ [] ¦ {} ¦ 0 ¦ "" ¦ "x" ¦ true ¦ { ¦ [1, ¦ undefined ¦ \u0000 ¦ \ufeff{} ¦ {"__proto__":1}
    ${'['.repeat(20_000)} ¦ ${'{"a":'.repeat(20_000)} ¦ ${'x'.repeat(1_000_000)} ¦ ${'9'.repeat(400)}
    {"version":1e999}
  `,
]

const place = fc.integer({ min: 0, max: 1_000 })

function indexOf(share: number, length: number): number {
  return Math.min(Math.floor((length * share) / 1_000), Math.max(0, length - 1))
}

function flipped(value: string, at: number, mask: number): string {
  return value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ mask) + value.slice(at + 1)
}

/** The same JSON with one of its fields, at any depth, replaced; the text as it is where it is no JSON. */
function withOtherField(text: string, share: number, other: unknown): string {
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
  const chosen = places[indexOf(share, places.length)]
  if (chosen === undefined) return JSON.stringify(other)
  Reflect.set(chosen.holder, chosen.key, other)
  return JSON.stringify(value)
}
