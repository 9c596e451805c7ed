import { setTimeout as sleep } from 'node:timers/promises'
import { isBeginning } from '../../support/is-beginning.ts'
import {
  cheapUpstream,
  startSummaryModel,
  withCheapSummaries,
  type SummaryModel,
} from '../../support/summary-model.ts'
import { openStage, refusedIn, type ReceivedRequest, type Stage } from '../harness/stage.ts'
import { bodyAt, rulesFor, type Subject } from '../harness/subject.ts'
import { alignment } from '../replay/alignment.ts'
import type { ObservedRequest, ObservedRun } from './figures.ts'

/** How an agent's pauses are modelled: tools that run, a model that thinks. */
export type Pacing = {
  /** How long the stand-in takes for a summary. */
  readonly delayMs: number
  /** Between an answer and the next request. */
  readonly pauseMs: number
  /** Whether the pause begins when the stand-in has nothing to do any more; else when the answer is there. */
  readonly waitsForSummaries: boolean
}

/** Of the window, kept for the reply. */
export const RESERVE_TOKENS = 4000

export type Way = 'no compaction' | 'truncate' | 'summarize'

type RunOptions = {
  readonly subject: Subject
  readonly way: Way
  readonly windowTokens: number
  readonly pacing: Pacing
  readonly count: (text: string) => number
}

/** Makes every request of one conversation, one after the other, with an agent's pauses between them. */
export async function observeRun(options: RunOptions): Promise<ObservedRun> {
  const { subject, way, pacing, count } = options
  await using model = await startSummaryModel({ delayMs: pacing.delayMs })
  const windowTokens = way === 'no compaction' ? Number.POSITIVE_INFINITY : options.windowTokens
  const stage = await openStage({
    profile: profileOf(way, options.windowTokens),
    upstreams: cheapUpstream(model),
    windowTokens,
    rules: rulesFor(subject.messages),
    statesUsage: true,
    count,
  })
  try {
    const requests: ObservedRequest[] = []
    let before: readonly string[] = []
    for (const point of subject.points) {
      const { observed, rawMessages } = await observe(stage, subject, point, before)
      requests.push(observed)
      before = rawMessages
      if (way !== 'no compaction') await pause(model, pacing)
    }
    await model.quiet()
    return { requests, calls: model.calls }
  } finally {
    await stage.close()
  }
}

// Of a window that is never full.
const ENDLESS_TOKENS = 100_000_000

function profileOf(way: Way, windowTokens: number): object {
  const window = { tokens: windowTokens }
  switch (way) {
    case 'no compaction':
      return { strategy: 'truncate', trigger: 'off', window: { tokens: ENDLESS_TOKENS } }
    case 'truncate':
      return { strategy: 'truncate', window }
    case 'summarize':
      return withCheapSummaries({ window })
  }
}

async function pause(model: SummaryModel, { pauseMs, waitsForSummaries }: Pacing): Promise<void> {
  if (waitsForSummaries) await model.quiet()
  await sleep(pauseMs)
}

async function observe(stage: Stage, subject: Subject, point: number, before: readonly string[]) {
  const { recording } = subject
  const exchange = await stage.ask(bodyAt(recording, point, RESERVE_TOKENS), 'Bearer agent')
  const received = exchange.received.at(-1)
  const { rawMessages = [], promptTokens = 0, cachedTokens = 0 } = received ?? {}
  const observed: ObservedRequest = {
    ...exchange.times,
    promptTokens,
    cachedTokens,
    isCompaction: !isBeginning(before, rawMessages),
    summary: exchange.summary,
    foldedTokens: received === undefined ? 0 : foldedTokens(subject, point, received),
    refused: refusedIn(exchange),
    isReply: exchange.isReply,
  }
  return { observed, rawMessages }
}

/** Tokens of the messages that are neither sent nor stand there shortened. */
function foldedTokens(subject: Subject, point: number, received: ReceivedRequest): number {
  const inView = new Set(
    alignment(subject, point, received).map((origin) => ('index' in origin ? origin.index : null)),
  )
  let tokens = 0
  for (let index = 0; index < point; index += 1)
    if (!inView.has(index)) tokens += subject.promptTokens(index + 1) - subject.promptTokens(index)
  return tokens
}
