import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mutationsIn, type Mutation } from './mutations.ts'

/** A fault in a file of `src`. */
export type Mutant = Mutation & {
  /** Its path in `src`. */
  readonly file: string
  readonly line: number
  /** What stands there without it. */
  readonly original: string
  /** Whether it runs when its file is loaded, and not when a function is called. */
  readonly runsOnLoad: boolean
}

/** Draws mutants of the sources in a folder: some of each room, the rest from wherever there are most. */
export function drawMutants(
  sources: string,
  { seed, count }: { seed: number; count: number },
): readonly Mutant[] {
  const random = randomFrom(seed)
  const all = sourceFiles(sources)
    .flatMap((file) => mutantsOf(file, readFileSync(join(sources, file), 'utf8')))
    .map((mutant) => ({ mutant, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ mutant }) => mutant)
  const ofEachRoom = [...Map.groupBy(all, ({ file }) => file.split('/')[0]).values()].flatMap((room) =>
    room.slice(0, OF_EACH_ROOM),
  )
  return [...new Set([...ofEachRoom, ...all])].slice(0, count)
}

/** Paths of the TypeScript files in a folder, in the order of their names. */
export function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
}

// --- internal ---

const OF_EACH_ROOM = 4

function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { mutations, bodies } = mutationsIn(source)
  return mutations.map((mutation) => ({
    ...mutation,
    file,
    line: source.slice(0, mutation.start).split('\n').length,
    original: source.slice(mutation.start, mutation.end),
    runsOnLoad: !bodies.some(({ start, end }) => start <= mutation.start && mutation.end <= end),
  }))
}

/** Numbers from 0 to 1, the same from the same seed: a linear congruence, of which the upper bits are taken. */
function randomFrom(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n
    return Number(state >> 33n) / 2 ** 31
  }
}
