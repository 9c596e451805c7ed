import { isJsonObject, isPresent, type JsonObject } from '../../json/json-value.ts'
import type { AnswerFacts, CacheMiss, Finish, RemovalReason, RemovedThoughts } from '../answer-contract.ts'
import { answerIn, countRemoved, isText, statementsIn } from '../answer-json.ts'
import { blockKindOf } from './block-kinds.ts'
import { contentOf } from './reply/blocks.ts'
import { messageUsage } from './usage.ts'

/** What matters of a message, or of an error that stands in its place. */
export function readMessageAnswer(body: unknown): AnswerFacts | null {
  return answerIn(body, 'content', (answer, isError) => {
    const content = contentOf(answer)
    return {
      hasOutput: content.some(showsOutput),
      finish: messageFinish(answer['stop_reason']),
      usage: messageUsage(answer['usage'], content.some(isServers)),
      removedThoughts: removedThoughts(answer['input_transformations']),
      cacheMiss: cacheMiss(answer['diagnostics']),
      said: isError ? statementsIn(answer, 'content' in answer) : null,
    }
  })
}

/** Whether a block is what the server has done itself: then the model was sampled anew behind it. */
export function isServers(block: JsonObject): boolean {
  return blockKindOf(block, 'assistant') === 'done'
}

/** Why a message ended, by the reason that is stated; null if none is. */
export function messageFinish(reason: unknown): Finish | null {
  return isText(reason) ? (finishes.get(reason) ?? 'other') : null
}

/** Whether a block holds something to show. Thoughts may be encrypted, and a text empty. */
export function showsOutput(block: JsonObject): boolean {
  switch (block['type']) {
    case 'text':
      return isPresent(block['text'])
    case 'thinking':
      return isPresent(block['thinking'])
    case 'redacted_thinking':
      return false
    default:
      return true
  }
}

/** Counts what was left out of the prompt. Blocks that were shown although they failed a check are told of, too. */
export function removedThoughts(transformations: unknown): RemovedThoughts | null {
  return countRemoved(transformations, ({ type }) => type === 'thinking_dropped', removalReasons)
}

// --- internal ---

const cacheMisses: ReadonlyMap<unknown, CacheMiss> = new Map([
  ['model_changed', 'model'],
  ['system_changed', 'system'],
  ['tools_changed', 'tools'],
  ['messages_changed', 'messages'],
  ['previous_message_not_found', 'unknown'],
  ['unavailable', 'unavailable'],
])

/** Why the prompt was not found in the cache, if the client has asked and it was not. */
function cacheMiss(diagnostics: unknown): CacheMiss | null {
  const stated = isJsonObject(diagnostics) ? diagnostics['cache_miss_reason'] : null
  if (stated === null || stated === undefined) return null
  return cacheMisses.get(isJsonObject(stated) ? stated['type'] : stated) ?? 'other'
}

const finishes: ReadonlyMap<string, Finish> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['max_tokens', 'length'],
  ['tool_use', 'calls'],
  ['refusal', 'filtered'],
  ['model_context_window_exceeded', 'window'],
])

const removalReasons: ReadonlyMap<unknown, RemovalReason> = new Map([
  ['prefix_binding_mismatch', 'prefix'],
  ['model_binding_mismatch', 'model'],
  ['organization_binding_mismatch', 'organization'],
  ['end_user_binding_mismatch', 'end-user'],
])
