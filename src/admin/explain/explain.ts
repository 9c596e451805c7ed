import { withFreeThoughts } from '../../pipeline/free-thoughts.ts'
import type { Chat, ConversationTokens, Counted, Form, Measure, RecallOffer } from '../../pipeline/request.ts'
import { createMadeCache } from '../../compaction/made-cache.ts'
import { pinnedTokens } from '../../compaction/plan/parts.ts'
import { type MessageTreatment, outlineOf } from '../../compaction/report.ts'
import type { BodyLimits } from '../../json/body-spans.ts'
import { FoldgateError, InvariantError } from '../../errors.ts'
import { nothingCounted } from '../../models/counts/counts.ts'
import { modelKeyOf } from '../../models/model-key.ts'
import { budgetOf, thresholdTokens } from '../../tokens/budget.ts'
import { startingRatio } from '../../tokens/families.ts'
import type { ResolvedWindow } from '../../models/resolve-window.ts'
import { matchProfile } from '../../profiles/match.ts'
import type { Profile } from '../../profiles/schema.ts'
import { drive } from '../../scheduling/drive.ts'
import { blanksBilling, withoutBilling } from '../../pipeline/billing-line.ts'
import { createMeasure, reserveOf } from '../../pipeline/measure/measure.ts'
import { repairedChat } from '../../pipeline/repair.ts'
import { createRecallOffers, withTool } from '../../pipeline/recall/recall-offer.ts'
import { readBytes } from '../../pipeline/read/read-chat.ts'
import { dryRun, originalForm } from '../../pipeline/compact/forms.ts'
import { bytesOf } from '../../pipeline/send/outgoing-body.ts'
import { withUsageAsked } from '../../pipeline/send/usage-in-streams.ts'
import type {
  CompactionStart,
  CountsByRole,
  ExplainedMessage,
  Explanation,
  Thresholds,
  TokensByCategory,
} from './explanation.ts'
import { ASKED_SCOPE, readAsked, readingOnce } from './read-asked.ts'
import { warningsOf } from './warnings.ts'
import { RECAP_OPEN } from '../../compaction/recap/recap.ts'
import { SUMMARY_OPEN } from '../../compaction/standing-summary.ts'
import type { View } from '../../compaction/view/view.ts'
import type { Message, Role } from '../../conversation/message.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import type { Steps } from '../../json/source.ts'
import { mediaTokens } from '../../tokens/media-tokens.ts'
import { sumOf } from '../../compaction/history/size-sums.ts'
import { PRIMING_TOKENS } from '../../tokens/message-tokens.ts'
import { lowestThresholdTokens } from '../../compaction/due.ts'
import { hasSummaries, targetOf, triggerOf } from '../../profiles/effective.ts'

export type ExplainParts = {
  readonly profiles: () => ReadonlyMap<string, Profile>
  /** The window that a model gets under a profile. */
  readonly findWindow: (profile: Profile, model: string) => Promise<ResolvedWindow>
  /** Whether an upstream is Anthropic's own; null is the default one. */
  readonly isAnthropic: (upstream: string | null) => boolean
  /** In which streamed requests usage is asked for (`usage.in_streams`). */
  readonly usageInStreams: Parameters<typeof withUsageAsked>[1]
  /** What a body may hold to be read (`limits`). */
  readonly limits: BodyLimits
}

export type ExplainOptions = {
  /** The profile to ask about; null: the one that the model gets. */
  readonly profile: string | null
  /** The model to ask about; null: the one that the body names. */
  readonly model: string | null
}

export type Explain = (body: Buffer, options: ExplainOptions) => Promise<Explanation>

/**
 * Says what would be sent for a request body, and why, message by message: as a request that is seen for the first time
 * by a Foldgate that was taught nothing but the model's window. Nothing is sent, recorded or kept. Throws `malformed_request` or `unknown_profile`.
 */
