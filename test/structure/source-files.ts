import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A module of `src`, with what it imports of it. */
export type SourceFile = {
  /** Its path in `src`: `request/handle.ts`. */
  readonly path: string
  readonly text: string
  /** The paths in `src` of the modules that it imports, types included. */
  readonly imports: readonly string[]
}

/** The modules of `src`, in the order of their paths. */
export function readSources(): readonly SourceFile[] {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(SOURCES, path), 'utf8')
      return { path, text, imports: importsIn(path, text) }
    })
}

/** The lines of `src` that somebody has to read: modules and the page's assets, but no data. */
export function countLines(): number {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => READ_BY_PEOPLE.test(name))
    .reduce((sum, name) => sum + (readFileSync(join(SOURCES, name), 'utf8').match(/\n/g) ?? []).length, 0)
}

/** Modules that import each other in a circle: the members of each. */
export function circlesIn(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const reached = new Map(files.map((file) => [file.path, reachedFrom(file, files)]))
  const circles = new Map<string, string[]>()
  for (const { path } of files) {
    if (!reached.get(path)?.has(path)) continue
    const members = files.map((other) => other.path).filter((other) => isMutual(reached, path, other))
    circles.set(members[0] ?? path, members)
  }
  return [...circles.values()]
}

// --- internal ---

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

const READ_BY_PEOPLE = /\.(ts|js|css|html|svg)$/

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*'(\.{1,2}\/[^']+\.ts)'/g

function importsIn(path: string, text: string): readonly string[] {
  const found = [...text.matchAll(IMPORT)].map(([, target = '']) =>
    relative(SOURCES, join(SOURCES, dirname(path), target)),
  )
  return [...new Set(found)]
}

function reachedFrom(file: SourceFile, files: readonly SourceFile[]): ReadonlySet<string> {
  const importsOf = new Map(files.map((each) => [each.path, each.imports]))
  const reached = new Set<string>()
  const next = [...file.imports]
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    next.push(...(importsOf.get(path) ?? []))
  }
  return reached
}

function isMutual(reached: ReadonlyMap<string, ReadonlySet<string>>, one: string, other: string): boolean {
  return (reached.get(one)?.has(other) && reached.get(other)?.has(one)) ?? false
}
