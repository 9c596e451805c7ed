import { setTimeout as sleep } from 'node:timers/promises'
import { startStrictUpstream, type AcceptedRequest } from '../../support/strict-upstream/strict-upstream.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'
import { bodyOf, type Subject } from '../replay/subject.ts'
import { postChat } from '../../support/post-chat.ts'
import { alignedTable } from '../../support/aligned-table.ts'
import { extractiveSummary } from '../../support/extractive-summary.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { RESERVE_TOKENS } from './options.ts'

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
    rules: subject.breaks(subject.messages.length, 'lenient').length === 0 ? 'enforced' : 'unchecked',
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
      const texts = subject.recording.messages.slice(0, point).map(({ text }) => text)
      const around = { tools: subject.recording.tools, outputTokens: RESERVE_TOKENS }
      const body = bodyOf(subject.recording, texts, around).toString()
      const headers = { authorization: 'Bearer agent' }
      await postChat(foldgate.url, body, headers)
      await quiet(() => arrived)
    }
  } finally {
    await foldgate.close()
    await upstream.close()
  }
  return {
    calls: asked.length,
    cachedCalls: asked.filter(isCached).length,
    promptTokens: asked.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    cachedTokens: asked.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
  }
}

/** A column for each run, a row for each figure. */
export function ownModelTable(runs: readonly { readonly name: string; readonly run: OwnModelRun }[]): string {
  const row = (name: string, figure: (run: OwnModelRun) => number): string[] => [
    name,
    ...runs.map(({ run }) => Math.round(figure(run)).toLocaleString('en-US')),
  ]
  return alignedTable([
    ['', ...runs.map(({ name }) => name)],
    row('summary calls', ({ calls }) => calls),
    row('  at the end of the conversation itself', ({ cachedCalls }) => cachedCalls),
    row('prompt tokens', ({ promptTokens }) => promptTokens),
    row('  from the cache', ({ cachedTokens }) => cachedTokens),
    ...CACHED_WEIGHTS.map((weight) =>
      row(
        `  weighted, cached ones at ${weight}`,
        (run) => run.promptTokens - (1 - weight) * run.cachedTokens,
      ),
    ),
  ])
}

// --- internal ---

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

function isSummaryCall(request: AcceptedRequest): boolean {
  return isCached(request) || /<messages-[\w-]{8,}>/.test(request.rawMessages.at(-1) ?? '')
}

function isCached({ rawMessages }: AcceptedRequest): boolean {
  return rawMessages.at(-1)?.includes('does not come from the user') === true
}

// What cached tokens cost of others' price, by provider.
const CACHED_WEIGHTS = [0.1, 0.25, 0.5]
