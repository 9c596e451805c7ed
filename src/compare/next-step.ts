import { doingOf } from '../subject/calls/tool-words.ts'
import { subjectOf } from '../subject/calls/call-subject.ts'
import { isJsonObject, parseJsonText, type JsonObject } from '../conversation/json-value.ts'
import type { Digest } from '../conversation/source.ts'
import type { Reply } from '../dialects/answer-contract.ts'

/** In what two replies are compared. */
export type Aspect = 'tools' | 'paths' | 'commands'

/** What a reply does next, each as a sorted list; all are empty where it only says something. */
export type NextStep = Readonly<Record<Aspect, readonly string[]>>

/** The step that the calls of a reply make: their tools, what paths they name, and what kinds of commands they are. */
export function nextStepOf({ calls }: Pick<Reply, 'calls'>, digest: Digest): NextStep {
  const whole = calls.map(({ name, argumentsText }) => ({ name, argumentsText: completed(argumentsText) }))
  return {
    tools: whole.map(({ name }) => name).toSorted(),
    paths: sorted(
      whole.flatMap((call) => subjectOf(call.name, call.argumentsText, digest).paths.map(nearEnd)),
    ),
    commands: sorted(whole.flatMap(({ name, argumentsText }) => kindsOf(name, argumentsText))),
  }
}

// --- internal ---

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted()

/** How arguments end that were cut in the middle, by the limit of the reply. */
const ends = ['', '"}', '}', '"]}', ']}', '\\"}', 'null}']

function completed(argumentsText: string): string {
  return (
    ends.map((end) => argumentsText + end).find((text) => isJsonObject(parseJsonText(text))) ?? argumentsText
  )
}

/** One file is named from here and from the root, as the model likes: a folder and a name tell files apart well enough. */
const nearEnd = (path: string): string => path.split('/').slice(-2).join('/')

const commandKey = /^(?:commands?|cmd|script|shell|code|input)$/i

/** The programs that a command line runs; of other tools whether they look or change. */
function kindsOf(name: string, argumentsText: string): readonly string[] {
  const value = parseJsonText(argumentsText)
  const given: JsonObject = isJsonObject(value) ? value : {}
  const lines = Object.entries(given).flatMap(([key, field]) =>
    commandKey.test(key) ? [lineOf(field)].filter((line) => line !== '') : [],
  )
  return lines.length === 0 ? [doingOf(name, given)] : lines.flatMap(programsIn)
}

function lineOf(field: unknown): string {
  if (typeof field === 'string') return field
  const words = Array.isArray(field) ? field.filter((word) => typeof word === 'string') : []
  // ["bash", "-lc", "…"]
  return /^-\w*c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ')
}

/** Behind these a line says what it is about. */
const COMMAND_CHARS_MAX = 4_096

const quoted = /'[^']*'|"(?:[^"\\]|\\.)*"/g
const hereDocument = /<<-?\s*(\w+)[^]*?\n\s*\1(?=\s|$)/g
const redirected = /[\d&]?>>?(?:&\d|\s*[^\s;|&]+)/g
const partEnd = /[;|&\n]+/

/** They run what follows, or only say where. */
const passedOver = /^(?:\w+=\S*|(?:\S*\/)?(?:sudo|time|env|exec)|then|do|else|[({!]+)$/
const places: ReadonlySet<string> = new Set(['cd', 'export', 'set', 'source', 'pushd', 'popd'])

/** Their next word is the command. */
const families =
  /^(?:git|gh|npm|npx|pnpm|yarn|bun|cargo|go|docker|kubectl|pip3?|uv|poetry|make|dotnet|bazel|terraform)$/

function programsIn(line: string): readonly string[] {
  const bare = line
    .slice(0, COMMAND_CHARS_MAX)
    .replaceAll(/<<(-?)\s*(['"])(\w+)\2/g, '<<$1$3')
    .replaceAll(hereDocument, '')
    .replaceAll(quoted, '""')
    .replaceAll(redirected, ' ')
  const runs = bare.split(partEnd).flatMap((part) => {
    const words = part.trim().split(/\s+/)
    const from = words.findIndex((word) => !passedOver.test(word))
    const program = (words[from] ?? '').replace(/^.*\//, '')
    if (program === '') return []
    const next = words.slice(from + 1).find((word) => !word.startsWith('-'))
    return [families.test(program) && next !== undefined ? `${program} ${next}` : program]
  })
  const work = runs.filter((run) => !places.has(run))
  return work.length === 0 ? runs : work
}
