import type { Orphan, Rules } from '../contract.ts'
import { memberWithComma, scanObject } from '../../json/json-scan.ts'
import { isJsonObject, parseJson } from '../../json/json-value.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source } from '../../json/source.ts'
import { readable } from '../shortened-message.ts'
import { NO_RESULT } from '../repair.ts'
import { readCalls } from './slots.ts'
import { textPart } from '../content/content-parts.ts'
import {
  contentIn,
  joinedContent,
  type JsonContent,
  valueText,
  withContent,
  withValue,
} from '../content/joined-content.ts'

/** Results stand right behind the message that calls. Calls without ids are matched by count. */
export const chatRules: Rules = {
  entryIsReply: true,
  mayInterrupt: false,
  systemMayLead: true,
  missing: missingResults,
  standIn: standInFor,
  named: withCallId,
  // Behind a round templates refuse a user message.
  withOrphans,
  withoutEmptyCalls,
}

// --- internal ---

/** A legacy `function_call` is answered by the name that it calls, other calls by their id, which is the client's: none is invented. */
function missingResults(source: Source, calling: Message, positions: readonly number[]): readonly string[] {
  const form = readable(source, calling)
  const value = parseJson(form.source, form.message)
  const calls = isJsonObject(value) ? readCalls(value) : null
  const content = NO_RESULT
  return positions.map((position) => {
    const { form: written, name, id = '' } = calls?.[position] ?? {}
    if (written === 'legacy') return JSON.stringify({ role: 'function', name, content })
    return JSON.stringify({ role: 'tool', ...(id === '' ? {} : { tool_call_id: id }), content })
  })
}

/** A result, given as JSON, under the id of the call that it answers: as a tool message, since no other has an id. */
function withCallId(result: string, id: string): string {
  const named = withValue(result, 'tool_call_id', JSON.stringify(id))
  return valueText(named, 'role') === '"tool"' ? named : withValue(named, 'role', '"tool"')
}

/**
 * An assistant message, given as JSON, without its empty list of calls. With no calls it has to say something: where
 * it has no content, and nothing that stands for one, it gets an empty one.
 */
function withoutEmptyCalls(message: string): string {
  const entries = scanObject(message, 0)?.entries ?? []
  const at = entries.findIndex(({ key }) => JSON.parse(message.slice(key.start, key.end)) === 'tool_calls')
  const list = memberWithComma(entries, at)
  if (list === null) return message
  const left = message.slice(0, list.start) + message.slice(list.end)
  return contentIn(left) === null && standingForContent.every((key) => isAbsent(left, key))
    ? withContent(left, '""')
    : left
}

/** The user message, as JSON, that stands for an orphan. Its parts are left as they are spelt, media among them. */
function standInFor(orphan: Orphan): string {
  const contents = contentsOf(orphan)
  return `{"role":"user","content":${joinedContent(contents.at(-1)?.kind ?? 'string', contents, textPart)}}`
}

/** A result, as JSON, with orphans of its round behind its own content. */
function withOrphans(result: string, orphans: readonly Orphan[]): string {
  const own = anyContentIn(result)
  const contents = orphans.flatMap(contentsOf)
  return withContent(
    result,
    joinedContent(own?.kind ?? 'string', own === null ? contents : [own, ...contents], textPart),
  )
}

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
