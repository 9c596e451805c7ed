import { continuedBody } from '../../formats/continued-body.ts'
import type { WorthyRange } from '../../compaction/fold-ahead.ts'
import type { Compacted } from '../../compaction/compact.ts'
import type { Compaction, SummaryRange } from '../../compaction/compaction.ts'
import { rangeIndexes } from '../../compaction/folded-parts.ts'
import { type ModelKey, modelKeyOf } from '../../models/model-record.ts'
import { readsFromCache } from '../../models/learn.ts'
import { resolveWindow } from '../../models/resolve-window.ts'
import { matchProfile } from '../../profiles/match.ts'
import { countBelow } from '../../conversation/structure.ts'
import { pauseIfDue, runInSlices } from '../../scheduling/drive.ts'
import type { CachedCall, SummaryResult } from '../../summaries/summary-order.ts'
import { createAsk, type Destination } from '../../summaries/summary-call.ts'
import { summaryKey } from '../../summaries/summary-record.ts'
import type { SummaryWriter } from '../../summaries/summary-writer.ts'
import { transcriptOf } from '../../summaries/transcript.ts'
import { writeSummary } from '../../summaries/write-summary.ts'
import { credentialHeadersOf, headerValue } from '../../upstream/credential.ts'
import { askingTarget, keysOfQuery, modelTarget } from '../../upstream/target.ts'
import type { SummaryParts } from './open-summaries.ts'
import { knownWindow } from '../measure/measure.ts'
import type { Counted, MeasuredRequest, ReadRequest } from '../request.ts'
import type { ViewMessage } from '../../compaction/view/view-message.ts'
import { isJsonObject, type JsonObject, parseJsonText } from '../../json/json-value.ts'
import { standaloneJson } from '../../json/splice.ts'
import type { Material } from '../../summaries/prompt.ts'
import { textWithout } from '../billing-line.ts'
import { withDeployment } from '../send/outgoing-body.ts'

/** Which messages of a request's conversation are to be summarised, and what that may cost. */
export type OrderedSummary = {
  readonly request: MeasuredRequest
  readonly counted: Counted
  /** The compaction that the conversation stands in. */
  readonly compaction: Compaction | null
  /** The view that the upstream has just been sent; null if it has not been sent yet. */
  readonly sent: Compacted | null
  readonly range: WorthyRange
  /** Prompt tokens that may be sent for it, by our count. */
  readonly spendableTokens: number
}

/** The model that writes summaries for a request, and at which upstream for whom. */
export function summaryModelOf({
  profile,
  modelKey,
  model,
}: ReadRequest): Pick<ModelKey, 'upstream' | 'credential' | 'model'> {
  const { summary } = profile
  // Another upstream is not sent the client's headers, by which the same model may be known under a name of its own.
  const own = summary.upstream === null ? modelKey.model : model
  return {
    upstream: summary.upstream ?? modelKey.upstream,
    credential: modelKey.credential,
    model: summary.model ?? own,
  }
}

/**
 * Has a summary written: continued from what was summarised before, with the messages that this does not cover. Nothing
 * of the conversation is read before it is this one's turn.
 */
