import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { meant, odd, profileOf, settingsOf, type Values } from './odd-settings.ts'
import { texts } from '../texts.ts'

/** A file of settings or a profile, and its bytes. */
export type OddFile = {
  readonly name: 'foldgate.yaml' | 'profiles/odd.yaml' | 'profiles/default.yaml'
  readonly bytes: Buffer
}

/** Files that are well written, that say odd things, that are damaged, or that are something else. */
export function oddFile(): fc.Arbitrary<OddFile> {
  return fc.oneof(
    { weight: 4, arbitrary: file('profiles/odd.yaml', profileOf) },
    { weight: 2, arbitrary: file('profiles/default.yaml', profileOf) },
    { weight: 3, arbitrary: file('foldgate.yaml', settingsOf) },
  )
}

// --- internal ---

const fragments = [
  ...texts`
    \t ¦ \u0000 ¦ \u0007 ¦ \u001b[2J ¦ &a\u0020 ¦ *a ¦ *b ¦ !!js/function x ¦ !x\u0020 ¦ ---\n ¦ ...\n
    :\u0020 ¦ -\u0020 ¦ " ¦ ' ¦ \u0060 ¦ @ ¦ %YAML 9.9\n ¦ { ¦ } ¦ [ ¦ ] ¦ \n ¦ \n \u0020 ¦ \n\t
    <<: *a ¦ ?\u0020 ¦ | ¦ >-\n ¦ # ¦ \ufeff ¦ \u2028 ¦ \r ¦ a: &a [*a]\n ¦ \nwindow: {tokens: 1}\n
  `,
]

const wholes: readonly (() => string)[] = [
  () => '',
  () => '[',
  () => 'null',
  () => '- a\n- b',
  () => '42',
  () => '['.repeat(100_000),
  () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  () => '{a: '.repeat(20_000),
  () => '- '.repeat(20_000),
  () => Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  () =>
    `a: &a [x, x]\nb: &b [${'*a, '.repeat(60)}*a]\nc: &c [${'*b, '.repeat(60)}*b]\nd: [${'*c, '.repeat(60)}*c]`,
  () => 'a: &a\n  b: *a',
  () => `# ${'x'.repeat(2 * 1024 * 1024)}`,
  () => `models: [${'m, '.repeat(100_000)}m]`,
  () => Array.from({ length: 20_000 }, (_, index) => `key${index}: ${index}`).join('\n'),
  () => `"${'k'.repeat(2_000)}": 1`,
]

const place = fc.integer({ min: 0, max: 1_000 })

const damage: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...fragments)).map(([share1000, fragment]) => (text: string) => {
    const index = Math.floor((text.length * share1000) / 1_000)
    return text.slice(0, index) + fragment + text.slice(index)
  }),
  place.map((share1000) => (text: string) => text.slice(0, Math.floor((text.length * share1000) / 1_000))),
  place.map(
    (share1000) => (text: string) => text + text.slice(Math.floor((text.length * share1000) / 1_000)),
  ),
)

function file(
  path: OddFile['name'],
  contentOf: (values: Values) => fc.Arbitrary<unknown>,
): fc.Arbitrary<OddFile> {
  const sound = spelt(contentOf(meant))
  const strange = spelt(contentOf(odd))
  const damaged = fc
    .tuple(fc.oneof(sound, strange), fc.array(damage, { minLength: 1, maxLength: 3 }))
    .map(([text, damages]) => damages.reduce((changed, damaging) => damaging(changed), text))
  const bytes = fc.oneof(
    { weight: 6, arbitrary: sound.map((text) => Buffer.from(text)) },
    { weight: 4, arbitrary: strange.map((text) => Buffer.from(text)) },
    { weight: 3, arbitrary: damaged.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.constantFrom(...wholes).map((whole) => Buffer.from(whole())) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some)) },
  )
  return bytes.map((made) => ({
    name: path,
    bytes: made,
    toString: () => JSON.stringify([path, made.toString('utf8')]),
  }))
}

/** As YAML, or as the JSON that is YAML, too. */
function spelt(content: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc
    .tuple(content, fc.boolean())
    .map(([value, isJson]) => (isJson ? JSON.stringify(value) : stringify(value)))
}
