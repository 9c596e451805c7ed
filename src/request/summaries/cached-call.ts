import type { Compacted } from '../../compaction/compact.ts'
import type { SummaryRange } from '../../compaction/compaction.ts'
import { rangeIndexes } from '../../compaction/layout.ts'
import type { ViewMessage } from '../../compaction/view/view-message.ts'
import { isJsonObject, parseJsonText, type JsonObject } from '../../conversation/json-value.ts'
import { standaloneJson } from '../../conversation/splice.ts'
import type { CachedCall } from '../../summaries/order.ts'
import type { Material } from '../../summaries/prompt.ts'
import { textWithout } from '../billing-line.ts'
import type { Counted, ReadRequest } from '../request.ts'

/** The parts that a cached call is made of. */
export type CachedCallParts = {
  readonly request: ReadRequest
  readonly counted: Counted
  /** The view that the upstream has just been sent. */
  readonly sent: Compacted
  readonly range: SummaryRange
  /** The other way to ask. */
  readonly transcript: Material
}

/**
 * A way to ask for a summary at the end of the conversation as the upstream has just been sent it, cut at the summary's
 * end: where the provider reads that from its cache, it costs less than a transcript, and a local server keeps its own.
 * Null if it would cost more, or if the view does not show what is to be summarised.
 */
export function cachedCall(parts: CachedCallParts): CachedCall | null {
  const { request, counted, sent, range, transcript } = parts
  const { profile, chat } = request
  const { summary } = profile
  const isOwn = summary.upstream === null && summary.model === null
  const isPlain = summary.system_prompt === null && summary.user_prompt === null
  if (!isOwn || !isPlain || chat.body.schema !== null || chat.body.isToolForced) return null
  // The view up to where the summary ends, if that is a message of its tail.
  const end = sent.view.messages.findIndex(({ index }) => index === range.end)
  const messages = sent.view.messages.slice(0, end)
  if (end === -1 || isLong(request, messages) || !showsAll(sent, range)) return null
  const viewTokens = messages
    .slice(chat.structure.systemCount)
    .reduce((sum, { tokens }) => sum + tokens, counted.aroundTokens)
  const promptTokens = viewTokens + INSTRUCTION_TOKENS
  const { previous } = transcript
  const transcriptTokens = transcript.messages.reduce(
    (sum, { tokens }) => sum + tokens,
    INSTRUCTION_TOKENS + (previous === null ? 0 : counted.subject.count(previous)),
  )
  if (promptTokens * CACHED_PRICE + INSTRUCTION_TOKENS >= transcriptTokens) return null
  return { promptTokens, body: (instruction, fields) => bodyOf(request, messages, instruction, fields) }
}

// --- internal ---

/** The most that a prompt token from the cache costs where that is worth naming a cache: 0.1 at most providers. */
const CACHED_PRICE = 0.25

/** Of the instruction, about. */
const INSTRUCTION_TOKENS = 400

/** A body of more messages is not made once more, in bytes; nor one with more around them, which has to be parsed. */
const MESSAGES_BYTES_MAX = 8 * 1024 * 1024
const AROUND_BYTES_MAX = 1024 * 1024

/** Whether it would take longer to make such a body than other requests should wait. */
function isLong({ chat }: ReadRequest, messages: readonly ViewMessage[]): boolean {
  const { start, end } = chat.body.history
  if (chat.bytes.length - (end - start) > AROUND_BYTES_MAX) return true
  const bytes = messages.reduce((sum, { item }) => {
    const message = item.kind === 'made' ? null : chat.messages[item.index]
    return sum + (item.kind === 'made' ? item.json.length : message ? message.end - message.start : 0)
  }, 0)
  return bytes > MESSAGES_BYTES_MAX
}

/** Whether every message that is to be summarised stands in the view as the client sent it. */
function showsAll({ compaction, view }: Compacted, range: SummaryRange): boolean {
  const covered = compaction?.fold?.summaries ?? []
  const whole = new Set(view.messages.flatMap(({ item }) => (item.kind === 'kept' ? [item.index] : [])))
  return rangeIndexes(range, covered).every((index) => whole.has(index))
}

/** The client's own body with these messages and the instruction behind them, and `fields` for the answer. */
function bodyOf(
  { chat, recall, blanksBilling }: ReadRequest,
  messages: readonly ViewMessage[],
  instruction: string,
  fields: JsonObject,
): string {
  const { start, end } = chat.body.history
  const line = blanksBilling ? chat.body.billingLine : null
  const [before, behind] = [
    { start: 0, end: start },
    { start: end, end: chat.bytes.length },
  ].map((span) => textWithout(line, chat.source, span))
  const around = parseJsonText(`${before}[]${behind}`)
  const texts = messages.map(({ item }) => standaloneJson(chat.source, chat.messages, item))
  texts.push(chat.dialect.entries.user(instruction))
  const { continued } = chat.dialect.summaries
  return continued(isJsonObject(around) ? around : {}, texts, recall?.tool ?? null, fields)
}
