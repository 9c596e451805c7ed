import type { SourceFile } from './source-files.ts'

/**
 * The rooms of `src` from the ground up: a module imports from its own room and from rooms on the same floor or a lower
 * one. Rooms of one floor may use each other, as long as no circle of files comes of it.
 */
const floors: readonly (readonly string[])[] = [
  ['errors.ts', 'lru-cache.ts', 'optional-packages.ts', 'conversation'],
  ['tokens', 'profiles', 'dialects'],
  ['compaction', 'overflow'],
  [
    'activity',
    'archive',
    'config',
    'heap',
    'log',
    'models',
    'recall',
    'scheduling',
    'stores',
    'summaries',
    'upstream',
  ],
  ['http', 'request'],
  ['admin', 'demo', 'launch'],
  ['app.ts'],
  ['commands'],
  ['cli.ts', 'main.ts'],
]

/** The imports of a module from a higher floor, and the rooms that have none. */
export function upwardImports(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((target) => floorOf(target) > floorOf(path)).map((target) => `${path} imports ${target}`),
  )
}

/** Rooms that stand on no floor. */
export function roomsWithoutFloor(files: readonly SourceFile[]): readonly string[] {
  return [...new Set(files.map(({ path }) => roomOf(path)))].filter((room) => !placed.has(room))
}

// --- internal ---

const placed = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)))

function roomOf(path: string): string {
  return path.split('/')[0] ?? path
}

function floorOf(path: string): number {
  return placed.get(roomOf(path)) ?? floors.length
}
