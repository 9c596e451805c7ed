import type { Probe } from './plan.ts'
import type { Reading } from './reading.ts'

/**
 * Which probes are of use at one server, so that its log is not filled with requests: found out once, for all
 * credentials. What one credential was denied says nothing of that, and is kept apart (denials.ts).
 */
export type ProbeMemory = {
  /** Whether nothing was asked yet. */
  readonly isEmpty: () => boolean
  /** The probes to ask now; `isForced` asks those again that failed lately. */
  readonly due: (nowMs: number, isForced: boolean) => readonly Probe[]
  /** To be told before these are asked: nobody else asks them meanwhile, but those of use. */
  readonly started: (probes: readonly Probe[], nowMs: number) => void
  readonly note: (probe: Probe, use: Reading['use'], nowMs: number) => void
  /** Whether what this probe is worth is only said to whom the server knows. */
  readonly isDeniedToSome: (probe: Probe) => boolean
}

export function createProbeMemory(probes: readonly Probe[]): ProbeMemory {
  const memories = new Map<string, Memory>()
  const isUseful = ({ name }: Probe): boolean => memories.get(name)?.isUseful === true

  /** The server became another one: it is looked at anew before long. */
  function startOver(nowMs: number): void {
    for (const memory of memories.values()) {
      memory.askAgainAtMs = Math.min(memory.askAgainAtMs, nowMs + FAILURE_PAUSE_MS)
    }
  }

  return {
    isEmpty: () => memories.size === 0,
    due: function due(nowMs, isForced) {
      const isKnown = probes.some(isUseful)
      return probes.filter((probe) => {
        const memory = memories.get(probe.name)
        if (memory === undefined || memory.isDeniedToSome) return !isKnown
        if (memory.isUseful || (isForced && memory.failures > 0)) return true
        return memory.askAgainAtMs <= nowMs && (memory.failures > 0 || !isKnown)
      })
    },
    started: function started(asked, nowMs) {
      for (const { name } of asked) {
        const memory = memories.get(name) ?? newMemory()
        memory.askAgainAtMs = nowMs + FAILURE_PAUSE_MS
        memories.set(name, memory)
      }
    },
    note: function note(probe, use, nowMs) {
      const memory = memories.get(probe.name) ?? newMemory()
      memories.set(probe.name, memory)
      if (use === 'denied') {
        memory.isDeniedToSome = !memory.isUseful
        return
      }
      memory.isDeniedToSome = false
      if (use === 'useful') {
        memory.isUseful = true
        memory.failures = 0
      } else if (memory.isUseful) {
        if (use === 'useless') memory.failures += 1
        if (memory.failures < USELESS_ANSWERS_MAX) return
        // It was of use once: those answers may all have been about models that clients made up.
        memory.isUseful = false
        memory.failures = 1
        memory.askAgainAtMs = nowMs + FAILURE_PAUSE_MS
        if (!probes.some(isUseful)) startOver(nowMs)
      } else {
        memory.failures = use === 'useless' ? 0 : memory.failures + 1
        memory.askAgainAtMs = nowMs + pauseMs(memory.failures)
      }
    },
    isDeniedToSome: ({ name }) => memories.get(name)?.isDeniedToSome === true,
  }
}

// --- internal ---

type Memory = {
  isUseful: boolean
  isDeniedToSome: boolean
  /** In a row; of a useful probe, the answers in a row that were of no use. */
  failures: number
  askAgainAtMs: number
}

function newMemory(): Memory {
  return { isUseful: false, isDeniedToSome: false, failures: 0, askAgainAtMs: 0 }
}

/** How soon a probe that failed is asked again, doubled with each failure, in milliseconds. */
const FAILURE_PAUSE_MS = 60_000

/** How long a server is not asked what it does not have: it would have to become another server. */
const USELESS_PAUSE_MS = 6 * 3_600_000

/** A single answer without use may be about a model that the server does not have. */
const USELESS_ANSWERS_MAX = 3

function pauseMs(failures: number): number {
  if (failures === 0) return USELESS_PAUSE_MS
  return Math.min(FAILURE_PAUSE_MS * 2 ** (failures - 1), USELESS_PAUSE_MS)
}
