import {
  isJsonObject,
  type JsonObject,
  parseJsonText,
  stringOr,
  stringifyJson,
} from '../../../json/json-value.ts'
import type { Digest, Pausable } from '../../../json/source.ts'
import { lruCache } from '../../../caches.ts'
import { readMessage } from '../read-message.ts'
import type { History } from '../history.ts'

/** What a call deals with, as far as its name and its arguments tell. */
export type CallSubject = {
  /** Digest of the tool and what it is given, however that is ordered: the same for calls that ask for the same. */
  readonly asked: string
  /** The files or addresses that it deals with; of a command or a program those that it names. */
  readonly paths: readonly string[]
  /** Those of them that it changes. */
  readonly changed: readonly string[]
  /** Whether it gives what stands in them, and does nothing else. */
  readonly isLook: boolean
  /** Whether it writes the list of work: all of it, or one item. */
  readonly work: 'list' | 'item' | null
}

/** The calls of a message and what each deals with, in their order. Read once for each message. */
export function* callSubjects(
  history: Pick<History, 'source' | 'dialect' | 'messages' | 'memorySpace' | 'digest'>,
  index: number,
): Pausable<readonly CallSubject[]> {
  const message = history.messages[index]
  if (message === undefined || message.facts.callNames.length === 0) return NONE
  const key = `${history.memorySpace} ${message.facts.hash}`
  const known = read.get(key)
  if (known !== undefined) return known
  const { calls } = yield* readMessage(history, message)
  const subjects: CallSubject[] = []
  for (const { name, argumentsText } of calls) {
    subjects.push(callSubjectOf(name, argumentsText, history.digest))
    yield
  }
  read.set(key, subjects)
  return subjects
}

/** What one call deals with. */
export function callSubjectOf(name: string, argumentsText: string, digest: Digest): CallSubject {
  const value = argumentsText.length <= PARSED_CHARS_MAX ? parseJsonText(argumentsText) : undefined
  const given = isJsonObject(value) ? value : {}
  const ordered = isJsonObject(value) ? stringifyJson(Object.entries(given).toSorted(byKey)) : null
  const asked = digest(`${name}\n${ordered ?? argumentsText}`)
  const work = workIn(name, given)
  const texts = isJsonObject(value) ? textsIn(given) : [argumentsText.slice(0, PARSED_CHARS_MAX)]
  const nothing = { asked, paths: NONE, changed: NONE, isLook: false, work }
  if (work !== null) return nothing
  const patched = texts.flatMap((text) =>
    [...text.matchAll(patchedFile)].map(([, path = '']) => pathAsCompared(path.trimEnd())),
  )
  if (patched.length > 0) {
    const some = patched.slice(0, PATHS_MAX)
    return { ...nothing, paths: some, changed: some }
  }
  const paths = pathsIn(given)
  if (paths.length === 0) {
    const { named, changed } = filesIn(texts.join('\n').slice(0, PARSED_CHARS_MAX))
    return { ...nothing, paths: named, changed }
  }
  const does = doingOf(name, given)
  return { ...nothing, paths, changed: does === 'change' ? paths : NONE, isLook: does === 'look' }
}

/** What a tool does with the files that it is given, by its words; where they say nothing, by whether it is handed lines. */
export function doingOf(name: string, given: JsonObject): 'look' | 'change' | 'other' {
  const said = [...waysIn(given), name].map((words) =>
    words.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
  )
  for (const words of said) {
    if (changes.test(words)) return 'change'
    if (looks.test(words)) return 'look'
  }
  return Object.values(given).some((field) => typeof field === 'string' && field.includes('\n'))
    ? 'change'
    : 'other'
}

/** The words by which a call chooses among the ways of its tool. */
function waysIn(given: JsonObject): readonly string[] {
  return Object.entries(given).flatMap(([key, field]) =>
    wayKey.test(key) && typeof field === 'string' && !/\s/.test(field) ? [field] : [],
  )
}

/** Whether a call writes the list of work: all of it, or one item; null if it does neither. */
function workIn(name: string, given: JsonObject): 'list' | 'item' | null {
  if (itemTool.test(name)) return 'item'
  if (waysIn(given).some((way) => looks.test(way.toLowerCase()))) return null
  const items = workItems(given)
  if (items !== null) {
    const isWork =
      listTool.test(name) || items.every(({ status }) => typeof status === 'string' && workState.test(status))
    return isWork ? 'list' : null
  }
  const isEmptied = Object.entries(given).some(
    ([key, field]) => listKey.test(key) && Array.isArray(field) && field.length === 0,
  )
  return listTool.test(name) && isEmptied ? 'list' : null
}

