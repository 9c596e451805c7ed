import { setTimeout as sleep } from 'node:timers/promises'
import { extractiveSummary } from '../../support/extractive-summary.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { postChat } from '../../support/post-chat.ts'
import { startStrictUpstream, type AcceptedRequest } from '../../support/strict-upstream/strict-upstream.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'
import { bodyAt, rulesFor, type Subject } from '../harness/subject.ts'
import { grouped, runsTable, sumOf } from '../harness/table.ts'
import { RESERVE_TOKENS } from './observe-run.ts'

/** What summaries by the request's own model read over one conversation. */
export type OwnModelRun = {
  readonly calls: number
  /** Of these, at the end of the conversation itself. */
  readonly cachedCalls: number
  readonly promptTokens: number
  readonly cachedTokens: number
}

type OwnModelOptions = {
  readonly subject: Subject
  readonly windowTokens: number
  /** Whether the upstream says what it read from its cache: where it does not, every summary is asked for with a transcript. */
  readonly statesUsage: boolean
  readonly count: (text: string) => number
}

/** Makes every request of one conversation against an upstream that writes the summaries itself. */
export async function observeOwnModel(options: OwnModelOptions): Promise<OwnModelRun> {
  const { subject, windowTokens, statesUsage, count } = options
  const asked: AcceptedRequest[] = []
  let arrived = 0
  const upstream = await startStrictUpstream({
    windowTokens,
    template: 'lenient',
    rules: rulesFor(subject.messages),
    outputReserveChecked: true,
    statesUsage,
    record: false,
    count,
    reply: (request) => {
      arrived += 1
      if (!isSummaryCall(request)) return { content: 'Replayed.' }
      asked.push(request)
      const text = request.messages.map(({ content }) => textOf(content)).join('\n')
      return {
        content: extractiveSummary(text, { count, tokensMax: SUMMARY_TOKENS, isCarried: () => false }),
      }
    },
  })
  const window = { tokens: windowTokens, output_reserve: RESERVE_TOKENS }
  const foldgate = await startFoldgate({ upstream: upstream.url, profile: { window, strategy: 'summarize' } })
  try {
    for (const point of subject.points) {
      const body = bodyAt(subject.recording, point, RESERVE_TOKENS).toString()
      await postChat(foldgate.url, body, { authorization: 'Bearer agent' })
      await quiet(() => arrived)
    }
  } finally {
    await foldgate.close()
    await upstream.close()
  }
  return {
    calls: asked.length,
    cachedCalls: asked.filter(isCached).length,
    promptTokens: sumOf(asked, ({ promptTokens }) => promptTokens),
    cachedTokens: sumOf(asked, ({ cachedTokens }) => cachedTokens),
  }
}

/** A column for each run, a row for each figure. */
export function ownModelTable(runs: readonly { readonly name: string; readonly run: OwnModelRun }[]): string {
  type Cell = readonly [string, (run: OwnModelRun) => string]
  return runsTable(runs, [
    ['summary calls', ({ calls }) => grouped(calls)],
    ['  at the end of the conversation itself', ({ cachedCalls }) => grouped(cachedCalls)],
    ['prompt tokens', ({ promptTokens }) => grouped(promptTokens)],
    ['  from the cache', ({ cachedTokens }) => grouped(cachedTokens)],
    ...CACHED_WEIGHTS.map((weight): Cell => [
      `  weighted, cached ones at ${weight}`,
      ({ promptTokens, cachedTokens }) => grouped(promptTokens - (1 - weight) * cachedTokens),
    ]),
  ])
}

const SUMMARY_TOKENS = 900

/** Between its requests an agent runs tools: resolves once nothing has arrived for a while. */
async function quiet(arrived: () => number): Promise<void> {
  for (let round = 0, before = arrived(); round < QUIET_ROUNDS; round += 1) {
    await sleep(QUIET_ROUND_MS)
    if (arrived() === before) continue
    before = arrived()
    round = 0
  }
}

const QUIET_ROUNDS = 6
const QUIET_ROUND_MS = 5

const isSummaryCall = (request: AcceptedRequest): boolean =>
  isCached(request) || /<messages-[\w-]{8,}>/.test(request.rawMessages.at(-1) ?? '')

const isCached = ({ rawMessages }: AcceptedRequest): boolean =>
  rawMessages.at(-1)?.includes('does not come from the user') === true

// What cached tokens cost of others' price, by provider.
const CACHED_WEIGHTS = [0.1, 0.25, 0.5]
