import { isJsonObject, parseJsonText } from '../../json/json-value.ts'
import type { CacheTtl } from '../../conversation/message.ts'
import type { Source, Span } from '../../json/source.ts'
import { scanArray, scanObject } from '../../json/json-scan.ts'
import { contentIn, withContent } from '../content/joined-content.ts'
import type { CacheMarks } from '../contract.ts'

/** Anthropic's `cache_control`, at up to four places: tools, system and messages, in this order. */
export const messagesCacheMarks: CacheMarks = {
  countMax: 4,

  around: (source, { start, end }) => [
    ...marksBetween(source, { start: 0, end: start }),
    ...marksBetween(source, { start: end, end: source.length }),
  ],

  marked: (entry, ttl, at) => {
    const content = contentIn(entry)
    if (content === null) return null
    const mark = `"cache_control":${JSON.stringify(ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' })}`
    if (content.kind === 'string')
      return withContent(entry, `[{"type":"text","text":${content.json},${mark}}]`)
    const part = scanArray(content.json, 0)?.elements.at(at === 'end' ? -1 : 0)
    const fields = part === undefined ? undefined : scanObject(content.json, part.start)?.entries
    const behind = fields?.at(-1)?.value.end
    const isMarked = fields?.some(({ key }) => content.json.slice(key.start, key.end) === '"cache_control"')
    if (behind === undefined || isMarked === true) return null
    return withContent(entry, `${content.json.slice(0, behind)},${mark}${content.json.slice(behind)}`)
  },
}

/** How long a mark has its block kept; nothing for what is none. */
export function cacheTtlOf(mark: unknown): readonly CacheTtl[] {
  if (!isJsonObject(mark)) return []
  return [mark['ttl'] === '1h' ? '1h' : '5m']
}

// --- internal ---

/** No quotation mark stands unescaped within a text: what looks like a mark is one, or a property that a tool calls so. */
const markPattern = /"cache_control"\s*:\s*(\{[^{}]*\})/g

function marksBetween(source: Source, { start, end }: Span): readonly CacheTtl[] {
  const found = source.latin1(start, end).matchAll(markPattern)
  return [...found].flatMap(([, mark = '']) => cacheTtlOf(parseJsonText(mark)))
}
