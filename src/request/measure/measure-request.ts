import type { Failures } from '../../activity/failures.ts'
import type { Models } from '../../models/models.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { countedModel, isStrict, whyUntouched } from '../learnt.ts'
import type { CompactWishes } from '../records/compact-wishes.ts'
import type { Records } from '../records/records.ts'
import type { Measure, MeasuredRequest, ReadRequest, Remembered } from '../request.ts'
import type { MeasureRequest } from './measure.ts'

export type MeasureParts = {
  readonly records: Pick<Records, 'find'>
  readonly models: Pick<Models, 'get' | 'load'>
  readonly compactWishes: Pick<CompactWishes, 'take'>
  readonly findWindow: (request: ReadRequest, conversation: string) => Promise<ResolvedWindow>
  readonly measure: (request: MeasureRequest) => Promise<Measure>
  readonly failures: Failures
}

/** The stage that looks up what is on record of a conversation and its model, and measures it. */
export async function measureRequest(request: ReadRequest, parts: MeasureParts): Promise<MeasuredRequest> {
  const { models, compactWishes, failures } = parts
  const lookedUpAtMs = performance.now()
  const loading = models.load(request.modelKey)
  const remembered = await parts.records.find(request.chat, request.place)
  if (loading !== null) await loading
  const untouched = whyUntouched(request, models)
  let isForced = request.options.compact === 'force'
  if (!isForced && untouched === null) {
    const taking = compactWishes.take(remembered.conversation)
    isForced = taking !== false && (await taking)
  }
  const found = { ...request, remembered, whyUntouched: untouched, isForced, lookedUpAtMs }
  const mustCount = isForced || remembered.compaction !== null || hasToPlace(request, models)
  const measure = await failures.around('measure', null, () => measureOf(found, parts, mustCount))
  return { ...found, measure }
}

/** Measures a request under the window that is known of its model now. `mustCount`: whatever its size. */
export async function measureOf(
  request: ReadRequest & { readonly remembered: Remembered },
  { measure, models, findWindow }: Pick<MeasureParts, 'measure' | 'models' | 'findWindow'>,
  mustCount: boolean,
): Promise<Measure> {
  const { chat, profile, modelKey, place, recall, remembered } = request
  const { conversation, compaction } = remembered
  return measure({
    chat,
    profile,
    model: countedModel(request, models),
    modelKey,
    window: await findWindow(request, conversation),
    compaction,
    scope: place.scope,
    conversation,
    addedTool: recall?.tool ?? null,
    mustCount,
  })
}

// --- internal ---

/** Whether results that became user messages are to be joined with those beside them: a view is made then. */
function hasToPlace(request: ReadRequest, models: Pick<Models, 'get'>): boolean {
  return (request.chat.repairs?.orphans ?? 0) > 0 && isStrict(request, models)
}
