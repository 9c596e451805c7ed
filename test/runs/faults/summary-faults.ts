import { expect } from 'vitest'
import { cheapUpstream, withCheapSummaries } from '../../support/summary-model.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import {
  growingAgent,
  isCompacted,
  isPending,
  recapsIn,
  summariesIn,
  type Agent,
  type Turn,
} from '../../pipeline/summaries/growing-agent.ts'
import { type Fault, type Row, merged } from './fault.ts'
import { startWatched, toldText, whatWasTold } from './watched.ts'
import { nonsense, refusals, brokenConnections, slowAnswers } from './upstream-faults.ts'
import type { UpstreamFault } from './upstream-stand.ts'
import { goodSummary } from './wire/answers.ts'
import { rawUpstream } from './wire/raw-upstream.ts'
import { nextRequest } from './wire/requests.ts'

/** The summary model fails as an upstream does: with the same bytes. */
export const summaryFaults: readonly Fault[] = [brokenConnections, slowAnswers, nonsense, refusals]
  .flat()
  .filter(isForSummaries)
  .map((fault) => ({ name: fault.name, observe: () => observeSummaryFault(fault) }))

const modes = ['background', 'blocking'] as const

/** What needs another kind of request, a client that reads along, or a place in a longer story. */
function isForSummaries({ kinds, isOnKeptConnection, name }: UpstreamFault): boolean {
  const isOfStreams = kinds !== undefined && !kinds.includes('plain')
  return !isOfStreams && isOnKeptConnection !== true && !/client has|before it has the whole/.test(name)
}

async function observeSummaryFault(fault: UpstreamFault): Promise<readonly Row[]> {
  const rows = await Promise.all(modes.map((mode) => observeIn(mode, fault)))
  return merged(rows, modes.length)
}

async function observeIn(mode: (typeof modes)[number], fault: UpstreamFault): Promise<Row> {
  await using main = await fakeUpstream(completion('Understood.'))
  const failing = fault.fails(goodSummary, nextRequest, () => Promise.resolve())
  await using model = await rawUpstream(failing.play ?? (() => {}), fault.isClosed)
  if (failing.play === null) await model.close()
  await using watched = await startWatched({
    upstream: main.url,
    upstreams: cheapUpstream(model),
    settings: { limits: fault.limits ?? {} },
    profile: withCheapSummaries({
      window: { tokens: 8_000, output_reserve: 1_000 },
      clear: { enabled: false },
      recap: { beside_summaries: false },
      summary: { mode, wait_ms: 20_000 },
    }),
  })
  const { url, log } = watched.foldgate
  const agent = growingAgent(url, () => main.requests, { roundTokens: 1_000 })
  const turns = await turnsUntilCompacted(agent, log)
  const due = turns.at(-1) ?? (await agent.again())
  const all = [...turns, await agent.again()]
  expect(all.every(({ status, text }) => status === 200 && text.includes('Understood.'))).toBe(true)
  const told = await whatWasTold(watched.adminOrigin, due.header('x-foldgate-conversation') ?? '', log)
  return { met: mode, seen: seenText(due), recorded: toldText(told), lost: lostOf(due, agent) }
}

/** A request that asks for a summary is followed by the next one once it is known what became of it. */
async function turnsUntilCompacted(agent: Agent, log: readonly string[]): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  while (turns.length < TURNS_MAX) {
    const told = ended(log)
    const turn = await agent.turn()
    turns.push(turn)
    if (isCompacted(turn)) return turns
    if (isPending(turn)) await eventually(() => expect(ended(log)).toBeGreaterThan(told), PATIENT)
  }
  throw new Error(`Nothing was compacted: ${turns.map(({ action }) => action).join(', ')}`)
}

const TURNS_MAX = 40

const PATIENT = { timeout: 20_000 }

const ended = (log: readonly string[]): number =>
  log.filter((line) => /"a summary (?:failed|was written)/.test(line)).length

function seenText(turn: Turn): string {
  const reason = turn.header('x-foldgate-summary-reason')
  const why = reason === null ? '' : `, \`x-foldgate-summary-reason: ${reason}\``
  return `\`${turn.status}\`, \`x-foldgate-summary: ${turn.summary}\`${why}`
}

/** Something stands for what was folded, and the newest is there word for word. */
function lostOf(turn: Turn, agent: Agent): string {
  const standIns = [...recapsIn(turn), ...summariesIn(turn)]
  expect(standIns).toHaveLength(1)
  expect(turn.received.at(-1)).toBe(JSON.stringify(agent.messages().at(-1)))
  return recapsIn(turn).length === 1 ? 'the summary: a recap stands in its place' : 'nothing'
}
