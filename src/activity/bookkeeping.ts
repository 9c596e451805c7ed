import type { FoldgateError } from '../errors.ts'
import type { FailureFacts } from './failure-log.ts'
import type { LearntWindow } from '../models/windows.ts'
import type { Reports } from './request-report.ts'
import { summaryName } from '../summaries/summary-keys.ts'
import type { SummaryJob } from '../summaries/summary-writer.ts'
import type { Written } from '../summaries/write-summary.ts'
import { createThrottle } from '../log/throttle.ts'
import type { Changes } from './changes.ts'
import type { Board } from './conversations/board.ts'
import type { HeldContent } from './conversations/held-content.ts'
import type { TotalsKeeper } from './conversations/totals-keeper.ts'
import {
  compactRequestedEvent,
  eventsOf,
  summaryEvent,
  troubleEvent,
  windowEvent,
  type Stamp,
} from './journal/events-of.ts'
import type { Journal } from './journal/journal.ts'
import { begunRow, endedRow } from './journal/usage-row.ts'
import { promptCosts, summaryCost } from './prices/prompt-costs.ts'
import type { PriceList } from './prices/price-list.ts'

export type BookkeepingParts = {
  readonly journal: Pick<Journal, 'writeEvent' | 'writeUsage'>
  readonly board: Pick<Board, 'begin' | 'add'>
  readonly held: Pick<HeldContent, 'hold'>
  readonly totals: Pick<TotalsKeeper, 'addRow' | 'addSummary'>
  readonly prices: PriceList
  readonly changes: Pick<Changes, 'tell'>
  /** Names this process among all that share the store. */
  readonly process: string
  readonly nowMs: () => number
}

/** Puts what is told of requests and of Foldgate itself into the books that the page and the journal are made of. */
export type Bookkeeping = {
  readonly reports: Reports
  readonly learnt: (lesson: LearntWindow) => void
  readonly summaryWritten: (
    job: Pick<SummaryJob, 'group' | 'key' | 'model'>,
    written: Written,
    milliseconds: number,
  ) => void
  readonly failed: (facts: FailureFacts, times: number) => void
  readonly turnedAway: (error: FoldgateError) => void
  readonly compactRequested: (conversation: string) => void
}

export function createBookkeeping(parts: BookkeepingParts): Bookkeeping {
  const { journal, board, held, totals, prices, changes, process } = parts
  const timesTurnedAway = createThrottle({ gapMs: TURNED_AWAY_GAP_MS, nowMs: parts.nowMs })

  function stamp(): Stamp {
    return { time: new Date(parts.nowMs()).toISOString(), process }
  }

  return {
    reports: {
      begin: (report) => {
        const begun = begunRow(report, process)
        board.begin(begun)
        held.hold(report)
        for (const event of eventsOf(report, stamp)) journal.writeEvent(event)
        changes.tell(report.conversation)
        const { size, model } = report
        return function ended(end) {
          // An alias has no price; the model that answered may have one.
          const price =
            prices.priceOf(model) ?? (end.answeredBy === null ? null : prices.priceOf(end.answeredBy))
          const row = endedRow(begun, end, promptCosts(size, end.usage, price))
          board.add(row, true)
          totals.addRow(row)
          journal.writeUsage(row)
          changes.tell(row.conversation)
        }
      },
      relayed: () => {},
    },
    learnt: (lesson) => journal.writeEvent(windowEvent(lesson, stamp())),
    summaryWritten: ({ group, key, model }, written, milliseconds) => {
      const cost = summaryCost(written, prices.priceOf(model))
      const { time } = stamp()
      totals.addSummary({ tokens: written.promptTokens + written.completionTokens, cost }, time)
      const end = {
        conversation: group,
        name: summaryName(key),
        written,
        cost,
        milliseconds: Math.round(milliseconds),
      }
      journal.writeEvent(summaryEvent(end, stamp()))
      changes.tell(group)
    },
    failed: ({ part, ...details }, times) =>
      journal.writeEvent(troubleEvent({ type: 'failure', reason: part, details, times }, stamp())),
    turnedAway: ({ code }) => {
      const times = timesTurnedAway(code)
      if (times === null) return
      journal.writeEvent(troubleEvent({ type: 'error', reason: code, details: {}, times }, stamp()))
    },
    compactRequested: (conversation) => {
      journal.writeEvent(compactRequestedEvent(conversation, stamp()))
      changes.tell(conversation)
    },
  }
}

// --- internal ---

/** Whoever has no key may ask as often as he likes: of the same refusal one event in so many milliseconds is enough. */
const TURNED_AWAY_GAP_MS = 10_000