/**
 * The items of a list of work, each with a status: objects that have one, or flags for it, beside something that they say; or
 * the lines of a checklist. Null if what is given is no such list.
 */
export function workItems(given: JsonObject, depth = 0): readonly JsonObject[] | null {
  for (const [key, field] of Object.entries(given)) {
    if (typeof field === 'string') {
      // A checklist that is written into a file is that file's.
      if (depth === 0 && !listKey.test(key)) continue
      const value = field.startsWith('[{') ? parseJsonText(field) : undefined
      const items = Array.isArray(value) ? workItems({ value }, depth + 1) : checklistIn(field)
      if (items !== null) return items
    } else if (isJsonObject(field) && depth === 0) {
      const items = workItems(field, depth + 1)
      if (items !== null) return items
    } else if (Array.isArray(field) && field.length > 0) {
      const items = field.map(itemOf)
      if (items.every((item) => item !== null)) return items
    }
  }
  return null
}

/** Whether work in this state is still to be done. */
export function isOpenWork(status: unknown): boolean {
  return typeof status !== 'string' || !closedWork.test(status.trim())
}

/** Whether a name is one of a file, or an address: a directory has no state that anybody quotes. */
export function isFile(name: string): boolean {
  return (
    !name.startsWith('-') &&
    name.length <= PATH_CHARS_MAX &&
    /[^/\\.]\.[A-Za-z]\w{0,5}$|^\w+:\/\/\S+$/.test(name)
  )
}

// --- internal ---

const NONE: readonly never[] = []

const read = lruCache<readonly CallSubject[]>(8_192)

/** Longer arguments hand over a text, and are compared as they are spelt. */
const PARSED_CHARS_MAX = 65_536

const PATHS_MAX = 32
const PATH_CHARS_MAX = 512

/** How patches name the files that they change. */
const patchedFile = /^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b\/)?)(\S[^\n]*)$/gm

const pathKey = /(?:paths?|files?|file_?names?|ur[il]s?)$/i
/** What can be nothing but a path: it has no blanks, and a slash or an ending. */
const looksLikePath = /^(?:[A-Za-z]:|https?:\/\/)?[^\s:*?"<>|]*(?:[/\\]|\.\w{1,8}$)[^\s:*?"<>|]*$/

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}

function textsIn(given: JsonObject): readonly string[] {
  return Object.values(given).flatMap((field) =>
    (Array.isArray(field) ? (field as readonly unknown[]) : [field]).filter(
      (each) => typeof each === 'string',
    ),
  )
}

/** What stands under a key for paths; without such a key, what can be nothing else. */
function pathsIn(given: JsonObject): readonly string[] {
  const named = Object.entries(given).filter(([key]) => pathKey.test(key))
  const texts = textsIn(named.length > 0 ? Object.fromEntries(named) : given)
  const paths = texts
    .filter((text) => text.length <= PATH_CHARS_MAX && !text.includes('\n'))
    .filter((text) => (named.length > 0 ? text.trim() !== '' : looksLikePath.test(text)))
  return [...new Set(paths.map(pathAsCompared))].slice(0, PATHS_MAX)
}

/** What a tool does, by the words of its name and of what chooses among its ways. */
const changes =
  /(?:^|[^a-z])(?:edit|write|create|replace|insert|delete|remove|patch|update|append|move|rename|undo|save|modify)/
const looks = /(?:^|[^a-z])(?:read|view|open|show|get|cat|fetch|scroll|go)/
const wayKey = /^(?:command|action|operation|mode|method)$/i

/** How tools are called that write a list, which may be emptied, or one item of it. */
const listTool = /todo|plan|task/i
const listKey = /todo|plan|task|item|step|list/i
const itemTool = /^(?:task|todo)_?(?:create|add|update)$/i

const closedWork =
  /^(?:complet|done|finish|cancel|skip|clos|resolv|abandon|success|pass|merged|x$|won.?t|[✅✔☑])/i
/** States that work has, and hardly anything else. */
const workState =
  /^(?:pending|in[ _-]?progress|to[ _-]?do|open|not[ _-]?started|blocked|waiting|active|complet\w*|done|finished|cancell?ed|skipped)$/i

