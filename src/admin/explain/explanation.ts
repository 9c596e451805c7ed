import type { Chat, Counted, Form, Measure, RecallOffer } from '../../pipeline/request.ts'
import { createMadeCache } from '../../compaction/made-cache.ts'
import { type TextPassName, textPasses } from '../../compaction/passes/passes.ts'
import { pinnedTokens } from '../../compaction/plan/pins.ts'
import { type MessageTreatment, outlineOf } from '../../compaction/outline.ts'
import type { Settings } from '../../config/settings.ts'
import { defaultUpstreamUrl } from '../../config/settings-schema.ts'
import { FoldgateError, InvariantError } from '../../errors.ts'
import { nothingCounted } from '../../models/counts/counts.ts'
import { modelKeyOf } from '../../models/model-record.ts'
import { budgetOf, thresholdTokens } from '../../tokens/budget.ts'
import { startingRatio } from '../../tokens/tokenizer-families.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { matchProfile } from '../../profiles/match.ts'
import { hasSummaries, targetOf, triggerOf, type Profile } from '../../profiles/schema.ts'
import { runInSlices } from '../../scheduling/drive.ts'
import { blanksBilling, withoutBilling } from '../../pipeline/billing-line.ts'
import { createMeasure, reserveOf } from '../../pipeline/measure/measure.ts'
import { repairedChat } from '../../pipeline/repair-request.ts'
import { createRecallOffers, withTool } from '../../pipeline/recall/recall-offer.ts'
import { readBytes, readLimits, withFreeThoughts } from '../../pipeline/read/read-chat.ts'
import { dryRun, originalForm } from '../../pipeline/compact/forms.ts'
import { bytesOf } from '../../pipeline/send/outgoing-body.ts'
import { withUsageAsked } from '../../pipeline/send/usage-in-streams.ts'
import { ASKED_SCOPE, readAsked, readingOnce } from './read-asked.ts'
import { tallyReceived, tallySent } from './token-tally.ts'
import { warningsOf } from './explanation-warnings.ts'
import { lowestThresholdTokens } from '../../compaction/due.ts'
import { parseUpstreamAddress } from '../../upstream/address.ts'

/** The window that a model gets under a profile; `requestTokens`: what the request has it loaded with. */
export type FindWindow = (
  profile: Profile,
  model: string,
  requestTokens: number | null,
) => Promise<ResolvedWindow>

export type ExplainParts = {
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly findWindow: FindWindow
  readonly settings: Pick<Settings, 'upstreams' | 'usage' | 'limits'>
}

export type ExplainOptions = {
  /** The profile to ask about; null: the one that the model gets. */
  readonly profile: string | null
  /** The model to ask about; null: the one that the body names. */
  readonly model: string | null
}

/** What would become of a request, and why. Tokens are Foldgate's own count; what the window and the reserve say is in the provider's. */
export type Explanation = Readonly<Awaited<ReturnType<ReturnType<typeof createExplain>>>>

/**
 * Says what would be sent for a request body, and why, message by message: as a request that is seen for the first time
 * by a Foldgate that was taught nothing but the model's window. Nothing is sent, recorded or kept. Throws `malformed_request` or `unknown_profile`.
 */
