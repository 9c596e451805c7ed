import { isFigure, leastFigure, type WindowFigure } from './figure.ts'
import type { Probe } from './probes.ts'
import { emptyReading, type Reading } from './reading.ts'

/** A probe and what it found out; null while it runs, and where it was not asked. */
export type ProbeState = { readonly probe: Probe; readonly reading: Reading | null }

/**
 * The window that the probes found, as far as they have answered: a loaded size before what will be loaded, that before a
 * catalogue, and else in the order of the probes. Of several loaded sizes the least: SGLang states the model's window in its
 * list, and elsewhere what its memory holds.
 */
export function figureIn(states: readonly ProbeState[]): WindowFigure | null {
  const figures = states.flatMap(({ reading }) => reading?.figure ?? [])
  const least = leastFigure(...figures.filter(({ basis }) => basis === 'loaded'))
  if (isFigure(least)) return least
  return figures.find(({ basis }) => basis !== 'catalogue') ?? figures[0] ?? null
}

export type ProbeRun = {
  /** Resolves as soon as no probe that still runs could change what was found. */
  readonly settled: Promise<void>
  /** Resolves once every probe has answered. */
  readonly ended: Promise<void>
}

/**
 * Asks the list first and all others a moment later, unless that said all there is to know: most servers then see one
 * request. The others are asked a few at a time. A credential that is denied the list, or the first of the probes that were
 * denied to others, is not tried on the rest: made-up ones would each cost the server a dozen requests.
 */
export function runProbes(
  probes: readonly Probe[],
  {
    read,
    isDeniedToSome,
    onReading,
  }: {
    readonly read: (probe: Probe) => Promise<Reading>
    /** Whether the server has an answer to this probe that it does not give to everybody. */
    readonly isDeniedToSome: (probe: Probe) => boolean
    readonly onReading: (probe: Probe, reading: Reading) => void
  },
): ProbeRun {
  const readings = new Map<Probe, Reading>()
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
  let isOver = false

  function take(probe: Probe, reading: Reading): void {
    readings.set(probe, reading)
    onReading(probe, reading)
    if (canChange(probes.map((each) => ({ probe: each, reading: readings.get(each) ?? null })))) return
    isOver = true
    settle()
  }

  async function ask(probe: Probe): Promise<void> {
    take(probe, await read(probe).catch(() => emptyReading('failed')))
  }

  async function askOthers(): Promise<void> {
    for (let probe = others.shift(); probe !== undefined && !isOver; probe = others.shift()) {
      const isAwaited = probe.name === 'sglang' || isDeniedToSome(probe)
      if (isAwaited) await opened
      const said = opener === undefined ? undefined : readings.get(opener)
      const isRefused = said?.use === 'denied' && (opener === list || isDeniedToSome(probe))
      // A list that is not SGLang's spares the server this one.
      const isElsewhere = probe.name === 'sglang' && said?.list != null && !said.list.isSglang
      if (isRefused || isElsewhere) take(probe, emptyReading(isRefused ? 'denied' : 'useless'))
      else if (!isOver) await isDoneWithin(asked(probe), PATIENCE_MS)
    }
  }

  const underway: Promise<void>[] = []
  function asked(probe: Probe): Promise<void> {
    const asking = ask(probe)
    underway.push(asking)
    return asking
  }

  const list = probes.find(({ name }) => name === 'list')
  const opener = list ?? probes.find(isDeniedToSome)
  const others = probes.filter((probe) => probe !== opener)
  const opened = opener === undefined ? Promise.resolve() : asked(opener)
  async function askAll(): Promise<void> {
    if (opener !== undefined) await isDoneWithin(opened, HEAD_START_MS)
    await Promise.all(Array.from({ length: AT_ONCE }, askOthers))
    await Promise.all(underway)
    settle()
  }
  return { settled, ended: askAll() }
}

/** Resolves with true as soon as the work is done, or with false once the time is up. */
export async function isDoneWithin(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), waitMs)
  const isDone = await Promise.race([work.then(() => true), timeUp])
  clearTimeout(timer)
  return isDone
}

// --- internal ---

/**
 * Beside the list, so many are asked at once, and another in the place of each that is not heard of for this long, in
 * milliseconds: a server that answers one request at a time is not to find a dozen in front of its first chat, and one that
 * never answers some of them is not to keep the others from being asked.
 */
const AT_ONCE = 3
const PATIENCE_MS = 250

/** How long the list has for itself, in milliseconds: on a machine of one's own it takes a few. */
const HEAD_START_MS = 150

/** Whether a probe that still runs could change what was found. */
function canChange(states: readonly ProbeState[]): boolean {
  const running = states.filter(({ reading }) => reading === null).map(({ probe }) => probe)
  const figure = figureIn(states)
  if (figure === null) return running.length > 0
  if (figure.basis === 'loaded') {
    const isSglang = states.some(
      ({ probe, reading }) =>
        reading?.list?.isSglang === true || (probe.name === 'sglang' && reading?.figure != null),
    )
    return isSglang && running.some(({ name }) => name === 'list' || name === 'sglang')
  }
  return running.some(({ isCatalogue }) => !isCatalogue)
}