export async function orderSummary(
  ordered: OrderedSummary,
  parts: SummaryParts,
  signal: AbortSignal,
): Promise<SummaryResult> {
  const { request, sent, range } = ordered
  const { history } = ordered.counted
  const { profile, chat } = request
  const modelKey = summaryKeyOf(request, parts)
  const material = await materialOf(ordered, parts)
  const order = {
    ...material,
    replacedTokens: range.replacedTokens,
    settings: profile.summary,
    dialect: chat.dialect,
    model: profile.summary.model ?? chat.body.model,
    limitField: chat.body.outputLimit?.field ?? chat.dialect.summaries.limitFields[0],
    modelOptions: isOwnModel(profile) ? chat.body.modelOptions : null,
    windowTokens: windowOf(request, parts),
    spendableTokens: ordered.spendableTokens,
    cachedCall:
      sent === null || !readsFromCache(parts.models, request.modelKey)
        ? null
        : cachedCall(ordered, sent, material),
    rejectionsKey: JSON.stringify([modelKey.upstream, modelKey.model]),
    history,
  }
  const ask = createAsk(destinationOf(request), {
    ...parts,
    onRateLimited: (retryAfterMs) => parts.rateLimits.note(modelKey, retryAfterMs),
  })
  const result = await writeSummary(order, ask, parts.rejections, signal)
  if (result.learntWindowTokens !== null) {
    const window = { tokens: result.learntWindowTokens, kind: 'total' as const }
    const classification = { class: 'overflow', window, promptTokens: null, remedy: 'compact' } as const
    // The window is smaller than the prompt that was refused: the summary's writer has seen to that.
    const refused = { classification, expectedTokens: window.tokens, outputTokens: null }
    parts.windows.refused(modelKey, SUMMARIES, refused)
  }
  return result
}

// --- internal ---

/** That model as what is learnt of it is kept. */
function summaryKeyOf(request: ReadRequest, { upstreams }: Pick<SummaryParts, 'upstreams'>): ModelKey {
  const { upstream, credential, model } = summaryModelOf(request)
  const address = upstreams.addressOf(request.profile.summary.upstream ?? request.upstreamName)
  return modelKeyOf(upstream, credential, model, address.display)
}

/** In the place of a conversation: whichever is summarised, it is the model's window. */
const SUMMARIES = 'summaries'

/** A summary of some messages, as far as a further one can go on from it. */
type EarlierSummary = SummaryRange & { readonly text: string }

/** The summary so far, and the messages that it does not cover. */
async function materialOf(ordered: OrderedSummary, { writer }: SummaryParts): Promise<Material> {
  const { counted, compaction, range } = ordered
  const standing = (compaction?.fold?.summaries ?? []).filter(
    ({ start, end }) => start >= range.start && end <= range.end,
  )
  const reach = standing.reduce((furthest, { end }) => Math.max(furthest, end), range.start)
  const earlier = await earlierSummary(ordered, reach, writer)
  const known: readonly EarlierSummary[] = earlier === null ? standing : [earlier]
  return {
    previous: known.length === 0 ? null : known.map(({ text }) => text).join('\n\n'),
    messages: await runInSlices(transcriptOf(counted.history, rangeIndexes(range, known))),
  }
}

/**
 * A summary of the beginning of the range that is on record and reaches further than the standing ones: it came too late
 * for its compaction, or was made for another model or a branch of the conversation.
 */
async function earlierSummary(
  { request, counted: { history }, range }: OrderedSummary,
  reach: number,
  writer: Pick<SummaryWriter, 'find'>,
): Promise<EarlierSummary | null> {
  const wanted: (SummaryRange & { readonly key: string })[] = []
  for (let end = range.end - 1; end > reach && wanted.length < LOOKED_BACK_MAX; end -= 1) {
    if (!request.chat.structure.isFrontier(end)) continue
    const except = range.except.slice(0, countBelow(range.except, end))
    const earlier = { start: range.start, end, except }
    wanted.push({ ...earlier, key: summaryKey(request, earlier, history.digest) })
    // A key says which messages are left out, and they may be thousands.
    if (range.except.length > EXCEPT_FEW) await pauseIfDue()
  }
  while (wanted.length > 0) {
    const found = await writer.find(wanted.map(({ key }) => key))
    if (found === null) return null
    // Behind one that failed there may be one that did not.
    const summary = wanted.splice(0, found.index + 1).at(-1)
    if (found.record.kind === 'written' && summary !== undefined)
      return { ...summary, text: found.record.text }
  }
  return null
}

/** Frontiers at which an earlier summary is looked for. */
const LOOKED_BACK_MAX = 256