export function createExplain(parts: ExplainParts): Explain {
  return async function explain(body, options) {
    const reading = readingOnce(parts.limits)
    const received = await readAsked(body, reading)
    const model = options.model ?? received.body.model ?? ''
    const match = matchProfile(parts.profiles(), { model, headers: {}, requested: options.profile })
    if (match.kind === 'unknown')
      throw new FoldgateError('unknown_profile', match.message, { param: 'profile' })
    const { profile } = match
    const isMended = profile.repair && !profile.observe
    const mended = isMended ? await repairedChat(received, ASKED_SCOPE, reading) : received
    const isAnthropic = parts.isAnthropic(profile.upstream)
    const chat = received.dialect.bindsThoughts([model], isAnthropic) ? mended : withFreeThoughts(mended)
    const recall = createRecallOffers()({ profile, chat, scope: ASKED_SCOPE })
    const asked = { chat, profile, model, recall, window: await parts.findWindow(profile, model) }
    const { measure, counted } = await measured(asked)
    const dry = await smallerForm(asked, counted)
    const asking = withUsageAsked(dry, parts.usageInStreams) ?? dry
    const offering = recall === null ? asking : withTool(asking, recall)
    const prepared = profile.observe ? originalForm(received, measure.incomingTokens) : offering
    const isBlanked = blanksBilling(profile, { isAnthropic })
    const unbilled = withoutBilling(prepared, { blanksBilling: isBlanked })
    const bytes = bytesOf(unbilled.chat.bytes, unbilled.pieces)
    const sent = await readBytes(received.dialect, bytes, ASKED_SCOPE, reading)
    if (typeof sent === 'string') throw new InvariantError(`what would be sent cannot be read: ${sent}`)
    const { compacted } = prepared

    const { window, budgetTokens } = measure
    const fixedTokens = counted.aroundTokens + pinnedTokens(counted.subject, profile, chat.messages.length)
    const marginTokens = counted.room.aroundTokens - counted.aroundTokens
    const figures = { budgetTokens, fixedTokens, marginTokens }
    const { ratio } = measure.rate
    const { tokens: windowTokens, kind } = window
    const reserve = reserveOf(asked)
    const modelBudgetTokens = budgetOf(window, reserve)
    const tokensReceived = await drive(tallyReceived(chat, counted))
    const would = fateOf(unbilled, profile, isBlanked)
    const told = {
      model,
      window: { tokens: windowTokens, kind, source: window.source },
      reserve: windowTokens - modelBudgetTokens,
      reserve_source: reserve.of,
      ratio,
      ratio_source: startingRatio(model, profile.window).source,
      budget: budgetTokens,
      margin: marginTokens,
      thresholds: thresholdsIn(profile, figures),
      compaction_begins_at: compactionStart(profile, figures, { ratio, budgetTokens: modelBudgetTokens }),
      pressure: measure.pressure,
      fixed: { tokens: fixedTokens, share_of_budget: fixedTokens / budgetTokens },
      would,
    }
    const unobserved = fateOf(dry, { observe: false }, false)
    const hasRecap = (compacted?.view.standIns.recaps ?? 0) > 0
    return {
      profile: { name: profile.name, because: match.why },
      ...told,
      warnings: warningsOf({ ...told, profile, received, unobserved, hasRecap }),
      tokens: {
        received: tokensReceived,
        sent:
          compacted === null ? tokensReceived : await drive(tallySent(sent, compacted.view, counted, model)),
      },
      entry_name: chat.dialect.entryName,
      message_counts: { received: countRoles(received), sent: countRoles(sent) },
      messages: outlineOf(counted.subject, compacted).map(explained),
      body: bytes,
    }
  }
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
  const measureRequest = createMeasure({
    counts: nothingCounted,
    wantsCount: () => false,
    holdsLimit: () => false,
    onGuess: () => {},
  })
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
  prepared: Form,
  { observe }: Pick<Profile, 'observe'>,
  isBlanked: boolean,
): Explanation['would'] {
  const { isRewritten, chat, compacted, sentTokens } = prepared
  const passes = isRewritten ? (compacted?.view.passes ?? []) : []
  const isOnlyRepaired = chat.repairs !== null && passes.length === 0
  const reason = isOnlyRepaired ? 'repair' : (compacted?.compaction?.reason ?? null)
  const blanked = isBlanked && chat.body.billingLine !== null ? 'billing-line' : null
  const because = isRewritten ? reason : blanked
  return {
    action: isRewritten ? 'compacted' : 'relayed',
    reason: observe ? 'observe' : because,
    passes,
    sent_tokens: sentTokens,
  }
}

function explained({ receivedTokens, sentTokens, standsFor, ...rest }: MessageTreatment): ExplainedMessage {
  return { ...rest, received_tokens: receivedTokens, sent_tokens: sentTokens, stands_for: standsFor }
}

/** The tokens of what came, by what they stand for. */
function* tallyReceived(chat: Chat, counts: ConversationTokens): Steps<TokensByCategory> {
  const tally = tallyOf(counts)
  for (const [index, message] of chat.messages.entries()) {
    const { tokens = 0, mediaTokens: media = 0 } = counts.perMessage[index] ?? {}
    tally[categoryOf(chat, message)] += tokens - media
    tally.images += media
    yield
  }
  return withTotal(tally)
}

