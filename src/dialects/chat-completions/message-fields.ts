import { scanObject } from '../../conversation/json-scan.ts'
import { readKey } from '../../conversation/json-value.ts'
import type { Source, Span } from '../../conversation/source.ts'

/**
 * Where a message's content stands, relative to its first byte; 'none' where there is none. Null where a key stands
 * twice, since which one counts is anybody's guess, and where there are more keys than any message has.
 */
export function findContent(source: Source, message: Span): Span | 'none' | null {
  const scanned = scanObject(source.latin1(message.start, message.end), 0)
  if (scanned === null || scanned.entries.length > KEYS_MAX) return null
  const keys = new Set<string>()
  let content: Span | 'none' = 'none'
  for (const { key, value } of scanned.entries) {
    const name = readKey(source, { start: message.start + key.start, end: message.start + key.end })
    if (name === null || keys.has(name)) return null
    keys.add(name)
    if (name === 'content') content = value
  }
  return content
}

// --- internal ---

/** Of a message itself, whatever its parts have. */
const KEYS_MAX = 1_000
