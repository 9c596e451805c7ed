import { contentIn, joinedContent, valueText, withContent, type JsonContent } from '../joined-content.ts'

/** A result that answers no call: what is said of it, and the message as JSON. */
export type Orphan = { readonly mark: string; readonly json: string }

/**
 * What stands before the text of such a result. `another`: its call is answered already; `late`: its round was
 * over when it came; `unknown`: it has no call.
 */
export function orphanMark(kind: 'another' | 'late' | 'unknown', tool: string): string {
  const call = tool === '' ? 'a tool call' : `a call to ${tool}`
  return kind === 'unknown'
    ? `[result of ${call} that is not in this conversation]`
    : `[${kind} result of ${call}]`
}

/** The user message, as JSON, that stands for an orphan. Its parts are left as they are spelt, media among them. */
export function standInFor(orphan: Orphan): string {
  const contents = contentsOf(orphan)
  return `{"role":"user","content":${joinedContent(contents.at(-1)?.kind ?? 'string', contents)}}`
}

/** A result, as JSON, with orphans of its round behind its own content. */
export function withOrphans(result: string, orphans: readonly Orphan[]): string {
  const own = anyContentIn(result)
  const contents = orphans.flatMap(contentsOf)
  return withContent(
    result,
    joinedContent(own?.kind ?? 'string', own === null ? contents : [own, ...contents]),
  )
}

// --- internal ---

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
