import { isJsonObject, parseJsonText, stringifyJson, stringOr } from '../../json/json-value.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source } from '../../json/source.ts'
import { NO_RESULT, type Orphan, rulesOf } from '../repair.ts'

/** The results of a reply come first behind it, before anything else is said. */
export const messagesRules = rulesOf(
  { entryIsReply: false, mayInterrupt: false, isSorted: true },
  {
    missing: missingResults,
    alone: (results) => `{"role":"user","content":[${results.join(',')}]}`,
    standIn: standInFor,
  },
  { systemMayLead: false },
)

// --- internal ---

function missingResults(_: Source, { facts }: Message, positions: readonly number[]): readonly string[] {
  return positions.map((position) =>
    JSON.stringify({ type: 'tool_result', tool_use_id: facts.callIds[position], content: NO_RESULT }),
  )
}

/** One block, with the words of the result or with what it shows. */
function standInFor({ mark, json }: Orphan): string {
  const block = parseJsonText(json)
  const content: unknown = isJsonObject(block) ? block['content'] : null
  const parts: readonly unknown[] = Array.isArray(content)
    ? content
    : [{ type: 'text', text: stringOr(content, '') }]
  const said = parts.map((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : stringifyJson(part),
  )
  return JSON.stringify({ type: 'text', text: [mark, ...said].filter((text) => text !== '').join('\n') })
}
