import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import { readAnswer } from '../answers.ts'
import { readEventText, writeEvent } from '../../typed-events.ts'

/** What an event of a streamed chat completion says. `other`: a comment, or nothing that can be read. */
export type Chunk =
  | { readonly kind: 'other' }
  | { readonly kind: 'done' }
  | { readonly kind: 'error' }
  | { readonly kind: 'chunk'; readonly json: JsonObject; readonly choice: ChunkChoice | null }

/** The first choice of a chunk; null where it has none. */
export type ChunkChoice = {
  readonly json: JsonObject
  readonly delta: JsonObject
  readonly finishReason: string | null
  /** Whether the chunk has others, or is of another. */
  readonly isOneOfSeveral: boolean
}

/** Reads one event, given with the blank line at its end. */
export function readChunk(event: string): Chunk {
  const read = readEventText(event)
  if (read.kind !== 'data') return read
  const { json } = read
  if (!isJsonObject(json)) return { kind: 'other' }
  if (readAnswer(json)?.isError !== false) return { kind: 'error' }
  return { kind: 'chunk', json, choice: choiceIn(json) }
}

/** A chunk as an event; null where it is nested too deep to be written. */
export function writeChunk(json: JsonObject): string | null {
  return writeEvent('', json)
}

// --- internal ---

function choiceIn(json: JsonObject): ChunkChoice | null {
  const choices = json['choices']
  if (!Array.isArray(choices)) return null
  const [choice]: unknown[] = choices
  if (!isJsonObject(choice)) return null
  const finishReason = choice['finish_reason']
  return {
    json: choice,
    delta: isJsonObject(choice['delta']) ? choice['delta'] : {},
    finishReason: typeof finishReason === 'string' && finishReason !== '' ? finishReason : null,
    isOneOfSeveral: choices.length > 1 || (choice['index'] ?? 0) !== 0,
  }
}