/** An object with a status, or a flag for one, and with an id or something that it says. */
function itemOf(value: unknown): JsonObject | null {
  if (!isJsonObject(value)) return null
  const flag = [value['done'], value['completed'], value['checked']].find((each) => typeof each === 'boolean')
  const flagged = flag === true ? 'completed' : flag === false ? 'pending' : null
  const status = stringOr(value['status'], flagged)
  const saysMore = Object.entries(value).some(
    ([key, field]) => key !== 'status' && (typeof field === 'string' || /id$/i.test(key)),
  )
  return status === null || !saysMore ? null : { ...value, status }
}

function checklistIn(text: string): readonly JsonObject[] | null {
  if (!text.includes('[ ]') && !/\[[xX~-]\]/.test(text)) return null
  const items = text.split('\n').flatMap((line) => {
    const [, mark = '', content = ''] = /^\s*(?:(?:[-*]|\d+\.)\s*)?\[([ xX~-])\]\s+(\S.*)$/.exec(line) ?? []
    return content === ''
      ? []
      : [{ content, status: /x/i.test(mark) ? 'completed' : mark === ' ' ? 'pending' : 'in_progress' }]
  })
  return items.length > 0 ? items : null
}

/** The files that a command line or a program names, and those of them that it writes, moves or removes. */
function filesIn(text: string): Record<'named' | 'changed', readonly string[]> {
  const named = new Set<string>()
  const changed = new Set<string>()
  for (const [, , opened, , written] of text.matchAll(openedToWrite))
    changed.add(pathAsCompared(opened ?? written ?? ''))
  for (const part of withoutHereDocuments(text).split(partEnd)) {
    const files = part
      .replaceAll(quotedWord, (_, one: string = '', other: string = '') =>
        isName.test(one + other) ? one + other : ' ',
      )
      .split(wordEnd)
      .filter(isFile)
      .map(pathAsCompared)
    for (const file of files) named.add(file)
    for (const [, path = ''] of part.matchAll(redirected)) if (isFile(path)) changed.add(pathAsCompared(path))
    const command = part.slice(0, COMMAND_CHARS)
    if (copies.test(command)) changed.add(files.at(-1) ?? '')
    else if (writes.test(command)) for (const file of files) changed.add(file)
  }
  changed.delete('')
  return {
    named: [...new Set([...named, ...changed])].slice(0, PATHS_MAX),
    changed: [...changed].slice(0, PATHS_MAX),
  }
}

/** A path as it is compared. */
function pathAsCompared(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
}

/** Of a longer command the beginning tells what it does. */
const COMMAND_CHARS = 1_024

/** What a command is given on the lines behind it is no command. */
function withoutHereDocuments(text: string): string {
  if (!text.includes('<<')) return text
  let end: string | null = null
  return text
    .split('\n')
    .filter((line) => {
      const isCommand = end === null
      if (isCommand) end = /<<-?\s*["']?(\w+)/.exec(line)?.[1] ?? null
      else if (line.trim() === end) end = null
      return isCommand
    })
    .join('\n')
}

const partEnd = /[;|\n]+|&&/
const wordEnd = /[\s=(){}<>,"']+/

/** Quoted words are a script, a pattern or a message; a quoted name is one. */
const quotedWord = /'([^'\n]*)'|"([^"\n]*)"/g
const isName = /^[\w./~$@+-]+$/

const redirected = /(?:(?<![-=<&])>{1,2}|\s(?:-o|--output)[\s=])\s*["']?([\w./~$-]+)/g
const openedToWrite =
  /\b(?:(?:open|Path)\(\s*(["'])([^"'\n]{1,256})\1(?:\s*,\s*["'][wax]|\)\.write)|writeFile(?:Sync)?\(\s*(["'])([^"'\n]{1,256})\3)/g

/** A part of a command line begins with what is run, behind variables that are set for it. */
const begins = String.raw`^\s*(?:sudo\s+|\w+=\S+\s+)*`
const copies = new RegExp(String.raw`${begins}cp\s`)
const writes = new RegExp(
  String.raw`${begins}(?:(?:tee|rm|mv|touch|patch(?!.*--dry-run)|truncate|black|Set-Content|git\s+(?:apply|checkout|restore))\s|(?:sed|perl|awk|gawk)\s(?:.{0,200}\s)?-(?:-in-?place|\w*i)\b|(?!grep|rg)[^\n]*\s(?:--write|--fix|-w)\s)`,
)