export function createExplain(parts: ExplainParts) {
  return async function explain(body: Buffer, options: ExplainOptions) {
    const reading = readingOnce(readLimits(parts.settings.limits))
    const received = await readAsked(body, reading)
    const model = options.model ?? received.body.model ?? ''
    const match = matchProfile(parts.profiles(), { model, headers: {}, requested: options.profile })
    if (match.kind === 'unknown')
      throw new FoldgateError('unknown_profile', match.message, { param: 'profile' })
    const { profile } = match
    const isMended = profile.repair && !profile.observe
    const mended = isMended ? await repairedChat(received, ASKED_SCOPE, reading) : received
    const upstream = parts.settings.upstreams.get(profile.upstream ?? 'default')
    const isAnthropic = parseUpstreamAddress(upstream?.url ?? defaultUpstreamUrl).isAnthropic
    const chat = received.dialect.bindsThoughts([model], isAnthropic) ? mended : withFreeThoughts(mended)
    const recall = createRecallOffers()({ profile, chat, place: { scope: ASKED_SCOPE } })
    const found = await parts.findWindow(profile, model, chat.body.windowTokens)
    const asked = { chat, profile, model, recall, window: found }
    const { measure, counted } = await measured(asked)
    const dry = await smallerForm(asked, counted)
    const asking = withUsageAsked(dry, parts.settings.usage.in_streams) ?? dry
    const offering = recall === null ? asking : withTool(asking, recall)
    const prepared = profile.observe ? originalForm(received, measure.incomingTokens) : offering
    const isBlanked = blanksBilling(profile, isAnthropic)
    const unbilled = withoutBilling(prepared, { blanksBilling: isBlanked })
    const bytes = bytesOf(unbilled.chat.bytes, unbilled.pieces)
    const sent = await readBytes(received.dialect, bytes, ASKED_SCOPE, reading)
    if (typeof sent === 'string') throw new InvariantError(`what would be sent cannot be read: ${sent}`)
    const { compacted } = prepared

    const { window, budgetTokens: budget } = measure
    const fixedTokens = counted.aroundTokens + pinnedTokens(counted.history, profile, chat.messages.length)
    const margin = counted.room.aroundTokens - counted.aroundTokens
    const figures = { budgetTokens: budget, fixedTokens, marginTokens: margin }
    const { ratio } = measure.rate
    const reserve = reserveOf(asked)
    const modelBudgetTokens = budgetOf(window, reserve)
    const tokensReceived = await runInSlices(tallyReceived(chat, counted))
    const fixed = { tokens: fixedTokens, share_of_budget: fixedTokens / budget }
    const unobserved = fateOf(dry, { observe: false }, false)
    const hasRecap = (compacted?.view.standIns.recaps ?? 0) > 0
    return {
      profile: { name: profile.name, because: match.why },
      /** '' where neither the body nor the question names one. */
      model,
      window: { tokens: window.tokens, kind: window.kind, source: window.source },
      /** What of the window is kept for the reply. */
      reserve: window.tokens - modelBudgetTokens,
      /** Whose that is: the request's own output limit, or the profile's `window.output_reserve`. */
      reserve_source: reserve.of,
      /** The provider's tokens for one of ours, before any answer told. */
      ratio,
      /** Whose the ratio is: the profile's (`window.ratio`), that of the family which the model's name tells, or a guess. */
      ratio_source: startingRatio(model, profile.window).source,
      /** Window less reserve, by our count. */
      budget,
      /** What of the budget is held back because nobody knows yet how the provider shows tools to the model. */
      margin,
      thresholds: thresholdsIn(profile, figures),
      /** The size of the whole prompt beyond which a compaction begins; null where the trigger is off. */
      compaction_begins_at: compactionStart(profile, figures, { ratio, budgetTokens: modelBudgetTokens }),
      /** The incoming prompt divided by the budget. */
      pressure: measure.pressure,
      /** What no compaction takes away: system messages, tools, schemas, task, latest user message. */
      fixed,
      would: fateOf(unbilled, profile, isBlanked),
      warnings: warningsOf({ model, window, budget, margin, fixed, profile, received, unobserved, hasRecap }),
      tokens: {
        received: tokensReceived,
        sent:
          compacted === null
            ? tokensReceived
            : await runInSlices(tallySent(sent, compacted.view, counted, model)),
      },
      /** What the entries of the conversation are called in its API. */
      entry_name: chat.dialect.entryName,
      message_counts: { received: countRoles(received), sent: countRoles(sent) },
      /** Each message of the client and what would become of it, in order; summaries and recaps where they would be sent. */
      messages: outlineOf(counted.history, compacted).map(explained),
      /** What would be sent, byte for byte; UTF-8 and JSON. */
      body: bytes,
    }
  }
}

/** An explanation as JSON. Its last value, `body`, is what would be sent, spliced in as it is. */
export function explanationJson({ body, ...told }: Explanation): string {
  return `${JSON.stringify(told).slice(0, -1)},"body":${body.toString('utf8')}}`
}

// --- internal ---

type Asked = {
  readonly chat: Chat
  readonly profile: Profile
  readonly model: string
  /** The tool that the model would be offered; null where it would not. */
  readonly recall: RecallOffer | null
  readonly window: ResolvedWindow
}

/** Room for what is made in one question, in bytes. */
const MADE_BYTES_MAX = 64 * 1024 * 1024

/** Counted whatever its size, and by nothing but the model's name. */
async function measured(asked: Asked): Promise<{ measure: Measure; counted: Counted }> {
  const { profile, model, window } = asked
  const learning = { wantsCount: () => false }
  const windows = { holdsLimit: () => false }
  const measureRequest = createMeasure({ counts: nothingCounted, learning, windows }, () => {})
  const measure = await measureRequest(
    {
      ...asked,
      modelKey: modelKeyOf(profile.upstream ?? 'default', '', model, ''),
      place: { scope: ASKED_SCOPE },
      remembered: { conversation: ASKED_SCOPE, compaction: null },
    },
    { model, window, mustCount: true },
  )
  if (measure.counted === null) throw new InvariantError('the request was not counted')
  return { measure, counted: measure.counted }
}

