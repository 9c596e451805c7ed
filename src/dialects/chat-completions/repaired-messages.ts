import { scanObject } from '../../conversation/json-scan.ts'
import type { Call } from './calls.ts'
import { NO_RESULT } from '../repair-words.ts'
import { textPart } from '../content/text-part.ts'
import {
  contentIn,
  joinedContent,
  valueText,
  withContent,
  withValue,
  type JsonContent,
} from '../content/joined-content.ts'

// The messages that a repair writes. All are given and made as JSON; what is not changed in them stays as it is spelt.

/**
 * The result of a call that has none, as JSON. The call's id is the client's: none is invented. A legacy
 * `function_call` is answered by the name that it calls.
 */
export function missingResult(call: Call | undefined): string {
  const content = NO_RESULT
  if (call?.form === 'legacy') return JSON.stringify({ role: 'function', name: call.name, content })
  const id = call?.id ?? ''
  return JSON.stringify({ role: 'tool', ...(id === '' ? {} : { tool_call_id: id }), content })
}

/** A result, given as JSON, under the id of the call that it answers: as a tool message, since no other has an id. */
export function withCallId(result: string, id: string): string {
  const named = withValue(result, 'tool_call_id', JSON.stringify(id))
  return valueText(named, 'role') === '"tool"' ? named : withValue(named, 'role', '"tool"')
}

/**
 * An assistant message, given as JSON, without its empty list of calls. With no calls it has to say something: where
 * it has no content, and nothing that stands for one, it gets an empty one.
 */
export function withoutEmptyCalls(message: string): string {
  const entries = scanObject(message, 0)?.entries ?? []
  const at = entries.findIndex(({ key }) => JSON.parse(message.slice(key.start, key.end)) === 'tool_calls')
  const list = entries[at]
  const next = entries[at + 1]
  const previous = entries[at - 1]
  if (list === undefined) return message
  // The role is another entry, so that there is always one before it or behind it.
  const start = previous?.value.end ?? list.key.start
  const end = previous === undefined ? (next?.key.start ?? list.value.end) : list.value.end
  const left = message.slice(0, start) + message.slice(end)
  return contentIn(left) === null && standingForContent.every((key) => isAbsent(left, key))
    ? withContent(left, '""')
    : left
}

/** A result that answers no call: what is said of it, and the message as JSON. */
export type Orphan = { readonly mark: string; readonly json: string }

/** The user message, as JSON, that stands for an orphan. Its parts are left as they are spelt, media among them. */
export function standInFor(orphan: Orphan): string {
  const contents = contentsOf(orphan)
  return `{"role":"user","content":${joinedContent(contents.at(-1)?.kind ?? 'string', contents, textPart)}}`
}

/** A result, as JSON, with orphans of its round behind its own content. */
export function withOrphans(result: string, orphans: readonly Orphan[]): string {
  const own = anyContentIn(result)
  const contents = orphans.flatMap(contentsOf)
  return withContent(
    result,
    joinedContent(own?.kind ?? 'string', own === null ? contents : [own, ...contents], textPart),
  )
}

// --- internal ---

const standingForContent = ['content', 'function_call', 'refusal', 'audio']

function isAbsent(message: string, key: string): boolean {
  const value = valueText(message, key)
  return value === null || value === 'null'
}

function contentsOf({ mark, json }: Orphan): readonly JsonContent[] {
  const content = anyContentIn(json)
  const said: JsonContent = { kind: 'string', json: JSON.stringify(mark) }
  return content === null ? [said] : [said, content]
}

/** The content of a result, one of an unknown shape as the text that it is written with; null where it has none. */
function anyContentIn(message: string): JsonContent | null {
  const content = contentIn(message)
  if (content !== null) return content
  const other = valueText(message, 'content')
  return other === null || other === 'null' ? null : { kind: 'string', json: JSON.stringify(other) }
}
