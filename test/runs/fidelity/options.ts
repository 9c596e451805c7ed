import { filesIn, oneOf, readFolderCommand, refuse, text, texts, whole, yes } from '../harness/command.ts'
import { dialects } from '../harness/lived.ts'
import { readRecordings } from '../harness/recordings.ts'
import { readProfiles, rowsOf } from './rows.ts'

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
  if (reasoning !== null && dialect === 'chat-completions')
    refuse('--reasoning is for --dialect responses and messages.')

  if (values.all && values.file !== null) refuse('--all measures every file: leave --file out.')
  const files = filesIn(folder, values.all ? null : (values.file ?? DEFAULT_FILES))
  const rows = rowsOf(readProfiles(values.profile ?? []), dialect)
  const there = rows.map(({ name }) => name)
  const asked = values.row ?? there
  for (const name of asked)
    if (!there.includes(name)) refuse(`There is no row named ${name}; there are ${there.join('; ')}.`)
  return {
    folder,
    // Some hold answers, and no request.
    files: values.all ? files.filter((name) => hasRequest(folder, name)) : files,
    room: { windowTokens, reserveTokens: RESERVE_TOKENS },
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

// --- internal ---

const DEFAULT_FILES = ['coding-long', 'coding-parallel']
const RESERVE_TOKENS = 4000
/** Hardly more than the least that the upstream can seal. */
const REASONING_TOKENS = 40

const flags = {
  file: texts,
  all: yes,
  window: whole(16_000, 2 * RESERVE_TOKENS),
  profile: texts,
  row: texts,
  dialect: oneOf(dialects, 'chat-completions'),
  reasoning: text(),
  'upstream-ratio': text('1'),
  views: whole(),
  seed: whole(1),
  workers: whole(2),
  json: yes,
}

function hasRequest(folder: string, file: string): boolean {
  return readRecordings(folder, file).some(({ points }) => points.length > 0)
}
