import type { Opening } from '../../activity/request-report.ts'
import { parseJson } from '../../conversation/json-value.ts'
import { parseEntry } from '../../dialects/entry-facts.ts'
import type { Chat } from '../request.ts'

/** By what a person knows a conversation again: the first words of its task, and the folder that its client works in. */
export function openingOf({
  dialect,
  source,
  body,
  messages,
}: Pick<Chat, 'dialect' | 'source' | 'body' | 'messages'>): Opening {
  let words: string | null = null
  const beside = body.system === null ? '' : dialect.bodies.systemText(parseJson(source, body.system))
  let folder = folderIn(beside)
  for (const message of messages.slice(0, LOOKED_AT)) {
    const { role } = message.facts
    if (role !== 'user' && role !== 'system' && role !== 'developer') continue
    const { text } = parseEntry(dialect, source, message)
    folder ??= folderIn(text)
    if (role === 'user') words ??= wordsOf(text)
    if (words !== null && folder !== null) break
  }
  return { words, folder }
}

// --- internal ---

/** Messages among which the task is looked for: clients send what they know of themselves and the machine first. */
const LOOKED_AT = 20

/** A long text begins with what it is about. */
const READ_CHARS_MAX = 50_000

const WORDS_CHARS_MAX = 100
const FOLDER_CHARS_MAX = 300

/** What a client puts before the user's words: blocks in tags, and a heading above one. */
const besideWords = /^\s*(?:#[^\n]*\s*)?<([a-z][\w-]{0,60})(?:\s[^<>]{0,200})?>[^]*?<\/\1>/i

const folderMarks = [/<cwd>([^<\n]+)<\/cwd>/, /\bworking directory: *([^\n]+)/i]

/** Null if it says nothing beside what the client put there. */
function wordsOf(text: string): string | null {
  let rest = text.slice(0, READ_CHARS_MAX)
  for (let found = besideWords.exec(rest); found !== null; found = besideWords.exec(rest))
    rest = rest.slice(found[0].length)
  const words = rest.slice(0, READ_CHARS_MAX).trim().replaceAll(/\s+/g, ' ')
  if (words.length <= WORDS_CHARS_MAX) return words === '' ? null : words
  // Between two words if there is a place.
  const cut = words.slice(0, WORDS_CHARS_MAX)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > WORDS_CHARS_MAX / 2 ? cut.slice(0, blank) : cut).toWellFormed()}…`
}

function folderIn(text: string): string | null {
  const read = text.slice(0, READ_CHARS_MAX)
  for (const mark of folderMarks) {
    const folder = mark.exec(read)?.[1]?.trim().slice(0, FOLDER_CHARS_MAX)
    if (folder !== undefined && folder !== '') return folder
  }
  return null
}
