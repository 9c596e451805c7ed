import { decide, type Decision, type ProbeState } from './decide.ts'
import type { Probe } from './plan.ts'
import { uselessReading, type Reading } from './reading.ts'

export type ProbeRun = {
  /** Resolves as soon as no probe that still runs could change the decision. */
  readonly settled: Promise<readonly ProbeState[]>
  /** Resolves once every probe has answered. */
  readonly ended: Promise<void>
}

/** Asks all probes at once and decides anew with each answer. */
export function runProbes(
  probes: readonly Probe[],
  {
    read,
    onReading,
    onFound,
  }: {
    readonly read: (probe: Probe) => Promise<Reading>
    readonly onReading: (probe: Probe, reading: Reading) => void
    /** What is found so far, while it may still change. */
    readonly onFound: (found: Decision['found']) => void
  },
): ProbeRun {
  const readings = new Map<Probe, Reading>()
  const { promise: settled, resolve: settle } = Promise.withResolvers<readonly ProbeState[]>()
  const list = probes.find(({ name }) => name === 'list')
  const listReading = list === undefined ? null : read(list)

  async function readInTurn(probe: Probe): Promise<Reading> {
    if (probe === list && listReading !== null) return listReading
    if (probe.name !== 'sglang') return read(probe)
    // A list that is not SGLang's spares the server this question.
    const before = await listReading
    return before !== null && before.list !== null && !before.isSglang ? uselessReading : read(probe)
  }

  function look(): void {
    const states = probes.map((probe) => ({ probe, reading: readings.get(probe) ?? null }))
    const { found, isSettled } = decide(states)
    if (isSettled) settle(states)
    else onFound(found)
  }

  const ended = Promise.all(
    probes.map(async (probe) => {
      const reading = await readInTurn(probe).catch(() => faultyReading)
      readings.set(probe, reading)
      onReading(probe, reading)
      look()
    }),
  ).then(look)
  return { settled, ended }
}

// --- internal ---

/** A fault in a reader costs its probe, never the process. */
const faultyReading: Reading = { ...uselessReading, use: 'failed' }