/** The tokens of a view. `sent` is what was made of it, read again: so it is told what media are left. */
function* tallySent(
  sent: Chat,
  view: View,
  counts: ConversationTokens,
  model: string,
): Steps<TokensByCategory> {
  const tally = tallyOf(counts)
  for (const [place, message] of sent.messages.entries()) {
    const { tokens = 0, joined = [], how = 'kept' } = view.messages[place] ?? {}
    const media = message.facts.media.reduce((sum, each) => sum + mediaTokens(each, model), 0)
    const written = joined.reduce((sum, part) => sum + (part.standsFor === null ? 0 : part.tokens), 0)
    const isStandIn = joined.length === 0 && (how === 'summary' || how === 'recap')
    tally.summary += written
    tally.images += media
    tally[isStandIn ? 'summary' : categoryOf(sent, message)] += tokens - media - written
    yield
  }
  return withTotal(tally)
}

/** How many messages of each role there are. */
function countRoles({ messages }: Pick<Chat, 'messages'>): CountsByRole {
  const counts: Record<string, number> = {}
  for (const { facts } of messages) counts[facts.role] = (counts[facts.role] ?? 0) + 1
  return { ...counts, total: messages.length }
}

type Tally = Record<Exclude<keyof TokensByCategory, 'total'>, number>

/** What stands around the messages: tools, what is said as the operator's beside them, what primes the reply. */
function tallyOf({ toolsTokens: tools, aroundTokens, subject }: ConversationTokens): Tally {
  const nothing = { user: 0, assistant: 0, tool_results: 0, images: 0, summary: 0 }
  const leading = sumOf(subject.sizes, 0, subject.structure.systemCount)
  return { system: aroundTokens - tools - PRIMING_TOKENS - leading, tools, ...nothing, other: PRIMING_TOKENS }
}

function withTotal(tally: Tally): TokensByCategory {
  return { ...tally, total: Object.values(tally).reduce((sum, count) => sum + count, 0) }
}

const categoryOfRole = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool_results',
  other: 'other',
} as const satisfies Record<Role, keyof Tally>

function categoryOf({ dialect, source }: Chat, message: Message): keyof Tally {
  const { role, startsHistory } = message.facts
  if (startsHistory === true) return 'summary'
  if (role !== 'user') return categoryOfRole[role]
  const { text } = parseEntry(dialect, source, message)
  return text.startsWith(SUMMARY_OPEN) || text.startsWith(RECAP_OPEN) ? 'summary' : 'user'
}

type ThresholdFigures = {
  readonly budgetTokens: number
  /** What no compaction takes away, by our count. */
  readonly fixedTokens: number
  /** What is reckoned with beside our count. */
  readonly marginTokens: number
}

/** Where everything begins under a profile, in tokens of a prompt as it is counted: the margin is taken off. */
function thresholdsIn(profile: Profile, figures: ThresholdFigures): Thresholds {
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const isOff = profile.trigger === 'off'
  const at = (setting: number): number =>
    Math.max(0, thresholdTokens(setting, budgetTokens, fixedTokens + marginTokens) - marginTokens)
  const passAt = (pass: { readonly at: number | null; readonly enabled?: boolean }): number | null =>
    isOff || pass.enabled === false ? null : at(pass.at ?? triggerOf(profile))
  // At zero these two need no compaction: they treat a message from the first time it is sent.
  const fromTheFirst = (pass: { readonly at: number | null; readonly enabled?: boolean }): number | null =>
    pass.at === 0 && pass.enabled !== false ? 0 : passAt(pass)
  return {
    trigger: isOff ? null : at(triggerOf(profile)),
    target: isOff ? null : at(targetOf(profile)),
    render_at: fromTheFirst(profile.render),
    preview_at: fromTheFirst(profile.preview),
    clear_at: passAt(profile.clear),
    fold_at: passAt(profile.fold),
    summary_at: hasSummaries(profile) && !isOff ? at(profile.summary.at) : null,
  }
}

/** Where the first of a profile's thresholds lies; null where its trigger is off. */
function compactionStart(
  profile: Profile,
  figures: ThresholdFigures,
  model: { readonly ratio: number; readonly budgetTokens: number },
): CompactionStart | null {
  if (profile.trigger === 'off') return null
  const { budgetTokens, fixedTokens, marginTokens } = figures
  const ownTokens = lowestThresholdTokens(profile, budgetTokens, fixedTokens + marginTokens)
  // What fills the budget by our count fills it by the model's: both were rounded.
  const isBudget = ownTokens >= budgetTokens
  return {
    tokens: Math.max(0, ownTokens - marginTokens),
    model_tokens: isBudget ? model.budgetTokens : Math.round(ownTokens * model.ratio),
  }
}
