import { isJsonObject, parseJsonText, stringOr, type JsonObject } from '../../../json/json-value.ts'
import type { Steps } from '../../../json/source.ts'
import { readMessage } from '../read-message.ts'
import type { Subject } from '../subject.ts'
import { deedsOf, type Deed } from './deeds.ts'
import { isOpenWork, workItems } from './work-items.ts'

/** The list of work that is open at a point, as it was written last. */
export type OpenWork = {
  /** The calls that it consists of, ascending. */
  readonly calls: readonly number[]
  /** Word for word: the arguments of the one call that wrote it, or its items, each in a line. */
  readonly whole: string
  /** Only the items that are open, each in a line. */
  readonly open: readonly string[]
}

/** The room that a recap needs for it, in tokens, once the first of its calls is folded. */
export type WorkRoom = { readonly from: number; readonly tokens: number }

/**
 * The newest state of the list of work before a point; null if there is none, or if nothing of it is open. A call with a list
 * takes the place of all before it, unless it says that it merges; one with an item adds or changes that.
 */
export function* openWorkAt(subject: Subject, point: number): Steps<OpenWork | null> {
  const known = workByMessages.get(subject.messages) ?? new Map<number, OpenWork | null>()
  workByMessages.set(subject.messages, known)
  const found = known.get(point)
  if (found !== undefined) return found
  const open = yield* findOpenWork(subject, point)
  known.set(point, open)
  return open
}

// --- internal ---

/** A plan and a view ask for the same, and a walk through the past at each of its points. */
const workByMessages = new WeakMap<Subject['messages'], Map<number, OpenWork | null>>()

function* findOpenWork(subject: Subject, point: number): Steps<OpenWork | null> {
  const all = yield* deedsOf(subject)
  const deeds = all.filter(({ work, failed, index }) => work !== null && !failed && index < point)
  // Back to a call that says all of it.
  let from = deeds.length - 1
  while (from > 0 && !(yield* isWhole(subject, deeds[from]))) from -= 1
  const items = new Map<string, JsonObject>()
  const calls: number[] = []
  for (const deed of deeds.slice(Math.max(0, from))) {
    const fields = (yield* givenTo(subject, deed)) ?? {}
    calls.push(deed.index)
    for (const item of deed.work === 'list' ? (workItems(fields) ?? []) : [fields]) {
      const id = idOf(item) ?? (yield* idIn(subject, deed))
      const key = id ?? `${items.size + 1}`
      items.set(key, { ...items.get(key), ...item, ...(id === null ? {} : { id }) })
      if (items.size > ITEMS_MAX) for (const oldest of items.keys()) if (items.delete(oldest)) break
    }
    yield
  }
  const left = [...items.values()].filter(({ status }) => !isGone(status))
  const open = left.filter(({ status }) => isOpenWork(status))
  if (open.length === 0) return null
  const lines = left.map(lineOf)
  const only = calls.length === 1 && deeds[from]?.work === 'list' ? deeds[from] : undefined
  const whole =
    only === undefined ? lines.join('\n') : ((yield* argumentsOf(subject, only)) ?? lines.join('\n'))
  return { calls, whole, open: open.map(lineOf) }
}

/** Nobody works through more. */
const ITEMS_MAX = 256

const gone = /^(?:delet|remov)/i

const isGone = (status: unknown): boolean => gone.test(stringOr(status, ''))

const idKey = /^(?:task_?|todo_?)?id$/i

/** What says nothing of the work itself. */
const unsaid = /^(?:status|active_?form|priority|merge)$|id$/i

function idOf(item: JsonObject): string | null {
  for (const [key, value] of Object.entries(item))
    if (idKey.test(key) && (typeof value === 'string' || typeof value === 'number')) return String(value)
  return null
}

/** Whether a call writes all of the list: it does not say that it merges, and each item says what is to be done. */
function* isWhole(subject: Subject, deed: Deed | undefined): Steps<boolean> {
  const given = yield* givenTo(subject, deed)
  if (deed?.work !== 'list' || given === null || given['merge'] === true) return false
  return (workItems(given) ?? []).every((item) => saidIn(item).length > 0)
}

/** The number that the answer gives to an item. */
function* idIn(subject: Subject, { result, work }: Deed): Steps<string | null> {
  const message = subject.messages[result ?? -1]
  if (work !== 'item' || message === undefined) return null
  const { text } = yield* readMessage(subject, message)
  const found = /#(\d+)|\bid\W{1,3}(\d+)/i.exec(text) ?? /()(\d+)/.exec(text.replaceAll(/"[^"]*"/g, ''))
  return found?.[1] ?? found?.[2] ?? null
}

function saidIn(item: JsonObject): readonly string[] {
  return Object.entries(item).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' && !unsaid.test(key) ? [value] : [],
  )
}

function lineOf(item: JsonObject): string {
  const id = idOf(item)
  return `- [${stringOr(item['status'], 'pending')}] ${id === null ? '' : `#${id} `}${saidIn(item)
    .join(': ')
    .replaceAll(/\s*\n\s*/g, ' ')}`
}

function* argumentsOf(subject: Subject, { index, position }: Deed): Steps<string | null> {
  const message = subject.messages[index]
  if (message === undefined) return null
  return (yield* readMessage(subject, message)).calls[position]?.argumentsText ?? null
}

function* givenTo(subject: Subject, deed: Deed | undefined): Steps<JsonObject | null> {
  const value = deed === undefined ? undefined : parseJsonText((yield* argumentsOf(subject, deed)) ?? '')
  return isJsonObject(value) ? value : null
}
