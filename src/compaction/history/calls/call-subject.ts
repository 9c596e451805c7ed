import { isJsonObject, parseJsonText, stringifyJson, type JsonObject } from '../../../json/json-value.ts'
import type { Digest, Steps } from '../../../json/source.ts'
import { lruCache } from '../../../lru-cache.ts'
import { readMessage } from '../read-message.ts'
import type { Subject } from '../subject.ts'
import { pathAsCompared, filesIn } from './command-files.ts'
import { doingOf } from './tool-words.ts'
import { workIn } from './work-items.ts'

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
  subject: Pick<Subject, 'source' | 'dialect' | 'messages' | 'memorySpace' | 'digest'>,
  index: number,
): Steps<readonly CallSubject[]> {
  const message = subject.messages[index]
  if (message === undefined || message.facts.callNames.length === 0) return NONE
  const key = `${subject.memorySpace} ${message.facts.hash}`
  const known = read.get(key)
  if (known !== undefined) return known
  const { calls } = yield* readMessage(subject, message)
  const subjects: CallSubject[] = []
  for (const { name, argumentsText } of calls) {
    subjects.push(subjectOf(name, argumentsText, subject.digest))
    yield
  }
  read.set(key, subjects)
  return subjects
}

/** What one call deals with. */
export function subjectOf(name: string, argumentsText: string, digest: Digest): CallSubject {
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
    typeof field === 'string'
      ? [field]
      : Array.isArray(field)
        ? field.filter((each) => typeof each === 'string')
        : [],
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
