import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { parse } from 'yaml'
import { resolveProfiles } from '../../../src/profiles/resolve.ts'
import { recapParts } from '../../../src/profiles/schema.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { filesIn, oneOf, readFolderCommand, refuse, text, texts, whole, yes } from '../harness/command.ts'
import { dialects, type RunDialect } from '../harness/lived.ts'
import { readRecordings } from '../harness/recordings.ts'
import { openDropHalf, openQuickModel } from './lasting-policies.ts'
import {
  clearing,
  everything,
  headAndSuffix,
  masking,
  middleOut,
  newestSuffix,
  type Policy,
} from './policies.ts'

/** A row of the table: a Foldgate with this profile, or a policy of the client's own. */
export type Row =
  | {
      readonly kind: 'foldgate'
      readonly name: string
      readonly profile: object
      readonly dialect: RunDialect
    }
  | { readonly kind: 'policy'; readonly name: string }

/** In the order of the table. Each conversation has a policy of its own. */
export const policies: ReadonlyMap<string, () => Policy> = new Map([
  ['everything', () => everything],
  ['newest suffix', () => newestSuffix],
  ['head, newest suffix', () => headAndSuffix],
  ['middle out', () => middleOut],
  ['clearing', () => clearing],
  ['masking', () => masking],
  ['drop half', openDropHalf],
  ['quick 0.7', () => openQuickModel(0.7)],
  ['quick 0.8', () => openQuickModel(0.8)],
])

/**
 * The policies, then Foldgate's strategies, then the profiles that were given. In other APIs than chat completions those of
 * Foldgate's without summaries: clients' policies and the stand-in for a summary model speak chat completions. Beside each of
 * Ollama's stands the same of chat completions.
 */
function rowsOf(profiles: ReadonlyMap<string, object>, dialect: RunDialect): readonly Row[] {
  const given: readonly (readonly [string, object])[] = [
    ['truncate', { strategy: 'truncate' }],
    ['summarize', { strategy: 'summarize' }],
    ...profiles,
  ]
  const foldgates = given.map(([name, profile]) => ({ kind: 'foldgate' as const, name, profile, dialect }))
  const isChat = dialect === 'chat-completions'
  const plain = foldgates.filter(({ profile }) => isChat || !wantsSummaries(profile))
  if (dialect === 'ollama') {
    const chat = { dialect: 'chat-completions' } as const
    return plain.flatMap((row) => [{ ...row, ...chat, name: `${row.name}, chat` }, row])
  }
  if (!isChat) return plain
  return [...[...policies.keys()].map((name) => ({ kind: 'policy' as const, name })), ...foldgates]
}

/** Profiles by the names of their files, none of which is another row's. */
export function readProfiles(paths: readonly string[]): ReadonlyMap<string, object> {
  const raws = new Map<string, object>()
  const taken = new Set(rowsOf(raws, 'chat-completions').map(({ name }) => name))
  for (const path of paths) {
    const raw = parsedFile(path)
    if (!isObject(raw)) refuse(`${path} is no profile.`)
    const name = basename(path, extname(path))
    if (taken.has(name)) refuse(`Two rows would be named ${name}.`)
    taken.add(name)
    raws.set(name, raw)
  }
  const { profiles, problems } = resolveProfiles(raws)
  for (const { profile, path, message } of problems)
    refuse(`The profile ${profile}: ${path.join('.')}: ${message}.`)
  return new Map([...profiles].filter(([name]) => raws.has(name)))
}

/** What `--target` and `--without` ask for: Foldgate as it comes but for how far it goes down, or a part of its recaps. */
export function variantsOf(values: {
  readonly target: readonly string[] | null
  readonly without: readonly string[] | null
}): ReadonlyMap<string, object> {
  const targets = (values.target ?? []).map((share) => {
    const target = Number(share)
    if (!(target > 0 && target <= 1))
      refuse(`--target takes shares above 0 and up to 1, as 0.6: not ${share}.`)
    return [`target ${share}`, { strategy: 'truncate', target }] as const
  })
  const parts = (values.without ?? []).map((part) => {
    const tell = recapParts.filter((each) => each !== part)
    if (tell.length === recapParts.length)
      refuse(`--without takes a part of recaps: ${recapParts.join(', ')}; not ${part}.`)
    return [`without ${part}`, { strategy: 'truncate', recap: { tell } }] as const
  })
  return new Map<string, object>([...targets, ...parts])
}

