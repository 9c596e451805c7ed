import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Settings } from '../config/settings.ts'
import { httpStatusOf } from '../errors.ts'
import type { Log } from './log/log.ts'
import { createThrottle } from './log/throttle.ts'
import type { LearntWindow } from '../models/windows.ts'
import { createStoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import type { SummaryResult } from '../summaries/summary-order.ts'
import { createConversationList } from './conversations/conversation-list.ts'
import { createConversations } from './conversations/read-conversations.ts'
import { createHeldContent } from './conversations/shown-messages.ts'
import { createTotalsKeeper, createUnreadTally } from './conversations/totals.ts'
import { createPriceList, promptCosts, type PromptCosts, savedTokens, summaryCost } from './costs.ts'
import { createFailureLog, createFailures } from './failures.ts'
import { requestEvents, summaryEvent, summaryFigures, windowEvent } from './journal/event-types.ts'
import { createJournal, type Signals } from './journal/journal.ts'
import { type EventFacts, eventOf, type UsageRow } from './journal/rows.ts'
import { createMetrics } from './metrics/metrics.ts'
import {
  createReports,
  type Listener,
  removedByFoldgate,
  type RequestEnd,
  type RequestReport,
} from './request-report.ts'
import { createStatus } from './status.ts'
import type { Tracing } from './tracing/tracing.ts'

export type ActivityOptions = {
  readonly settings: Pick<Settings, 'upstreams' | 'profiles' | 'prices'> & {
    readonly admin: Pick<Settings['admin'], 'metrics_models' | 'show_content'>
  }
  readonly store: Store
  /** Why records are kept in memory although they should not be, and what to do; null if they are where the settings say. */
  readonly storeTrouble: string | null
  readonly log: Log
  readonly version: string
  readonly nowMs: () => number
  /** Null if nobody asked for traces. */
  readonly tracing: Tracing | null
}

export type Activity = ReturnType<typeof openActivity>

/** What is told of requests and of Foldgate itself, and what is kept of that. None of it throws or makes a request wait. */
export function openActivity(options: ActivityOptions) {
  const { settings, store, log, version, nowMs, tracing } = options
  // Rows of several processes lie in one store: each passes over its own.
  const process = randomUUID()
  const signals: Signals = new EventEmitter()
  signals.setMaxListeners(0)
  const metrics = createMetrics(version, settings.admin.metrics_models)
  const failureLog = createFailureLog(log, store.name, undefined, (part, details, times) =>
    writeEvent({ type: 'failure', reason: part, details: { ...details, times } }),
  )
  const status = createStatus(nowMs, settings, store.name, options.storeTrouble)
  const failures = createFailures((part, error) => {
    metrics.failed(part)
    status.failed(part, failureLog(part, error))
  })
  // Its own: a journal that is slow to be read must not keep requests from their records.
  const journal = createJournal({ store, guarded: createStoreGuard(failures), signals })
  const list = createConversationList()
  const held = createHeldContent({ showsContent: settings.admin.show_content })
  const totals = createTotalsKeeper({ process, writeDown: (sum) => journal.write('totals', sum) })
  const unread = createUnreadTally()
  const conversations = createConversations({ list, held, totals, unread, journal, signals, process })
  const priceOf = createPriceList(settings.prices)
  const timesTurnedAway = createThrottle(nowMs, TURNED_AWAY_GAP_MS)
  const timesRepeated = createThrottle(nowMs, REPEATED_GAP_MS)
  const timesFaulty = createThrottle(nowMs)

  function writeEvent(facts: EventFacts): void {
    journal.write('events', eventOf(facts, new Date(nowMs()).toISOString(), process))
  }

  function warnOfBegun({ row, refusedThoughts: refusal, keptLeftOut }: RequestReport): void {
    const { conversation, model } = row
    // An operator who is not told takes the provider for content with what it is sent.
    const refused = refusal === null ? null : timesRepeated(`${conversation} refused ${refusal}`)
    if (refused !== null) log.warn(THOUGHTS_REFUSED, { conversation, model, refusal, times: refused })
    const left = keptLeftOut === 0 ? null : timesRepeated(`${conversation} kept`)
    if (left !== null)
      log.warn(KEPT_LEFT_OUT, { conversation, model, tokens_left_out: keptLeftOut, times: left })
  }

  function tellLosses(row: UsageRow): void {
    const { conversation, profile, model, cache_miss: miss, reasoning_removed_by_foldgate: items } = row
    const about = { conversation, profile, model }
    const removed = items === 0 ? null : timesRepeated(`${conversation} removed`)
    if (removed !== null) {
      const details = { items, times: removed }
      log.warn(REASONING_LEFT_OUT, { conversation, ...details })
      writeEvent({ ...about, type: 'reasoning-removed', reason: 'prefix-changed', details })
    }
    // A compaction changes messages: that is no news.
    const isNews = miss !== null && (miss !== 'messages' || row.compaction === null)
    const missed = isNews ? timesRepeated(`${conversation} missed ${miss}`) : null
    if (missed !== null)
      writeEvent({ ...about, type: 'cache-missed', reason: miss, details: { times: missed } })
  }

  /** Of what an upstream answers the log has a line a minute; that it does not answer is told for all paths. */
  function tellUpstream(report: RequestReport, outcome: RequestEnd['outcome']): void {
    const { action, upstream, status: answered } = report.row
    const fault = status.ended(report, outcome)
    const isAnswer = action !== 'refused' && (answered ?? 0) >= 400
    const times = fault != null && isAnswer ? timesFaulty(`${upstream} ${answered}`) : null
    if (times !== null) log.warn(`${fault?.what}; ${fault?.advice}`, { upstream, status: answered, times })
  }

  const records: Listener = {
    begun: (report, messages) => {
      warnOfBegun(report)
      const { conversation } = report.row
      list.begin(report.row)
      status.begun(report.row, messages?.outline.around ?? null)
      if (conversation !== null && messages !== null) held.hold(conversation, messages)
      for (const event of requestEvents(report)) writeEvent(event)
      signals.emit('change', conversation)
    },
    ended: (report, end) => {
      const asked = report.fallback?.hasAnswered === true ? report.fallback.model : report.row.model
      // An alias has no price; the model that answered may have one.
      const price = priceOf(asked) ?? (end.answeredBy === null ? null : priceOf(end.answeredBy))
      const row = endedRow(report, end, promptCosts(report, end.usage, price), process)
      list.add(row, true)
      if (row.conversation === null) unread.addRow(row)
      totals.addRow(row)
      journal.write('usage', row)
      tellLosses(row)
      tellUpstream(report, end.outcome)
      signals.emit('change', row.conversation)
    },
    relayed: (endpoint, action, client) => {
      // What is no generation request is nobody's question.
      if (endpoint === 'other') return
      const reason = action === 'relayed' ? 'path' : null
      const about = { client, dialect: null, path: endpoint, action, reason, status: null }
      unread.add({ ...about, last_seen: new Date(nowMs()).toISOString() })
      signals.emit('change', null)
    },
    turnedAway: ({ code }) => {
      status.refused(code, httpStatusOf[code])
      const times = timesTurnedAway(code)
      if (times !== null) writeEvent({ type: 'error', reason: code, details: { times } })
    },
    summary: (call, written) => {
      logSummary(log, call.conversation, written)
      status.summary(written)
      const cost = summaryCost(written, priceOf(call.model))
      const tokens = written.promptTokens + written.completionTokens
      totals.addSummary({ tokens, cost }, new Date(call.endedAtMs).toISOString())
      writeEvent(summaryEvent(call, written, cost))
      signals.emit('change', call.conversation)
    },
  }

  return {
    failures,
    reports: createReports([metrics, records, ...(tracing === null ? [] : [tracing])], failures),
    metrics,
    journal,
    conversations,
    signals,
    status: status.tell,
    /** An upstream's answer taught a window. */
    learnt: (lesson: LearntWindow): void => writeEvent(windowEvent(lesson)),
    /** The operator asked for a compaction. */
    compactRequested: (conversation: string): void => {
      writeEvent({ type: 'compact-requested', conversation, reason: 'operator' })
      signals.emit('change', conversation)
    },
    /** Forgets what is held of a conversation, and resolves once nothing of it is on its way to the store: with whether there was anything. */
    forget: async (conversation: string): Promise<boolean> => {
      journal.forget(conversation)
      // What is on its way to the store is there before it is deleted.
      await journal.flush()
      held.forget(conversation)
      return list.forget(conversation)
    },
    /** Writes down what is left. Tracing has its own end, since it may take seconds. */
    close: async (): Promise<void> => {
      conversations.close()
      totals.close()
      metrics.close()
      await journal.close()
    },
  }
}

/** @internal exported for tests. The whole row of a request that has ended. */
export function endedRow(
  report: RequestReport,
  end: RequestEnd,
  costs: PromptCosts,
  process: string,
): UsageRow {
  const { row } = report
  const { usage, answeredBy, removedThoughts } = end
  const ended: UsageRow = {
    ...row,
    process,
    answered_by: answeredBy === row.model ? null : (answeredBy?.slice(0, NAME_CHARS_MAX) ?? null),
    outcome: end.outcome,
    prompt_tokens: usage?.promptTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    cache_written_tokens: usage?.cacheWrittenTokens ?? null,
    cache_miss: end.cacheMiss,
    completion_tokens: usage?.completionTokens ?? null,
    saved_tokens: savedTokens(report, usage),
    prompt_cost: costs.sent,
    whole_prompt_cost: costs.whole,
    reasoning_removed: Object.values(removedThoughts ?? {}).reduce((sum, count) => sum + count, 0),
    reasoning_removed_by_foldgate: removedByFoldgate(report, end),
    recalls: end.recalls,
    continuations: end.continuations,
    total_ms: end.totalMs,
  }
  // Three digits behind the point are more than anybody reads.
  for (const name of roundedNames) {
    const value = ended[name]
    if (value !== null) ended[name] = Math.round(value * 1000) / 1000
  }
  return ended
}

// --- internal ---

/** How long the journal only counts the same refusal, in milliseconds: a client without a key may ask as often as it likes. */
const TURNED_AWAY_GAP_MS = 10_000

/** How long what answers to one conversation say again and again is only counted, in milliseconds. */
const REPEATED_GAP_MS = 600_000

const THOUGHTS_REFUSED =
  'an upstream refused a request on account of the thoughts in it, and answered another form'
const KEPT_LEFT_OUT =
  'more stands between <keep> and </keep> than an eighth of the room: only the newest is kept'
const REASONING_LEFT_OUT = 'an upstream left out reasoning on account of what was sent in its place'

/** A server may name its model as it likes. */
const NAME_CHARS_MAX = 512

const roundedNames = ['pressure', 'sent_pressure', 'added_ms', 'first_byte_ms', 'total_ms'] as const

/** Figures and the conversation's id, never what the summary says. */
function logSummary(log: Log, conversation: string, written: SummaryResult): void {
  const facts = { conversation, ...summaryFigures(written) }
  if (written.kind === 'written') log.info('a summary was written', { ...facts, tokens: written.tokens })
  else if (written.reason === 'cancelled') log.info('a summary was broken off', facts)
  else log.warn('a summary failed, a recap takes its place', { ...facts, reason: written.reason })
}