/** Keys that say no more take no time. */
const EXCEPT_FEW = 64

/** Where a request's summaries are asked for: where it goes itself, with its own headers, or at an upstream of the operator's. */
function destinationOf({ exchange, profile, upstreamName, dialect }: ReadRequest): Destination {
  const { upstream, model } = profile.summary
  const { target, rawHeaders, clientKeyName } = exchange
  const withholdCredential = clientKeyName !== null
  if (upstream === null) {
    const asking = askingTarget(target, dialect)
    const own = model === null ? asking : withDeployment(asking, model)
    return { upstream: upstreamName, target: own, rawHeaders, withholdCredential }
  }
  // The settings of that upstream decide whether it gets to see the client's credential.
  const keys = keysOfQuery(target.query)
  return {
    upstream,
    target: { ...modelTarget(dialect), query: keys === '' ? '' : `?${keys}` },
    rawHeaders: [
      'user-agent',
      USER_AGENT,
      // What the API wants, as the client says it.
      ...Object.entries(dialect.summaries.headers).flatMap(([name, value]) => [
        name,
        headerValue(rawHeaders, name) ?? value,
      ]),
      ...credentialHeadersOf(rawHeaders),
    ],
    withholdCredential,
  }
}

const USER_AGENT = 'foldgate-summaries'

/** Whether the model of a conversation writes its summaries itself. */
function isOwnModel({ summary }: ReadRequest['profile']): boolean {
  return summary.upstream === null && summary.model === null
}

/** The window of the summary model, in its own tokens; null if it is a guess. */
function windowOf(request: MeasuredRequest, parts: SummaryParts): number | null {
  const { models, profiles, upstreams } = parts
  const { summary } = request.profile
  if (isOwnModel(request.profile)) return knownWindow(request.measure)?.tokens ?? null
  const modelKey = summaryKeyOf(request, parts)
  const match = matchProfile(profiles(), { model: modelKey.model, headers: {}, requested: null })
  // A profile for all models says nothing of this one.
  const isNamed = match.kind !== 'unknown' && match.profile.models.length > 0
  const { tokens, max } = isNamed ? match.profile.window : UNKNOWN_WINDOW
  const { source, tokens: found } = resolveWindow({
    configuredTokens: tokens === 'auto' ? null : tokens,
    maxTokens: max,
    learnt: models.belief(modelKey, 'window'),
    suggestedTokens: null,
    answeredTokens: 0,
    reserve: { tokens: summary.max_tokens, of: 'request' },
    server: null,
    names: [modelKey.model],
    host: upstreams.addressOf(summary.upstream ?? request.upstreamName).hostname,
  })
  return source === 'default' ? null : found
}

const UNKNOWN_WINDOW = { tokens: 'auto', max: null } as const

/**
 * A way to ask for a summary at the end of the conversation as the upstream has just been sent it, cut at the summary's
 * end: where the provider reads that from its cache, it costs less than a transcript, and a local server keeps its own.
 * Null if it would cost more, or if the view does not show what is to be summarised.
 */
function cachedCall(
  { request, counted, range }: OrderedSummary,
  sent: Compacted,
  transcript: Material,
): CachedCall | null {
  const { profile, chat } = request
  const { summary } = profile
  const isPlain = summary.system_prompt === null && summary.user_prompt === null
  if (!isOwnModel(profile) || !isPlain || chat.body.schema !== null || chat.body.isToolForced) return null
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
    INSTRUCTION_TOKENS + (previous === null ? 0 : counted.history.count(previous)),
  )
  if (promptTokens * CACHED_PRICE + INSTRUCTION_TOKENS >= transcriptTokens) return null
  return { promptTokens, body: (instruction, fields) => bodyOf(request, messages, instruction, fields) }
}

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
  const own = isJsonObject(around) ? around : {}
  return continuedBody(chat.dialect, own, texts, recall?.tool ?? null, fields)
}