/** The request as it would be sent if it were never seen before. */
async function smallerForm({ chat, profile }: Asked, counted: Counted): Promise<Form> {
  const request = {
    chat,
    profile,
    place: { scope: ASKED_SCOPE, profile: profile.name, model: '' },
    remembered: { conversation: ASKED_SCOPE, compaction: null, seenUntil: null, sharedUntil: null },
    strict: profile.template === 'strict',
  }
  return dryRun(request, counted, false, createMadeCache({ bytesMax: MADE_BYTES_MAX }))
}

/** As the headers of an answer would say it. */
function fateOf(
  { isRewritten, chat, compacted, sentTokens }: Form,
  { observe }: Pick<Profile, 'observe'>,
  isBlanked: boolean,
) {
  const passes = isRewritten ? (compacted?.view.passes ?? []) : []
  const isOnlyRepaired = chat.repairs !== null && passes.length === 0
  const changed = isOnlyRepaired ? 'repair' : (compacted?.compaction?.reason ?? null)
  const blanked = isBlanked && chat.body.billingLine !== null ? 'billing-line' : null
  return {
    action: isRewritten ? ('compacted' as const) : ('relayed' as const),
    /** What made the newest compaction necessary; `repair`, `observe`; null where there is nothing to say. */
    reason: observe ? 'observe' : isRewritten ? changed : blanked,
    passes,
    sent_tokens: sentTokens,
  }
}

export type ExplainedMessage = ReturnType<typeof explained>

function explained({ receivedTokens, sentTokens, standsFor, ...rest }: MessageTreatment) {
  return { ...rest, received_tokens: receivedTokens, sent_tokens: sentTokens, stands_for: standsFor }
}

/** How many messages there are of each role that occurs, and in all. */
function countRoles({ messages }: Pick<Chat, 'messages'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { facts } of messages) counts[facts.role] = (counts[facts.role] ?? 0) + 1
  return { ...counts, total: messages.length }
}

type ThresholdFigures = {
  readonly budgetTokens: number
  /** What no compaction takes away, by our count. */
  readonly fixedTokens: number
  /** What is reckoned with beside our count. */
  readonly marginTokens: number
}

type PassStart = { readonly at: number | null; readonly enabled?: boolean }

/**
 * Where everything begins under a profile, in tokens of the whole prompt as it is counted, to be compared with
 * `tokens.received.total`: the margin is taken off. Null: off.
 */
function thresholdsIn(profile: Profile, figures: ThresholdFigures) {
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const isOff = profile.trigger === 'off'
  const at = (setting: number): number =>
    Math.max(0, thresholdTokens(setting, budgetTokens, fixedTokens + marginTokens) - marginTokens)
  const passAt = (pass: PassStart): number | null =>
    isOff || pass.enabled === false ? null : at(pass.at ?? triggerOf(profile))
  // At zero these need no compaction: they treat a message from the first time it is sent.
  const fromTheFirst = (pass: PassStart): number | null =>
    pass.at === 0 && pass.enabled !== false ? 0 : passAt(pass)
  const texts: Readonly<Partial<Record<`${TextPassName}_at`, number | null>>> = Object.fromEntries(
    textPasses.map(({ name }) => [`${name}_at`, fromTheFirst(profile[name])]),
  )
  return {
    trigger: isOff ? null : at(triggerOf(profile)),
    target: isOff ? null : at(targetOf(profile)),
    ...texts,
    clear_at: passAt(profile.clear),
    fold_at: passAt(profile.fold),
    /** Null too where no model writes summaries. */
    summary_at: hasSummaries(profile) && !isOff ? at(profile.summary.at) : null,
  }
}

/** Where the first of a profile's thresholds lies; null where its trigger is off. */
function compactionStart(
  profile: Profile,
  figures: ThresholdFigures,
  model: { readonly ratio: number; readonly budgetTokens: number },
) {
  if (profile.trigger === 'off') return null
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const ownTokens = lowestThresholdTokens(profile, budgetTokens, fixedTokens + marginTokens)
  // What fills the budget by our count fills it by the model's: both were rounded.
  const isBudget = ownTokens >= budgetTokens
  return {
    /** By our count. */
    tokens: Math.max(0, ownTokens - marginTokens),
    /** By the model's, as far as the ratio holds, with all that the margin is for. */
    model_tokens: isBudget ? model.budgetTokens : Math.round(ownTokens * model.ratio),
  }
}
