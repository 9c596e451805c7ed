import { decide, type Decision, type ProbeState } from './decide.ts'
import type { Probe } from './plan.ts'
import { emptyReading, type Reading } from './reading.ts'
import { isDoneWithin } from './time-box.ts'
import { createTurns } from './turns.ts'

export type ProbeRun = {
  /** Resolves as soon as no probe that still runs could change the decision. */
  readonly settled: Promise<readonly ProbeState[]>
  /** Resolves once every probe has answered. */
  readonly ended: Promise<void>
}

/**
 * Asks the list first and all others a moment later, unless that said all there is to know: most servers then see
 * one request. Decides anew with each answer. A credential that is denied the list, or the first of the probes that
 * were denied to others, is not tried on the rest: made-up ones would each cost the server a dozen requests.
 */
export function runProbes(
  probes: readonly Probe[],
  {
    read,
    isDeniedToSome,
    onReading,
    onFound,
  }: {
    readonly read: (probe: Probe) => Promise<Reading>
    /** Whether the server has an answer to this probe that it does not give to everybody. */
    readonly isDeniedToSome: (probe: Probe) => boolean
    readonly onReading: (probe: Probe, reading: Reading) => void
    /** What is found so far, while it may still change. */
    readonly onFound: (found: Decision['found']) => void
  },
): ProbeRun {
  const readings = new Map<Probe, Reading>()
  const { promise: settled, resolve: settle } = Promise.withResolvers<readonly ProbeState[]>()
  const turns = createTurns({ atOnce: AT_ONCE, patienceMs: PATIENCE_MS })
  let isOver = false

  function look(): void {
    const states = probes.map((probe) => ({ probe, reading: readings.get(probe) ?? null }))
    const { found, isSettled } = decide(states)
    if (!isSettled) return onFound(found)
    isOver = true
    settle(states)
  }

  async function ask(probe: Probe): Promise<void> {
    take(probe, await read(probe).catch(() => emptyReading('failed')))
  }

  function take(probe: Probe, reading: Reading): void {
    readings.set(probe, reading)
    onReading(probe, reading)
    look()
  }

  async function askAfter(opener: Probe, opened: Promise<void>, probe: Probe): Promise<void> {
    if (probe.name === 'sglang' || isDeniedToSome(probe)) await opened
    else await isDoneWithin(opened, HEAD_START_MS)
    if (isOver) return
    const said = readings.get(opener)
    if (said?.use === 'denied') take(probe, emptyReading('denied'))
    // A list that is not SGLang's spares the server this one.
    else if (probe.name === 'sglang' && said?.list != null && !said.isSglang)
      take(probe, emptyReading('useless'))
    else await askInTurn(probe)
  }

  async function askInTurn(probe: Probe): Promise<void> {
    const endTurn = await turns.take()
    try {
      if (!isOver) await ask(probe)
    } finally {
      endTurn()
    }
  }

  const list = probes.find(({ name }) => name === 'list')
  const opener = list ?? probes.find(isDeniedToSome)
  const opened = opener === undefined ? null : ask(opener)
  const others = probes
    .filter((probe) => probe !== opener)
    .map(async (probe) =>
      opener === undefined || opened === null || (opener !== list && !isDeniedToSome(probe))
        ? askInTurn(probe)
        : askAfter(opener, opened, probe),
    )
  const ended = Promise.all([opened, ...others]).then(look)
  return { settled, ended }
}

// --- internal ---

/** Beside the list, so many are asked at once, and one more each time that nothing is heard for this long, in milliseconds. */
const AT_ONCE = 3
const PATIENCE_MS = 250

/** How long the list has for itself, in milliseconds: on a machine of one's own it takes a few. */
const HEAD_START_MS = 150
