import { hasFamily } from '../../tokens/tokenizer-families.ts'
import { isStrict, keepsNewestThoughts, whyUntouched } from '../model-lessons.ts'
import type { RequestParts } from '../request-parts.ts'
import { reserveOf, underWindow } from './measure.ts'
import { budgetOf, type Reserve } from '../../tokens/budget.ts'
import type { Counted, Measure, MeasuredRequest, ReadRequest, Remembered, Sending } from '../request.ts'
import type { Models } from '../../models/models.ts'
import { type ResolvedWindow, resolveWindow, type ServerFigure } from '../../models/resolve-window.ts'
import type { StatedWindow } from '../../overflow/classification.ts'
import { isListedAt } from '../../models/table/window-table.ts'
import type { ServerWindow, ServerWindows } from '../../models/discovery/server-windows.ts'
import type { WindowQuestion } from '../../models/discovery/ask-json.ts'
import type { ModelKey } from '../../models/model-record.ts'
import { InvariantError } from '../../errors.ts'

/** The stage that looks up what is on record of a conversation and its model, and measures it. */
export async function measureRequest(request: ReadRequest, parts: RequestParts): Promise<MeasuredRequest> {
  const { models, requestedCompactions, failures } = parts
  const loading = models.load(request.modelKey)
  const remembered = await parts.records.find(request.chat, request.place)
  await loading
  const untouched = whyUntouched(request, models)
  let isForced = request.options.compact === 'force'
  // Of a conversation that nobody has seen none can have been asked for.
  if (!isForced && untouched === null && remembered.isKnown)
    isForced = await requestedCompactions.take(remembered.conversation)
  const lookedUp = { ...request, remembered, whyUntouched: untouched, isForced }
  // Results that became user messages may have to be joined with those beside them: a view is made then.
  const hasOrphans = (request.chat.repairs?.orphans ?? 0) > 0
  const mustCount = isForced || remembered.compaction !== null || (hasOrphans && isStrict(request, models))
  const measure = await failures.around('measure', null, measureOf, lookedUp, parts, mustCount)
  return { ...lookedUp, measure }
}

/** Measures a request under the window that is known of its model now. `mustCount`: whatever its size. */
async function measureOf(
  request: LookedUpRequest,
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
  return { ...measure, counted: { ...counted, history: { ...counted.history, keepsNewestThoughts: true } } }
}

/** The request counted, even if its size had not asked for it: its measure says so from then on. */
export async function countedIn(sending: Sending, parts: RequestParts): Promise<Counted> {
  const known = sending.measure?.counted ?? null
  if (known !== null) return known
  sending.measure = await measureOf(sending.request, parts, true)
  const { counted } = sending.measure
  if (counted === null) throw new InvariantError('the request was not counted')
  return counted
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

// --- internal ---

type LookedUpRequest = ReadRequest & { readonly remembered: Remembered }

/**
 * The window of a request's model, as it is known now. With `window.tokens: auto` the server is asked, off the path of
 * requests: only the first request of a model that the built-in table does not list at its host waits for the answer,
 * within a bound.
 */
async function findWindow(request: LookedUpRequest, parts: RequestParts): Promise<ResolvedWindow> {
  const { models, windows, serverWindows, upstreams, warnings } = parts
  const { model, modelKey, deployment, profile, question, upstreamName } = request
  const host = upstreams.addressOf(upstreamName).hostname
  const isAuto = profile.window.tokens === 'auto'
  const isUnknown = isAuto && models.belief(modelKey, 'window') === null
  if (isUnknown && !isListedAt(model, host) && serverWindows.shouldWait(question)) {
    serverWindows.lookup(question)
    await request.turn.aside(serverWindows.settled(question, FIRST_WAIT_MS))
  }
  const learnt = models.belief(modelKey, 'window')
  const answeredBy = models.get(modelKey, 'name')
  // A beta, or an option, that the request asks for gives the model another window.
  const isWidened = modelKey.model !== model
  const reserve = reserveOf(request)
  const requestTokens = request.chat.body.windowTokens
  const sources = {
    configuredTokens: profile.window.tokens === 'auto' ? null : profile.window.tokens,
    requestTokens,
    maxTokens: profile.window.max,
    learnt,
    suggestedTokens: windows.suggestedTokens(modelKey, request.remembered.conversation),
    answeredTokens: models.get(modelKey, 'answered') ?? 0,
    server: isAuto
      ? serverFigure(modelKey, statedBy(serverWindows, question, answeredBy, isWidened), reserve, models)
      : null,
    // An Azure deployment may be called after another model: there the name in its answers is looked up first.
    names:
      answeredBy === null || isWidened
        ? [modelKey.model]
        : deployment === null
          ? [model, answeredBy]
          : [answeredBy, model],
    host,
    reserve,
  }
  const window = resolveWindow(sources)
  models.noteWindow(modelKey, profile.name, sources)
  if (window.overruledTokens !== null) warnings.overruled(profile.name, model, window)
  const loadedTokens = sources.server?.isLoaded === true ? sources.server.tokens : Infinity
  if (loadedTokens < (requestTokens ?? 0)) {
    // Before its first answer what is loaded may be somebody else's.
    if (sources.answeredTokens > 0)
      warnings.loadedLess(model, { asked_tokens: requestTokens, loaded_tokens: loadedTokens })
    windows.exceeded(modelKey, loadedTokens)
  }
  return window
}

/** How long the first request of a model that nobody knows waits for its server's word, in milliseconds. */
const FIRST_WAIT_MS = 1_000

/**
 * By the name that was asked for, else by the one that answered: an alias is known to neither list. Of a model whose window is
 * `isWidened` by the request only what is loaded says something: a catalogue has the window without that.
 */
function statedBy(
  serverWindows: ServerWindows,
  question: WindowQuestion,
  answeredBy: string | null,
  isWidened: boolean,
): ServerWindow | null {
  const stated = serverWindows.lookup(question)
  if (isWidened) return stated?.isLoaded === true ? stated : null
  if (stated !== null || answeredBy === null || answeredBy === question.model) return stated
  return serverWindows.lookup({ ...question, model: answeredBy })
}

/** Where a server limits the prompt and the whole, the one that leaves a prompt less beside this reserve. */
function bindingWindow({ tokens, kind, inputTokens }: ServerWindow, reserve: Reserve): StatedWindow {
  const isTighter = inputTokens !== null && inputTokens < budgetOf({ tokens, kind }, reserve)
  return isTighter ? { tokens: inputTokens, kind: 'input' } : { tokens, kind }
}

/** The window that the server states. It is noted, so that it is known since when it holds. */
function serverFigure(
  key: ModelKey,
  said: ServerWindow | null,
  reserve: Reserve,
  models: Models,
): ServerFigure | null {
  if (said === null) {
    models.forget(key, 'stated')
    return null
  }
  const { tokens, kind } = bindingWindow(said, reserve)
  const { isLoaded } = said
  const before = models.get(key, 'stated')
  const hasChanged = before !== null && (before.hasChanged || before.tokens !== said.tokens)
  models.set(key, 'stated', { tokens: said.tokens, kind: said.kind, isLoaded, hasChanged }, 'server')
  const sinceMs = hasChanged ? (models.belief(key, 'stated')?.sinceMs ?? 0) : 0
  return { tokens, kind, isLoaded, sinceMs }
}
