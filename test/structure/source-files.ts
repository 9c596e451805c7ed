import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A module of `src`, by its path there (`pipeline/handle.ts`), with the paths of those that it imports, types included. */
type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly string[] }

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

/**
 * The rooms of `src` from the ground up: a module imports from its own room and from rooms on the same floor or a lower
 * one. Rooms of one floor may use each other, as long as no circle of files comes of it.
 */
const floors = [
  'errors.ts caches.ts optional-packages.ts json conversation',
  'tokens profiles formats',
  'compaction overflow',
  'archive config models recall scheduling storage summaries telemetry upstream',
  'pipeline',
  'server',
  'admin',
  'app.ts',
  'commands',
  'cli.ts main.ts',
].map((rooms) => rooms.split(' '))

/** The imports of a module from a higher floor, and the rooms that have none. */
export const upwardImports = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, imports }) =>
    imports.filter((target) => floorOf(target) > floorOf(path)).map((target) => `${path} imports ${target}`),
  )

/** Rooms that stand on no floor. */
export const roomsWithoutFloor = (files: readonly SourceFile[]): readonly string[] =>
  [...new Set(files.map(({ path }) => roomOf(path)))].filter((room) => !placed.has(room))

/**
 * Members and values of the three wire formats that mean nothing else: code that names one knows what a request or an
 * answer looks like.
 */
const wireNames = [
  // chat completions
  'tool_call_id function_call choices finish_reason delta reasoning_content reasoning_details thinking_blocks',
  'image_url input_audio max_completion_tokens stream_options include_usage response_format prompt_tokens_details',
  // Responses
  'call_id function_call_output encrypted_content previous_response_id item_reference max_output_tokens',
  'input_text output_text compaction_trigger',
  // Messages
  'tool_use tool_result tool_use_id cache_control content_block_delta stop_reason redacted_thinking',
  'input_tokens output_tokens',
].flatMap((names) => names.split(' '))

/** Names that Foldgate's own settings, log and events have, too: these are read from a wire format only as `record['name']`. */
const sharedNames = ['tool_calls', 'prompt_tokens', 'completion_tokens']

/**
 * The lines outside of `formats` that name a wire format. The demo is a client and may. What servers write in their
 * errors is recognised in `overflow`: a name within a pattern or a sample of one is a server's word, and only a member
 * that is read counts there.
 */
export const wireLines = (files: readonly SourceFile[]): readonly string[] =>
  files
    .filter(({ path }) => !/^(?:formats|commands\/demo)\//.test(path))
    .flatMap(({ path, text }) => {
      const named = path.startsWith('overflow/') ? WIRE_MEMBER : WIRE_NAME
      return text
        .split('\n')
        .flatMap((line, at) =>
          !COMMENT.test(line) && named.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
        )
    })

/** The imports of one dialect's folder by a module that is not in it: only the list of dialects knows each of them. */
export const importsOfDialects = (files: readonly SourceFile[]): readonly string[] =>
  files
    .filter(({ path }) => path !== LIST_OF_DIALECTS)
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => {
          const dialect = /^formats\/[^/]+\//.exec(target)?.[0]
          return dialect !== undefined && !sharedFolders.has(dialect) && !path.startsWith(dialect)
        })
        .map((target) => `${path} imports ${target}`),
    )

/** Names that more than one module exports, each with the modules: a reader has to ask which is meant. */
export function namesExportedTwice(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const modules = Map.groupBy(
    files.flatMap(({ path, text }) => exportedIn(text).map((name) => ({ name, path }))),
    ({ name }) => name,
  )
  const repeated = [...modules].filter(([, exporters]) => exporters.length > 1)
  return new Map(repeated.map(([name, exporters]) => [name, exporters.map(({ path }) => path)]))
}

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

const isMutual = (reached: ReadonlyMap<string, ReadonlySet<string>>, one: string, other: string): boolean =>
  (reached.get(one)?.has(other) && reached.get(other)?.has(one)) ?? false

const placed = new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)))

const roomOf = (path: string): string => path.split('/')[0] ?? path

const floorOf = (path: string): number => placed.get(roomOf(path)) ?? floors.length

const LIST_OF_DIALECTS = 'formats/formats.ts'

/** Folders in `formats` that belong to none of them. */
const sharedFolders: ReadonlySet<string> = new Set(['formats/content/', 'formats/media/'])

const WIRE_MEMBER = new RegExp(`\\[['"](?:${[...wireNames, ...sharedNames].join('|')})['"]\\]`)

const WIRE_NAME = new RegExp(
  `(?<![\\w.-])(?:${wireNames.join('|')})(?![\\w-])|['"](?:${sharedNames.join('|')})['"]`,
)

const COMMENT = /^\s*(?:\/\/|\/?\*)/

const EXPORT = /^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm

const exportedIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(EXPORT)].map(([, name = '']) => name)),
]
