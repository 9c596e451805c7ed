import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { completion, fakeUpstream, windowedAt } from '../../support/fake-upstream.ts'
import { summaryStand } from '../../pipeline/summaries/summary-stand.ts'
import { compactedRow, conversationOfNext, lostOf, send } from './conversation-walk.ts'
import type { Fault, Row } from './fault.ts'
import { startWatched, toldText, whatWasTold } from './watched.ts'
import { ask } from './wire/ask.ts'
import { grownBy, smallWindow } from './wire/requests.ts'

/** Long enough for ten turns on a busy machine. */
const RETRY_AFTER_S = 15

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const observeJump = (byMs: number): Promise<readonly Row[]> =>
  Promise.all([conversation, learntWindow, rateLimit].map((observe) => observe(openClock(), byMs)))

/** The clock of a running Foldgate jumps. */
export const clockFaults: readonly Fault[] = [
  { name: 'it goes back by a day', observe: () => observeJump(-DAY_MS) },
  { name: 'it goes forward by a year', observe: () => observeJump(365 * DAY_MS) },
]

/** A clock that is set by hand. */
function openClock() {
  let nowMs = Date.UTC(2026, 10, 23)
  return { nowMs: () => nowMs, move: (byMs: number) => void (nowMs += byMs) }
}

type Clock = ReturnType<typeof openClock>

/** A conversation that stands compacted goes on. */
async function conversation({ nowMs, move }: Clock, byMs: number): Promise<Row> {
  await using upstream = await fakeUpstream(completion('Understood.'))
  await using watched = await startWatched({ upstream: upstream.url, profile: smallWindow, nowMs })
  const { url, log } = watched.foldgate
  const first = await send(url, upstream, 1)
  move(byMs)
  const later = [await send(url, upstream, 2), await send(url, upstream, 3)]
  const told = await whatWasTold(watched.adminOrigin, await conversationOfNext(url), log)
  return compactedRow(toldText(told), lostOf(first, later))
}

/** What an overflow has taught holds for an hour, whatever the clock says meanwhile. */
async function learntWindow({ nowMs, move }: Clock, byMs: number): Promise<Row> {
  await using upstream = await fakeUpstream(windowed)
  await using watched = await startWatched({ upstream: upstream.url, nowMs })
  const windowNow = async (exchanges: number) => {
    const seen = await ask(watched.foldgate.url, grownBy(exchanges))
    expect([seen.status, seen.isWhole]).toEqual([200, true])
    return /source=(\w+)/.exec(seen.header('x-foldgate-window') ?? '')?.[1]
  }
  await windowNow(1)
  expect(await windowNow(2), 'before the jump').toBe('learnt')
  move(byMs)
  const after = await windowNow(3)
  move(61 * MINUTE_MS)
  expect(await windowNow(4), 'an hour later').toBe('default')
  return {
    met: 'a learnt window',
    seen: '`200`',
    recorded: `\`x-foldgate-window\`: \`learnt\` before, \`${after}\` after the jump, \`default\` an hour later`,
    lost: after === 'learnt' ? 'nothing' : "what was learnt, as after an hour; nothing of the client's",
  }
}

/** A summary model that has said 429 is left alone for as long as it asked, whatever the clock says meanwhile. */
async function rateLimit({ nowMs, move }: Clock, byMs: number): Promise<Row> {
  await using stand = await summaryStand({
    model: { quality: (_, index) => (index === 0 ? 429 : 'good'), retryAfterS: RETRY_AFTER_S },
    nowMs,
  })
  const agent = stand.agent({ roundTokens: 1_000 })
  const turns = [...(await agent.turns(10, { pause: stand.model.quiet }))]
  expect(stand.model.calls).toHaveLength(1)
  move(byMs)
  turns.push(...(await agent.turns(1, { pause: stand.model.quiet })))
  // It is measured by the process's own clock, which nobody sets.
  await sleep(RETRY_AFTER_S * 1000)
  turns.push(...(await agent.turns(6, { pause: stand.model.quiet })))
  expect(turns.every(({ status }) => status === 200)).toBe(true)
  expect(stand.model.calls.length, 'calls once the limit is over').toBeGreaterThan(1)
  const recorded = 'it is asked again when its time is over'
  return { met: 'a summary model that has said 429', seen: '`200`', recorded, lost: 'nothing' }
}

const windowed = windowedAt(8_192, () => completion('Understood.'))
