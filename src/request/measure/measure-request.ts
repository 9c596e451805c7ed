import { hasFamily } from '../../tokens/families.ts'
import { isStrict, keepsNewestThoughts, whyUntouched } from '../learnt.ts'
import type { RequestParts } from '../parts.ts'
import { underWindow } from './measure.ts'
import { reserveOf } from './reserve.ts'
import { budgetOf } from '../../tokens/budget.ts'
import { findWindow } from './window-finder.ts'
import type { Measure, MeasuredRequest, ReadRequest, Remembered, Sending } from '../request.ts'

/** The stage that looks up what is on record of a conversation and its model, and measures it. */
export async function measureRequest(request: ReadRequest, parts: RequestParts): Promise<MeasuredRequest> {
  const { models, requestedCompactions, failures } = parts
  const lookedUpAtMs = performance.now()
  const loading = models.load(request.modelKey)
  const remembered = await parts.records.find(request.chat, request.place)
  if (loading !== null) await loading
  const untouched = whyUntouched(request, models)
  let isForced = request.options.compact === 'force'
  // Of a conversation that nobody has seen none can have been asked for.
  if (!isForced && untouched === null && remembered.isKnown)
    isForced = await requestedCompactions.take(remembered.conversation)
  const found = { ...request, remembered, whyUntouched: untouched, isForced, lookedUpAtMs }
  // Results that became user messages may have to be joined with those beside them: a view is made then.
  const hasOrphans = (request.chat.repairs?.orphans ?? 0) > 0
  const mustCount = isForced || remembered.compaction !== null || (hasOrphans && isStrict(request, models))
  const measure = await failures.around('measure', null, measureOf, found, parts, mustCount)
  return { ...found, measure }
}

/** Measures a request under the window that is known of its model now. `mustCount`: whatever its size. */
async function measureOf(
  request: ReadRequest & { readonly remembered: Remembered },
  parts: RequestParts,
  mustCount: boolean,
): Promise<Measure> {
  const { model, modelKey, deployment } = request
  // A name that tells no family gives way to the one that answered.
  const isAlias = deployment !== null || !hasFamily(model)
  const answeredBy = isAlias ? parts.models.get(modelKey, 'name') : null
  const window = await findWindow(request, parts)
  const measure = await parts.measure(request, { model: answeredBy ?? model, window, mustCount })
  const { counted } = measure
  if (counted === null || !keepsNewestThoughts(request, parts.models)) return measure
  return { ...measure, counted: { ...counted, subject: { ...counted.subject, keepsNewestThoughts: true } } }
}

/** The request counted, even if its size had not asked for it. */
export async function countedMeasure(sending: Sending, parts: RequestParts): Promise<Measure> {
  const { measure, request } = sending
  if (measure !== null && measure.counted !== null) return measure
  sending.measure = await measureOf(request, parts, true)
  return sending.measure
}

/**
 * The measure as it is told of a request that was refused and then answered: by what is known now of the window of its model,
 * since a refusal has disproved what it was measured by.
 */
export async function measureAfterRefusal(
  { measure, request }: Sending,
  parts: RequestParts,
): Promise<Measure | null> {
  if (measure === null) return null
  return parts.failures.around('measure', measure, async () => {
    const window = await findWindow(request, parts)
    const isLimitHeld = parts.windows.holdsLimit(request.modelKey, window.tokens)
    return underWindow(measure, window, budgetOf(window, reserveOf(request), isLimitHeld))
  })
}
