import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { post } from './post.ts'

/** How a client with small requests of its own fared. */
export type NeighbourReport = {
  readonly answered: number
  /** What it got instead of an answer, each time. */
  readonly failures: readonly string[]
  readonly medianMs: number
  readonly longestMs: number
}

/** A client that asks one small thing after another, as long as something goes on. */
export type Neighbour = {
  readonly during: (going: Promise<unknown>) => Promise<NeighbourReport>
  readonly leave: () => void
}

export function openNeighbour(port: number): Neighbour {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    during: async (going) => {
      const over = new AbortController()
      void going.finally(() => over.abort())
      const latenciesMs: number[] = []
      const failures: string[] = []
      do {
        const beganMs = performance.now()
        const { status, text } = await post({ port, agent, body: BODY, key: 'sk-neighbour' })
        if (status === 200) latenciesMs.push(performance.now() - beganMs)
        else failures.push(`${status} ${text.slice(0, 200)}`)
        await pause(PAUSE_MS)
        // A neighbour of an ended program is answered no more.
      } while (!over.signal.aborted && failures.length < FAILURES_MAX)
      const sorted = latenciesMs.toSorted((one, other) => one - other)
      return {
        answered: sorted.length,
        failures,
        medianMs: sorted[sorted.length >> 1] ?? Number.NaN,
        longestMs: sorted.at(-1) ?? Number.NaN,
      }
    },
    leave: () => agent.destroy(),
  }
}

// --- internal ---

const PAUSE_MS = 5

const FAILURES_MAX = 20

const BODY = Buffer.from(
  JSON.stringify({
    model: 'm',
    messages: [
      { role: 'system', content: 'Answer in one word.' },
      { role: 'user', content: 'Is this sentence about a ledger or about a cursor? '.repeat(20) },
    ],
  }),
)
