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

/** The near misses of a group: keys, values (null: any), advice. */
export function missesIn(
  group: string,
  misses: readonly (readonly [keys: readonly string[], value: ValueKind | null, advice: string])[],
): NearMiss[] {
  return misses.map(([keys, value, advice]) => ({ group, keys, ...(value !== null && { value }), advice }))
}

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

/** Longer words are not compared: no key or name of ours is near them, and the work stays bounded. */
const wordCharactersMax = 64

/**
 * The candidate that `word` was most likely meant to be, or null if none is near: at most one slip in
 * three letters, or else one that has it as a whole word (`recent` for `recent_messages`). `maxTokens` and
 * `max-tokens` are `max_tokens` to it. Of equally near ones the first wins.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > wordCharactersMax) return null
  const all = [...candidates]
  const plain = plainSpelling(word)
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1
  for (const candidate of all) {
    const distance = editDistance(plain, plainSpelling(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? all.find((candidate) => candidate.split('_').includes(word.toLowerCase())) ?? null
}

/** Asks whether the nearest candidate was meant; `otherwise` if none is near. */
export function meantOr(word: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearest(word, candidates)
  return near === null ? otherwise : `did you mean "${near}"?`
}

/**
 * @internal exported for tests. Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      let distance = Math.min(
        cell(previous, column) + 1,
        cell(current, column - 1) + 1,
        cell(previous, column - 1) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) distance = Math.min(distance, cell(beforePrevious, column - 2) + 1)
      current.push(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return cell(previous, to.length)
}

// --- internal ---

/** Without what spellings of one name differ in. */
function plainSpelling(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '')
}

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

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
