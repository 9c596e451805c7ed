import type { ReadRequest, Counted } from '../request.ts'
import { rangeIndexes } from '../../compaction/layout.ts'
import { isJsonObject, parseJsonText } from '../../conversation/json-value.ts'
import type { SummaryRange } from '../../compaction/compaction.ts'
import type { Compacted } from '../../compaction/compact.ts'
import type { ViewMessage } from '../../compaction/view/view-message.ts'
import type { Entry } from '../../summaries/transcript.ts'
import type { Order } from '../../summaries/order.ts'

export type CachedCall = {
  readonly request: ReadRequest
  readonly counted: Counted
  /** What the upstream has just been sent. */
  readonly compacted: Compacted
  readonly range: SummaryRange
  /** The same as a transcript, with what was summarised before. */
  readonly entries: readonly Entry[]
  readonly previous: string | null
}

/**
 * A way to ask for a summary at the end of the conversation as the upstream has just been sent it, cut at the summary's
 * end: where the provider reads that from its cache, it costs less than a transcript, and a local server keeps its own.
 * Null where it would cost more, or where the view does not show what is to be summarised.
 */
export function cachedCall(call: CachedCall): Order['warm'] {
  const { counted, range, request, entries, previous } = call
  const { profile, chat } = request
  const { summary } = profile
  const isOwn = summary.upstream === null && summary.model === null
  const isPlain = summary.system_prompt === null && summary.user_prompt === null
  if (!isOwn || !isPlain || chat.completion.responseFormat !== null || chat.completion.hasForcedToolChoice)
    return null
  const messages = messagesBefore(call.compacted, range.end)
  if (messages === null || isLong(request, messages) || !showsAll(call)) return null
  const systemCount = chat.structure.systemCount
  const viewTokens = messages.slice(systemCount).reduce((sum, { tokens }) => sum + tokens, 0)
  const promptTokens = counted.aroundTokens + viewTokens + INSTRUCTION_TOKENS
  const transcriptTokens =
    entries.reduce((sum, { tokens }) => sum + tokens, INSTRUCTION_TOKENS) +
    (previous === null ? 0 : counted.subject.count(previous))
  if (promptTokens * CACHED_PRICE + INSTRUCTION_TOKENS >= transcriptTokens) return null
  return { promptTokens, body: (instruction, own) => bodyOf(request, messages, instruction, own) }
}

// --- internal ---

/** What a prompt token from the cache costs at most where that is worth naming a cache: 0.1 at most providers. */
const CACHED_PRICE = 0.25

/** Of the instruction, about. */
const INSTRUCTION_TOKENS = 400

/** The messages of the view up to where the summary ends; null where that is no message of its tail. */
function messagesBefore({ view }: Compacted, end: number): readonly ViewMessage[] | null {
  const at = view.messages.findIndex(({ index }) => index === end)
  return at === -1 ? null : view.messages.slice(0, at)
}

/** A body of more messages is not made once more, in bytes; nor one with more around them, which has to be parsed. */
const MESSAGES_BYTES_MAX = 8 * 1024 * 1024
const AROUND_BYTES_MAX = 1024 * 1024

/** Whether it would take longer to make such a body than other requests should wait. */
function isLong({ chat }: ReadRequest, messages: readonly ViewMessage[]): boolean {
  const { start, end } = chat.completion.messages
  if (chat.bytes.length - (end - start) > AROUND_BYTES_MAX) return true
  const bytes = messages.reduce((sum, { item }) => {
    const message = item.kind === 'made' ? null : chat.messages[item.index]
    return sum + (item.kind === 'made' ? item.json.length : message ? message.end - message.start : 0)
  }, 0)
  return bytes > MESSAGES_BYTES_MAX
}

/** Whether every message that is to be summarised stands in the view as the client sent it. */
function showsAll({ compacted, range }: CachedCall): boolean {
  const covered = compacted.compaction?.fold?.summaries ?? []
  const whole = new Set(
    compacted.view.messages.flatMap(({ item }) => (item.kind === 'kept' ? [item.index] : [])),
  )
  return rangeIndexes(range, covered).every((index) => whole.has(index))
}

/** The client's own body with these messages and the instruction behind them, and fields of our own for the answer. */
function bodyOf(
  { chat, recall }: ReadRequest,
  messages: readonly ViewMessage[],
  instruction: string,
  own: Readonly<Record<string, unknown>>,
): string {
  const { start, end } = chat.completion.messages
  const body = parseJsonText(`${chat.source.text(0, start)}[]${chat.source.text(end, chat.bytes.length)}`)
  const fields = isJsonObject(body) ? body : {}
  // As the upstream has just been sent them: every prompt begins with its tools.
  const { tools } = fields
  const texts = messages.map(({ item }) => {
    if (item.kind === 'made') return item.json
    const message = chat.messages[item.index]
    return message === undefined ? '' : chat.source.text(message.start, message.end)
  })
  texts.push(JSON.stringify({ role: 'user', content: instruction }))
  const around = {
    ...fields,
    ...Object.fromEntries(leftOut.map((name) => [name, undefined])),
    ...(recall === null || !Array.isArray(tools) ? {} : { tools: [...tools, recall.tool] }),
    ...own,
    messages: undefined,
  }
  return `${JSON.stringify(around).slice(0, -1)},"messages":[${texts.join(',')}]}`
}

/** What belongs to the client's own answer. */
const leftOut = [
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'n',
  'stop',
  'logprobs',
  'top_logprobs',
  'prediction',
  'store',
  'metadata',
  'audio',
  'modalities',
  'web_search_options',
  // Of vLLM, SGLang and llama.cpp: what an answer must look like, and that the last message is to be continued.
  'add_generation_prompt',
  'continue_final_message',
  'echo',
  'grammar',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'ignore_eos',
  'json_schema',
  'min_tokens',
  'regex',
  'structured_outputs',
]
