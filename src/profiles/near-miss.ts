import { plainSpelling } from './nearest.ts'

/**
 * What people write in place of a key, as other programs spell it or in short, and the line to write instead: data of
 * the schemas, which know only what is right.
 */
export type NearMiss = {
  /** The group that it stands in: keys with dots between, `*` for a name that the user chooses; empty: the root. */
  readonly group: string
  /** The keys, in any case, with or without `-` and `_`. */
  readonly keys: readonly string[]
  /** The values that it is about; any other is somebody else's mistake. Default: all. */
  readonly value?: ValueKind
  /**
   * What to do. VALUE stands for the value that was written, where that can be shown: an address, a number or a name; a
   * near miss of a key that may hold a credential has none.
   */
  readonly advice: string
}

export type ValueKind = 'address' | 'bare-address' | 'number' | 'off' | 'on' | 'text'

/** What to write instead of the key or value at `path`; null if it is no near miss that is known. */
export function lineToWrite(
  misses: readonly NearMiss[],
  path: readonly PropertyKey[],
  value: unknown,
): string | null {
  const key = plainSpelling(String(path.at(-1)))
  const miss = misses.find(
    ({ group, keys, value: kind }) =>
      keys.some((each) => each === '*' || plainSpelling(each) === key) &&
      isGroupAt(group, path.slice(0, -1)) &&
      (kind === undefined || isOfKind[kind](value)),
  )
  return miss?.advice.replaceAll('VALUE', () => shown(miss.value, value)) ?? null
}

/** Reads numbers as people write them: "8192", 128k, 128_000, 128,000, 75%, 0,75. */
export function readNumber(text: string): number | null {
  const parts = /^(\d[\d_,]*(?:\.\d+)?)\s*(k|%)?$/i.exec(text.trim())
  if (parts === null) return null
  const written = parts[1] ?? ''
  // A comma sets thousands apart, or stands for the point.
  const isDecimal = /^\d+,\d+$/.test(written) && (written.startsWith('0,') || !/,\d{3}$/.test(written))
  const number = Number(isDecimal ? written.replace(',', '.') : written.replaceAll(/[_,]/g, ''))
  const unit = parts[2]?.toLowerCase()
  if (unit === 'k') return number * 1000
  return unit === '%' ? number / 100 : number
}

// --- internal ---

const isOfKind: Readonly<Record<ValueKind, (value: unknown) => boolean>> = {
  address: (value) => typeof value === 'string' && /^https?:\/\//i.test(value),
  'bare-address': (value) => typeof value === 'string' && bareAddress.test(value),
  number: (value) => numberIn(value) !== null,
  off: (value) => value === false || value === 'off' || value === 'no' || value === 'none',
  on: (value) => value === true || value === 'on' || value === 'yes',
  text: (value) => typeof value === 'string' && value !== '',
}

function isGroupAt(group: string, path: readonly PropertyKey[]): boolean {
  const steps = group === '' ? [] : group.split('.')
  return steps.length === path.length && steps.every((step, at) => step === '*' || step === path[at])
}

function shown(kind: ValueKind | undefined, value: unknown): string {
  if (kind === 'number') return String(numberIn(value))
  if (kind === 'bare-address') return String(value)
  if (kind === 'address') return plainAddress(value) ?? 'URL'
  return typeof value === 'string' && plainName.test(value) ? value : 'NAME'
}

function numberIn(value: unknown): number | null {
  return typeof value === 'string' ? readNumber(value) : typeof value === 'number' ? value : null
}

/** An address may hold a credential: as user and password, in its query or as a path that nobody could guess. */
function plainAddress(value: unknown): string | null {
  const isPlain =
    typeof value === 'string' && /^https?:\/\/[\w.:[\]-]+(?:\/[\w.-]{1,32}){0,4}\/?$/i.test(value)
  return isPlain ? value : null
}

/** Host and port, which no key is. */
const bareAddress = /^[\w.-]{1,100}:\d{1,5}(?:\/[\w.-]{1,32}){0,4}\/?$/

/** Names of models, profiles and upstreams, and patterns on them. */
const plainName = /^[a-z][\w./:*?-]{0,63}(?<!:)$/i
