import { LRUCache } from 'lru-cache'
import type { TextTreatment } from './passes/passes.ts'

/**
 * What Foldgate wrote, with its size in tokens: a message's JSON, a recap's text, what was found in a message.
 * `text` null where there is nothing: a treatment that changed nothing, a recap that had no room.
 */
export type Made = {
  readonly text: string | null
  readonly tokens: number
  /** What became of the message, which may be less than was asked for; null where it is none, or stays as it was. */
  readonly how: MadeHow | null
}

/** What a message was made by; `unbound`: by no more than that thoughts in it went; `resolved`: by the text that it refers to. */
export type MadeHow = 'resolved' | TextTreatment | 'cleared' | 'unloaded' | 'clipped' | 'unbound'

/**
 * Remembers what was made of which bytes, so that a view that stands between two compactions costs no work.
 * Keys name the content by digest and every setting that the outcome depends on.
 */
export type MadeCache = {
  readonly get: (key: string) => Made | undefined
  readonly set: (key: string, made: Made) => void
}

/** A cache that holds at most so many bytes of made messages, as they stand in memory. */
export function createMadeCache({ bytesMax }: { readonly bytesMax: number }): MadeCache {
  const sizeCalculation = ({ text }: Made): number => ENTRY_BYTES + BYTES_PER_CHARACTER * (text?.length ?? 0)
  return new LRUCache<string, Made>({ maxSize: bytesMax, sizeCalculation })
}

// --- internal ---

/** What an entry weighs beside its text: the key and the object around it. */
const ENTRY_BYTES = 400

/** At the most: a text without letters beyond Latin ones takes half. */
const BYTES_PER_CHARACTER = 2
