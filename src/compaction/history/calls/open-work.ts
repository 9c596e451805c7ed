import { isJsonObject, parseJsonText, stringOr, type JsonObject } from '../../../json/json-value.ts'
import type { Pausable } from '../../../json/source.ts'
import { readMessage } from '../read-message.ts'
import type { History } from '../history.ts'
import { isOpenWork, workItems } from './call-subject.ts'
import { deedsOf, type Deed } from './deeds.ts'

/** The list of work that is open at a point, as it was written last. */
export type OpenWork =
  ReturnType<typeof openWorkAt> extends Pausable<infer Found> ? NonNullable<Found> : never

/**
 * The newest state of the list of work before a point; null if there is none, or if nothing of it is open. A call with a list
 * takes the place of all before it, unless it says that it merges; one with an item adds or changes that.
 */
export function* openWorkAt(history: History, point: number) {
  // Back to a call that says all of it.
  const writings: Writing[] = []
  for (const deed of (yield* deedsOf(history)).toReversed()) {
    if (deed.work === null || deed.failed || deed.index >= point) continue
    const writing = yield* writingOf(history, deed)
    writings.push(writing)
    if (saysAll(writing)) break
    yield
  }
  writings.reverse()
  const items = new Map<string, JsonObject>()
  for (const writing of writings) {
    for (const item of writing.work === 'list' ? (workItems(writing.given) ?? []) : [writing.given]) {
      const id = idOf(item) ?? (yield* idInAnswer(history, writing))
      const key = id ?? `${items.size + 1}`
      items.set(key, { ...items.get(key), ...item, ...(id === null ? {} : { id }) })
      if (items.size > ITEMS_MAX) for (const oldest of items.keys()) if (items.delete(oldest)) break
    }
    yield
  }
  const left = [...items.values()].filter(({ status }) => !/^(?:delet|remov)/i.test(stringOr(status, '')))
  const open = left.filter(({ status }) => isOpenWork(status))
  if (open.length === 0) return null
  const [first, ...others] = writings
  const isOneList = first?.work === 'list' && others.length === 0 && first.argumentsText !== ''
  return {
    /** The calls that it consists of, ascending. */
    calls: writings.map(({ index }) => index),
    /** Word for word: the arguments of the one call that wrote it, or its items, each in a line. */
    whole: isOneList ? first.argumentsText : left.map(lineOf).join('\n'),
    /** Only the items that are open, each in a line. */
    open: open.map(lineOf),
  }
}

// --- internal ---

/** A call that writes the list or an item of it, with its arguments. */
type Writing = Deed & { readonly argumentsText: string; readonly given: JsonObject }

/** Nobody works through more. */
const ITEMS_MAX = 256

function* writingOf(history: History, deed: Deed): Pausable<Writing> {
  const message = history.messages[deed.index]
  const calls = message === undefined ? [] : (yield* readMessage(history, message)).calls
  const argumentsText = calls[deed.position]?.argumentsText ?? ''
  const value = parseJsonText(argumentsText)
  return { ...deed, argumentsText, given: isJsonObject(value) ? value : {} }
}

/** Whether a call writes all of the list: it does not say that it merges, and each item says what is to be done. */
function saysAll({ work, given }: Writing): boolean {
  if (work !== 'list' || given['merge'] === true) return false
  return (workItems(given) ?? []).every((item) => saidIn(item).length > 0)
}

function idOf(item: JsonObject): string | null {
  for (const [key, value] of Object.entries(item))
    if (/^(?:task_?|todo_?)?id$/i.test(key) && (typeof value === 'string' || typeof value === 'number'))
      return String(value)
  return null
}

/** The number that the answer gives to an item. */
function* idInAnswer(history: History, { result, work }: Deed): Pausable<string | null> {
  const message = history.messages[result ?? -1]
  if (work !== 'item' || message === undefined) return null
  const { text } = yield* readMessage(history, message)
  const found = /#(\d+)|\bid\W{1,3}(\d+)/i.exec(text) ?? /()(\d+)/.exec(text.replaceAll(/"[^"]*"/g, ''))
  return found?.[1] ?? found?.[2] ?? null
}

/** What says nothing of the work itself. */
const unsaid = /^(?:status|active_?form|priority|merge)$|id$/i

function saidIn(item: JsonObject): readonly string[] {
  return Object.entries(item).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' && !unsaid.test(key) ? [value] : [],
  )
}

function lineOf(item: JsonObject): string {
  const id = idOf(item)
  const said = saidIn(item)
    .join(': ')
    .replaceAll(/\s*\n\s*/g, ' ')
  return `- [${stringOr(item['status'], 'pending')}] ${id === null ? '' : `#${id} `}${said}`
}