/** Every row is given the same room, whatever its profile says of the window. */
export function withWindow(profile: object, windowTokens: number): object {
  const { name: _name, ...keys } = { name: '', ...profile }
  const window = 'window' in keys && isObject(keys.window) ? keys.window : {}
  return { ...keys, window: { ...window, tokens: windowTokens } }
}

/** Whether a profile asks for summaries, as it says it: by its strategy, or by naming who is to write them. */
export function wantsSummaries(profile: object): boolean {
  const strategy = 'strategy' in profile ? profile.strategy : 'auto'
  const summary = 'summary' in profile && isObject(profile.summary) ? profile.summary : {}
  const hasWriter = (summary['upstream'] ?? summary['model'] ?? null) !== null
  return strategy === 'summarize' || (strategy === 'auto' && hasWriter)
}

/** Reads the arguments: what is to be measured, and nothing that leaves nothing to measure. */
export function readOptions(args: readonly string[]) {
  const { folder, values } = readFolderCommand(args, flags, 'npm run fidelity -- FOLDER')
  const { window: windowTokens, dialect, reasoning, views, seed, workers, json } = values
  const ratio = values['upstream-ratio']
  const upstreamRatio = Number(ratio)
  if (!/^\d+(?:\.\d+)?$/.test(ratio) || upstreamRatio === 0)
    refuse('--upstream-ratio takes a number above 0, as 1.25.')
  if (views !== null && json) refuse('Views are for people: print them without --json.')
  if (reasoning !== null && !/^\d+$/.test(reasoning)) refuse('--reasoning takes a number of tokens, or 0.')
  if (reasoning !== null && dialect !== 'responses' && dialect !== 'messages')
    refuse('--reasoning is for --dialect responses and messages.')

  if (values.all && values.file !== null) refuse('--all measures every file: leave --file out.')
  const files = filesIn(folder, values.all ? null : (values.file ?? DEFAULT_FILES))
  const rows = rowsOf(new Map([...readProfiles(values.profile ?? []), ...variantsOf(values)]), dialect)
  const there = rows.map(({ name }) => name)
  const asked = values.row ?? there
  for (const name of asked)
    if (!there.includes(name)) refuse(`There is no row named ${name}; there are ${there.join('; ')}.`)
  return {
    folder,
    // Some hold answers, and no request.
    files: values.all ? files.filter((name) => hasRequest(folder, name)) : files,
    room: {
      windowTokens,
      reserveTokens: windowTokens < 2 * RESERVE_TOKENS ? Math.floor(windowTokens / 4) : RESERVE_TOKENS,
    },
    dialect,
    /** How much the model thinks before each reply, where the API has its thoughts sent back. */
    reasoningTokens: Number(reasoning ?? REASONING_TOKENS),
    rows: rows.filter(({ name }) => asked.includes(name)),
    /** How many times our count of a text the upstream's is. */
    upstreamRatio,
    /** Views to be printed; null for none. */
    views: views === null ? null : { count: views, seed },
    workers,
    json,
  }
}

function parsedFile(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

const DEFAULT_FILES = ['coding-long', 'coding-parallel']
const RESERVE_TOKENS = 4000
/** Hardly more than the least that the upstream can seal. */
const REASONING_TOKENS = 40

const flags = {
  file: texts,
  all: yes,
  window: whole(16_000, 2048),
  profile: texts,
  row: texts,
  target: texts,
  without: texts,
  dialect: oneOf(dialects, 'chat-completions'),
  reasoning: text(),
  'upstream-ratio': text('1'),
  views: whole(),
  seed: whole(1),
  workers: whole(2),
  json: yes,
}

const hasRequest = (folder: string, file: string): boolean =>
  readRecordings(folder, file).some(({ points }) => points.length > 0)
