import { setTimeout as sleep } from 'node:timers/promises'
import { alignment } from '../replay/alignment.ts'
import { openStage, type ReceivedRequest, type Stage } from '../replay/stage.ts'
import { bodyOf, type Subject } from '../replay/subject.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { cheapUpstream, withCheapSummaries } from '../../support/cheap-summaries.ts'
import { startSummaryModel, type SummaryModel } from '../../support/summary-model.ts'
import type { ObservedRequest, ObservedRun } from './observed.ts'
import { RESERVE_TOKENS, type Pacing } from './options.ts'

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
    template: 'lenient',
    // A recording that is broken itself has to get through as well.
    rules: subject.breaks(subject.messages.length, 'lenient').length === 0 ? 'enforced' : 'unchecked',
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

// --- internal ---

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
  const texts = recording.messages.slice(0, point).map(({ text }) => text)
  const around = { tools: recording.tools, outputTokens: RESERVE_TOKENS }
  const exchange = await stage.ask(bodyOf(recording, texts, around), 'Bearer agent')
  const received = exchange.received.at(-1)
  const { rawMessages = [], promptTokens = 0, cachedTokens = 0 } = received ?? {}
  const observed: ObservedRequest = {
    ...exchange.times,
    promptTokens,
    cachedTokens,
    isCompaction: !isBeginning(before, rawMessages),
    summary: exchange.summary,
    foldedTokens: received === undefined ? 0 : foldedTokens(subject, point, received),
    refused: exchange.received.filter(({ rejected }) => rejected !== null).length,
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
