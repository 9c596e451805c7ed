import { isFigure, leastFigure, type WindowFigure } from './figure.ts'
import type { Probe } from './plan.ts'
import type { Reading } from './reading.ts'
import { rankOf } from './trust.ts'

/** A probe and what it found out; null while it runs. */
export type ProbeState = { readonly probe: Probe; readonly reading: Reading | null }

export type Decision = {
  readonly found: { readonly figure: WindowFigure; readonly probe: string } | null
  /** Whether no probe that still runs could change it. */
  readonly isSettled: boolean
}

/**
 * The window that the probes found, as far as they have answered: a loaded size before what will be loaded,
 * that before a catalogue, and else in the order of the probes.
 */
export function decide(states: readonly ProbeState[]): Decision {
  const running = states.filter(({ reading }) => reading === null).map(({ probe }) => probe)
  const best = states
    .flatMap(({ probe, reading }) =>
      reading?.figure == null ? [] : [{ probe, figure: reading.figure, isSglang: isSglang(probe, reading) }],
    )
    .sort((one, other) => rankOf[one.figure.basis] - rankOf[other.figure.basis])[0]
  if (best === undefined) return { found: null, isSettled: running.length === 0 }

  const { figure, probe } = best
  if (best.isSglang) {
    return {
      found: { figure: leastOfSglang(states, figure), probe: probe.name },
      isSettled: !running.some(({ name }) => name === 'list' || name === 'sglang'),
    }
  }
  const order = states.map((state) => state.probe)
  return {
    found: { figure, probe: probe.name },
    isSettled: !running.some((other) => {
      if (figure.basis === 'loaded') return false
      if (!other.isCatalogue) return true
      return figure.basis === 'catalogue' && order.indexOf(other) < order.indexOf(probe)
    }),
  }
}

// --- internal ---

/** SGLang states the model's window in its list, and elsewhere what its memory holds: the smaller one counts. */
function isSglang(probe: Probe, reading: Reading): boolean {
  return probe.name === 'sglang' || (probe.name === 'list' && reading.isSglang)
}

function leastOfSglang(states: readonly ProbeState[], figure: WindowFigure): WindowFigure {
  const figures = states.flatMap(({ probe, reading }) =>
    reading !== null && isSglang(probe, reading) ? [reading.figure] : [],
  )
  const least = leastFigure(...figures)
  return isFigure(least) ? least : figure
}
