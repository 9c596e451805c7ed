import type { HeldOutline, Treated } from '../../telemetry/request-report.ts'
import { figure, plural } from './markup.ts'

/**
 * What a compaction did: `18 old results cleared, 31 messages folded into a recap of 1,900 tokens; the newest 14 stand as
 * they were`. Null if it changed nothing.
 */
export function compactionWords(treated: Treated, entry: HeldOutline['entryName']): string | null {
  const done = parts.flatMap(([name, words]) => {
    const count = treated[name] ?? 0
    return count === 0 ? [] : words(count, entry, treated)
  })
  if (done.length === 0) return null
  const newest = treated.newest_kept ?? 0
  const left =
    newest === 0
      ? ''
      : newest === 1
        ? '; the newest one stands as it was'
        : `; the newest ${figure(newest)} stand as they were`
  return `${done.join(', ')}${left}`
}

/** The numbers of an event of the journal, which another version may have written otherwise. */
export function treatedInDetails(details: Readonly<Record<string, unknown>>): Treated {
  const numbers = Object.entries(details).flatMap(([name, value]) =>
    isTreatedName(name) && typeof value === 'number' ? [[name, value] as const] : [],
  )
  return Object.fromEntries(numbers)
}

/** Whether the journal has one of these numbers under this name. */
export function isTreatedName(name: string): boolean {
  return treatedNames.has(name)
}

// --- internal ---

const parts: readonly (readonly [
  name: keyof Treated,
  words: (count: number, entry: HeldOutline['entryName'], treated: Treated) => string,
])[] = [
  ['resolved', (count) => `${plural(count, 'earlier result')} sent again where it was referred to`],
  ['cleared', (count) => `${plural(count, 'old result')} cleared`],
  ['previewed', (count) => `${plural(count, 'large result')} previewed`],
  ['rendered', (count) => `${plural(count, 'output')} rendered`],
  ['unloaded', (count, entry) => `images or files of ${plural(count, entry)} unloaded`],
  ['clipped', (count, entry) => `${plural(count, entry)} clipped`],
  ['folded', (count, entry, treated) => `${plural(count, entry)} folded${intoWords(treated)}`],
  ['dropped', (count, entry) => `${plural(count, entry)} dropped for want of room`],
  ['outdated', (count, entry) => `${plural(count, entry)} of outdated reasoning left out`],
  ['unbound', (count, entry) => `${plural(count, entry)} sent without old reasoning`],
  ['joined', (count, entry) => `${plural(count, entry)} joined to the one before`],
]

/** The names under which the journal has these numbers. */
const treatedNames: ReadonlySet<string> = new Set<keyof Treated>([
  ...parts.map(([name]) => name),
  'summary_tokens',
  'recap_tokens',
  'newest_kept',
])

function intoWords({ summary_tokens: summary, recap_tokens: recap }: Treated): string {
  const made = [
    ...(summary === undefined ? [] : [`a summary of ${plural(summary, 'token')}`]),
    ...(recap === undefined ? [] : [`a recap of ${plural(recap, 'token')}`]),
  ]
  return made.length === 0 ? '' : ` into ${made.join(' and ')}`
}
