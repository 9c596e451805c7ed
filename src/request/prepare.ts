import type { ChatRequest, Remembered, Measure, Ready } from './request.ts'
import { hasFamily } from '../tokens/ratio.ts'
import { azureDeployment } from '../upstream/target.ts'
import type { Failures } from '../activity/failures.ts'
import type { MeasureRequest } from './measure/measure.ts'
import type { Records } from './records/records.ts'
import { asItCame, type Rewriter, type RewriteRequest } from './rewrite.ts'
import type { Models } from '../models/models.ts'
import { noFold, noOutlook, type MissingReason, type Summarizer } from '../proxy/summaries/summarizer.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { CompactWishes } from './records/compact-wishes.ts'
import type { Observed } from '../activity/request-report.ts'
import { summaryName } from '../proxy/summaries/summary-keys.ts'

export type Preparation = {
  readonly records: Records
  readonly models: Models
  readonly findWindow: (request: ChatRequest, conversation: string) => Promise<ResolvedWindow>
  readonly measure: (request: MeasureRequest) => Promise<Measure>
  readonly rewriter: Rewriter
  readonly summarizer: Summarizer
  readonly compactWishes: Pick<CompactWishes, 'take'>
  readonly failures: Failures
  readonly nowMs: () => number
}

/**
 * Looks up what is on record of a conversation and its model, measures it, and rewrites it if a compaction stands or is due.
 * Whatever fails here costs the compaction, never the request: the original bytes are ready at any time.
 */
export async function prepare(request: ChatRequest, parts: Preparation): Promise<Ready> {
  const { chat, received, place } = request
  const { failures } = parts
  const lookedUpAtMs = performance.now()
  const loading = parts.models.load(request.modelKey)
  const remembered = await parts.records.find(chat, place)
  if (loading !== null) await loading
  const relayedReason = whyUntouched(request, parts.models)
  const isWished = request.wishes.compact === 'force'
  const mayBeAsked = !isWished && relayedReason === null
  const asked = mayBeAsked && parts.compactWishes.take(remembered.conversation)
  const forced = isWished || (asked !== false && (await asked))
  const untouched = asItCame(chat, chat.bytes.length)

  const measure = await failures.around('measure', null, () =>
    measureRequest(
      request,
      parts,
      remembered,
      forced || remembered.compaction !== null || hasToPlace(request, parts),
    ),
  )
  const unwritten = {
    remembered,
    measure,
    outlook: noOutlook,
    failedOpen: null,
    relayedReason: null,
    summaries: [],
    observed: null,
  }
  if (measure === null) return { ...unwritten, prepared: untouched, failedOpen: 'measure' }
  const original = asItCame(relayedReason === null ? chat : received, measure.incomingTokens)
  if (relayedReason !== null || measure.counted === null) {
    const observed = request.profile.observe ? await observe(request, parts, remembered, measure) : null
    return { ...unwritten, prepared: original, relayedReason, observed }
  }
  const { counted } = measure
  const rewriting = rewriteRequest(request, parts, remembered)
  const { conversation, strict } = rewriting
  const wanted = { request, measure, counted, conversation, lookedUpAtMs, strict }
  let missing: MissingReason | null = null
  let summaries: readonly string[] = []
  const prepared = await failures.around('compaction', null, () =>
    parts.rewriter.prepare(rewriting, counted, {
      forced,
      foldFor: async (due) => {
        const found = await failures.around('summary', noFold, () => parts.summarizer.foldFor(wanted, due))
        missing = found.reason
        summaries = found.keys.map(summaryName)
        return found.fold
      },
    }),
  )
  if (prepared === null) return { ...unwritten, prepared: original, failedOpen: 'compaction' }
  const outlook = await failures.around('summary', noOutlook, () =>
    parts.summarizer.outlook(wanted, prepared.compacted),
  )
  // What this request had to do without is what its client wants to know.
  return { ...unwritten, prepared, summaries, outlook: { ...outlook, reason: missing ?? outlook.reason } }
}

/** Measures a request under the window that is known of its model now. `mustCount`: whatever its size. */
export async function measureRequest(
  request: ChatRequest,
  parts: Pick<Preparation, 'measure' | 'models' | 'findWindow'>,
  remembered: Remembered,
  mustCount: boolean,
): Promise<Measure> {
  return parts.measure({
    chat: request.chat,
    profile: request.profile,
    model: countedAs(request, parts.models.get(request.modelKey, 'name')),
    modelKey: request.modelKey,
    window: await parts.findWindow(request, remembered.conversation),
    compaction: remembered.compaction,
    scope: request.place.scope,
    conversation: remembered.conversation,
    addedTool: request.recall?.tool ?? null,
    mustCount,
  })
}

/** What the rewriter needs of a request. */
export function rewriteRequest(
  request: ChatRequest,
  parts: Pick<Preparation, 'models'>,
  remembered: Remembered,
): RewriteRequest {
  return {
    chat: request.chat,
    conversation: remembered.conversation,
    profile: request.profile,
    place: request.place,
    newest: remembered.compaction,
    seenUntil: remembered.seen?.point ?? null,
    sharedUntil: remembered.sharedUntil,
    strict: isStrict(request, parts),
  }
}

/** Why nothing is rewritten in a request, whatever its size; null where it may be. */
export function whyUntouched(request: ChatRequest, models: Pick<Models, 'get'>): string | null {
  if (request.profile.observe) return 'observe'
  if (request.wishes.compact === 'off') return 'off'
  if (models.get(request.modelKey, 'placement') === 'original') return 'refused-before'
  return null
}

// --- internal ---

/** What would be done with a request whose profile says that nothing is. */
async function observe(
  request: ChatRequest,
  parts: Preparation,
  remembered: Remembered,
  { counted, incomingTokens }: Measure,
): Promise<Observed> {
  const nothing = { passes: [], sentTokens: incomingTokens }
  if (counted === null) return nothing
  const rewriting = rewriteRequest(request, parts, remembered)
  const forced = request.wishes.compact === 'force'
  return parts.failures.around('compaction', nothing, async () => {
    // What was seen before was sent as it came: its past would have been another.
    const unseen = { ...rewriting, seenUntil: null, sharedUntil: null }
    const { compacted, sentTokens } = await parts.rewriter.dryRun(unseen, counted, { forced })
    return { passes: compacted?.view.passes ?? [], sentTokens }
  })
}

/** By whose rules a prompt is counted: a name that tells no family gives way to the one that answered. */
function countedAs({ model, exchange }: ChatRequest, answeredBy: string | null): string {
  const isAlias = azureDeployment(exchange.path) !== null || !hasFamily(model)
  return isAlias && answeredBy !== null ? answeredBy : model
}

function isStrict({ profile, modelKey }: ChatRequest, { models }: Pick<Preparation, 'models'>): boolean {
  if (profile.template !== 'auto') return profile.template === 'strict'
  return models.get(modelKey, 'placement') === 'strict'
}

/** Whether results that became user messages are to be joined with those beside them: a view is made then. */
function hasToPlace(request: ChatRequest, parts: Preparation): boolean {
  return (request.chat.repairs?.orphans ?? 0) > 0 && isStrict(request, parts)
}
