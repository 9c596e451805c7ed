import { decide, type Decision, type ProbeState } from './decide.ts'
import type { Probe } from './plan.ts'
import { uselessReading, type Reading } from './reading.ts'

export type ProbeRun = {
  /** Resolves as soon as no probe that still runs could change the decision. */
  readonly settled: Promise<readonly ProbeState[]>
  /** Resolves once every probe has answered. */
  readonly ended: Promise<void>
}

/**
 * Asks the list first and all others a moment later, unless that said all there is to know: most servers then see
 * one question. Decides anew with each answer.
 */
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
  let isOver = false

  function look(): void {
    const states = probes.map((probe) => ({ probe, reading: readings.get(probe) ?? null }))
    const { found, isSettled } = decide(states)
    if (!isSettled) return onFound(found)
    isOver = true
    settle(states)
  }

  async function ask(probe: Probe): Promise<void> {
    take(probe, await read(probe).catch(() => faultyReading))
  }

  function take(probe: Probe, reading: Reading): void {
    readings.set(probe, reading)
    onReading(probe, reading)
    look()
  }

  async function askAfter(list: Probe, listAsked: Promise<void>, probe: Probe): Promise<void> {
    await firstOf(listAsked, HEAD_START_MS)
    if (isOver) return
    if (probe.name !== 'sglang') return ask(probe)
    await listAsked
    const said = readings.get(list)
    // A list that is not SGLang's spares the server this question.
    if (said !== undefined && said.list !== null && !said.isSglang) take(probe, uselessReading)
    else await ask(probe)
  }

  const list = probes.find(({ name }) => name === 'list')
  const listAsked = list === undefined ? null : ask(list)
  const others = probes.filter((probe) => probe !== list)
  const ended = Promise.all([
    listAsked,
    ...others.map((probe) =>
      list === undefined || listAsked === null ? ask(probe) : askAfter(list, listAsked, probe),
    ),
  ]).then(look)
  return { settled, ended }
}

// --- internal ---

/** How long the list has for itself, in milliseconds: on a machine of one's own it takes a few. */
const HEAD_START_MS = 150

/** Resolves with the answer, or once the time is up. */
async function firstOf(answer: Promise<unknown>, waitMs: number): Promise<void> {
  const { promise: timeUp, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  await Promise.race([answer, timeUp])
  clearTimeout(timer)
}

/** A fault in a reader costs its probe, never the process. */
const faultyReading: Reading = { ...uselessReading, use: 'failed' }
