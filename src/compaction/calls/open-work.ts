import { isJsonObject, parseJsonText, stringOr, type JsonObject } from '../../conversation/json-value.ts'
import type { Steps } from '../../conversation/source.ts'
import { readMessage } from '../read-message.ts'
import type { Subject } from '../subject.ts'
import { workItems } from './call-subject.ts'
import { deedsOf, type Deed } from './deeds.ts'

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
  const all = yield* deedsOf(subject)
  const deeds = all.filter(({ work, failed, index }) => work !== null && !failed && index < point)
  const start = deeds.findLastIndex(({ work }) => work === 'list')
  let from = Math.max(0, start)
  let given = yield* givenTo(subject, deeds[from])
  while (from > 0 && given?.['merge'] === true && deeds[from - 1] !== undefined) {
    from -= 1
    given = yield* givenTo(subject, deeds[from])
  }
  const items = new Map<string, JsonObject>()
  const calls: number[] = []
  for (const deed of deeds.slice(from)) {
    const fields = (yield* givenTo(subject, deed)) ?? {}
    calls.push(deed.index)
    for (const item of deed.work === 'list' ? (workItems(fields) ?? []) : [fields]) {
      const id = idOf(item) ?? (yield* idIn(subject, deed))
      const key = id ?? `${items.size + 1}`
      items.set(key, { ...items.get(key), ...item, ...(id === null ? {} : { id }) })
    }
    yield
  }
  const left = [...items.values()].filter(({ status }) => !isGone(status))
  const open = left.filter(({ status }) => !isClosed(status))
  if (open.length === 0) return null
  const lines = left.map(lineOf)
  const only = calls.length === 1 && deeds[from]?.work === 'list' ? deeds[from] : undefined
  const whole =
    only === undefined ? lines.join('\n') : ((yield* argumentsOf(subject, only)) ?? lines.join('\n'))
  return { calls, whole, open: open.map(lineOf) }
}

// --- internal ---

const closed = /^(?:complet|done|finish|cancel|skip|clos|resolv|abandon)/i
const gone = /^(?:delet|remov)/i

const isGone = (status: unknown): boolean => gone.test(stringOr(status, ''))
const isClosed = (status: unknown): boolean => closed.test(stringOr(status, ''))

const idKey = /^(?:task_?|todo_?)?id$/i

/** What says nothing of the work itself. */
const unsaid = /^(?:status|active_?form|priority|merge)$|id$/i

function idOf(item: JsonObject): string | null {
  for (const [key, value] of Object.entries(item))
    if (idKey.test(key) && (typeof value === 'string' || typeof value === 'number')) return String(value)
  return null
}

/** The number that the answer gives to an item. */
function* idIn(subject: Subject, { result, work }: Deed): Steps<string | null> {
  const message = subject.messages[result ?? -1]
  if (work !== 'item' || message === undefined) return null
  return /\d+/.exec((yield* readMessage(subject, message)).text)?.[0] ?? null
}

function lineOf(item: JsonObject): string {
  const said = Object.entries(item).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' && !unsaid.test(key) ? [value] : [],
  )
  const id = idOf(item)
  return `- [${stringOr(item['status'], 'pending')}] ${id === null ? '' : `#${id} `}${said.join(': ')}`
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
