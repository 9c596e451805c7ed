import { isJsonObject, parseJsonText } from '../../conversation/json-value.ts'
import { firstWords } from './readable-text.ts'

type Call = { readonly name: string; readonly argumentsText: string }

/** A call in a line, with what tells it from others of its tool: `read_file src/app.ts`, `bash: npm test`. */
export function callWords({ name, argumentsText }: Call): string {
  const tool = name === '' ? 'a tool' : name
  const found = telling(argumentsText)
  if (found === null) return tool
  const line = firstWords(found.value, LINE_CHARS_MAX)
  return line === '' ? tool : `${tool}${found.isName ? ' ' : ': '}${line}`
}

/** The arguments of a call as one would read them, each behind its name with its own line breaks. */
export function argumentWords(argumentsText: string): string {
  const value = parsed(argumentsText)
  if (!isJsonObject(value)) return argumentsText
  return Object.entries(value)
    .map(
      ([name, argument]) => `${name}: ${typeof argument === 'string' ? argument : JSON.stringify(argument)}`,
    )
    .join('\n')
}

// --- internal ---

const LINE_CHARS_MAX = 140

/** Longer ones, which are cut before they come here, are no JSON any more. */
const PARSED_CHARS_MAX = 50_000

/** By which argument people know a call, the most telling first; `isName`: a file or an address, which says it by itself. */
const tellingKeys: readonly { readonly key: string; readonly isName: boolean }[] = [
  { key: 'command', isName: false },
  { key: 'cmd', isName: false },
  { key: 'file_path', isName: true },
  { key: 'filePath', isName: true },
  { key: 'path', isName: true },
  { key: 'filename', isName: true },
  { key: 'file', isName: true },
  { key: 'notebook_path', isName: true },
  { key: 'url', isName: true },
  { key: 'pattern', isName: false },
  { key: 'query', isName: false },
  { key: 'description', isName: false },
  { key: 'prompt', isName: false },
]

/** The files of a patch that is the whole argument. */
const patchedFile = /^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$/m

function telling(argumentsText: string): { readonly value: string; readonly isName: boolean } | null {
  const value = parsed(argumentsText)
  if (!isJsonObject(value)) {
    const file = patchedFile.exec(argumentsText)?.[1]
    return file === undefined ? { value: argumentsText, isName: false } : { value: file, isName: true }
  }
  for (const { key, isName } of tellingKeys) {
    const argument = written(value[key])
    if (argument !== null) return { value: patchedFile.exec(argument)?.[1] ?? argument, isName }
  }
  const first = Object.values(value)
    .map(written)
    .find((argument) => argument !== null)
  if (first !== undefined) return { value: patchedFile.exec(first)?.[1] ?? first, isName: false }
  return Object.keys(value).length === 0 ? null : { value: argumentsText, isName: false }
}

/** A text, or a command in words: of `["bash", "-lc", "npm test"]` what the shell is given. Null for all others. */
function written(argument: unknown): string | null {
  if (typeof argument === 'string') return argument
  if (!Array.isArray(argument) || !argument.every((word) => typeof word === 'string')) return null
  const isShell = argument.length === 3 && /^-\w*c$/.test(argument[1] ?? '')
  return isShell ? (argument[2] ?? null) : argument.join(' ')
}

function parsed(argumentsText: string): unknown {
  return argumentsText.length > PARSED_CHARS_MAX ? null : parseJsonText(argumentsText)
}
