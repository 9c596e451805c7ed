import { isJsonObject, parseJsonText, stringifyJson, type JsonObject } from '../../conversation/json-value.ts'
import type { Digest, Steps } from '../../conversation/source.ts'
import { lruCache } from '../../lru-cache.ts'
import { readMessage } from '../read-message.ts'
import type { Subject } from '../subject.ts'

/** What a call deals with, as far as its name and its arguments tell. */
export type CallSubject = {
  /** Digest of the tool and what it is given, however that is ordered: the same for calls that ask for the same. */
  readonly asked: string
  /** The files or addresses that it names as what it deals with. */
  readonly paths: readonly string[]
  /** Whether it hands over text for them, or asks for another change; else it looks at them, or does neither. */
  readonly does: 'look' | 'change' | 'other'
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
  const subjects = calls.map(({ name, argumentsText }) => subjectOf(name, argumentsText, subject.digest))
  read.set(key, subjects)
  return subjects
}

/** @internal exported for tests */
export function subjectOf(name: string, argumentsText: string, digest: Digest): CallSubject {
  const value = argumentsText.length <= PARSED_CHARS_MAX ? parseJsonText(argumentsText) : undefined
  const given = isJsonObject(value) ? value : {}
  const ordered = isJsonObject(value) ? stringifyJson(Object.entries(given).toSorted(byKey)) : null
  const asked = digest(`${name}\n${ordered ?? argumentsText}`)
  const texts = isJsonObject(value) ? textsIn(given) : [argumentsText.slice(0, PARSED_CHARS_MAX)]
  const patched = texts.flatMap((text) => [...text.matchAll(patchedFile)].map(([, path = '']) => path))
  if (patched.length > 0) return { asked, paths: patched.slice(0, PATHS_MAX).map(evened), does: 'change' }
  const paths = pathsIn(given)
  return { asked, paths, does: paths.length === 0 ? 'other' : doingOf(name, given) }
}

// --- internal ---

const NONE: readonly never[] = []

const read = lruCache<readonly CallSubject[]>(8_192)

/** Longer arguments hand over a text, and are compared as they are spelt. */
const PARSED_CHARS_MAX = 65_536

const PATHS_MAX = 32
const PATH_CHARS_MAX = 512

/** How patches name the files that they change. */
const patchedFile = /^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b\/)?)(\S[^\n]*?)\s*$/gm

const pathKey = /path|file|uri|url/i
const looksLikePath = /^(?:[~.]?[/\\]|[A-Za-z]:\\|https?:\/\/)?[^\s:*?"<>|]+(?:[/\\][^\s*?"<>|]+)*$/
const hasPathMark = /[/\\]|\.\w{1,8}$/

/** What a tool does, by the words of its name and of what chooses among its ways. */
const changes =
  /(?:^|[^a-z])(?:edit|write|create|replace|insert|delete|remove|patch|update|append|move|rename|undo|save|modify)/
const looks = /(?:^|[^a-z])(?:read|view|open|show|get|cat|fetch|grep|search|find|list|ls|glob|scroll|go)/
const wayKey = /^(?:command|action|operation|mode|method)$/i

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

/** What stands under a key for paths; without such a key, the one text that can be nothing else. */
function pathsIn(given: JsonObject): readonly string[] {
  const named = Object.entries(given)
    .filter(([key]) => pathKey.test(key))
    .flatMap(([, field]) => (Array.isArray(field) ? (field as readonly unknown[]) : [field]))
    .filter((field) => typeof field === 'string')
  const unnamed = Object.values(given).filter((field) => typeof field === 'string' && hasPathMark.test(field))
  return [...new Set((named.length > 0 ? named : unnamed) as readonly string[])]
    .filter((path) => path.length <= PATH_CHARS_MAX && looksLikePath.test(path))
    .slice(0, PATHS_MAX)
    .map(evened)
}

function doingOf(name: string, given: JsonObject): CallSubject['does'] {
  const way = Object.entries(given).flatMap(([key, field]) =>
    wayKey.test(key) && typeof field === 'string' && !/\s/.test(field) ? [field] : [],
  )
  const said = [...way, name].map((words) => words.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase())
  for (const words of said) {
    if (changes.test(words)) return 'change'
    if (looks.test(words)) return 'look'
  }
  return Object.values(given).some((field) => typeof field === 'string' && field.includes('\n'))
    ? 'change'
    : 'other'
}

/** A path as it is compared. */
function evened(path: string): string {
  return path.replace(/^(?:\.\/)+/, '')
}
