import { Agent, request } from 'node:http'
import type { AttackPath } from './attack.ts'
import { setTimeout as pause } from 'node:timers/promises'

export type Posted = {
  /** 0 where the connection was closed without an answer; -1 where neither came in time. */
  readonly status: number
  /** No more of it than its beginning. */
  readonly text: string
  /** `x-foldgate-action`; '' where there is none. */
  readonly action: string
}

export type Posting = {
  readonly port: number
  readonly body: Buffer
  readonly key: string
  /** By default `chat/completions`. */
  readonly path?: AttackPath
  readonly agent?: Agent
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks for a reply. Whatever becomes of it is a result. */
export const post = ({
  port,
  body,
  key,
  path = 'chat/completions',
  agent,
  headers,
}: Posting): Promise<Posted> =>
  new Promise((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: `/v1/${path}`,
      agent: agent ?? new Agent(),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        ...headers,
      },
    })
    const timer = setTimeout(() => {
      resolve({ status: -1, text: `no answer within ${PATIENCE_MS / 1_000} s`, action: '' })
      outgoing.destroy()
    }, PATIENCE_MS)
    outgoing.on('response', (incoming) => {
      let text = ''
      const status = incoming.statusCode ?? 0
      const action = String(incoming.headers['x-foldgate-action'] ?? '')
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < TEXT_CHARACTERS_MAX) text += piece
      })
      incoming.on('close', () => {
        clearTimeout(timer)
        resolve(incoming.complete ? { status, text, action } : { status: 0, text: 'cut', action })
      })
    })
    // Behind an answer it is a refused upload's end.
    outgoing.on('error', (error) => {
      clearTimeout(timer)
      resolve({ status: 0, text: error.message, action: '' })
    })
    outgoing.end(body)
  })

/** Large bodies take turns, and a busy machine takes its time: whoever waits longer hangs. In milliseconds. */
const PATIENCE_MS = 120_000

const TEXT_CHARACTERS_MAX = 100_000

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
  /** Asks so often while nothing else goes on, and at once again each time. */
  readonly times: (count: number) => Promise<NeighbourReport>
  readonly leave: () => void
}

export function openNeighbour(port: number): Neighbour {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** Once at least. */
  async function askUntil(isOver: (asked: number) => boolean, pauseMs: number): Promise<NeighbourReport> {
    const latenciesMs: number[] = []
    const failures: string[] = []
    do {
      const beganMs = performance.now()
      const { status, text } = await post({ port, agent, body: BODY, key: 'sk-neighbour' })
      if (status === 200) latenciesMs.push(performance.now() - beganMs)
      else failures.push(`${status} ${text.slice(0, 200)}`)
      if (pauseMs > 0) await pause(pauseMs)
      // A neighbour of an ended program is answered no more.
    } while (!isOver(latenciesMs.length + failures.length) && failures.length < FAILURES_MAX)
    const sorted = latenciesMs.toSorted((one, other) => one - other)
    return {
      answered: sorted.length,
      failures,
      medianMs: sorted[sorted.length >> 1] ?? Number.NaN,
      longestMs: sorted.at(-1) ?? Number.NaN,
    }
  }
  return {
    during: (going) => {
      const over = new AbortController()
      void going.finally(() => over.abort())
      return askUntil(() => over.signal.aborted, PAUSE_MS)
    },
    times: (count) => askUntil((asked) => asked === count, 0),
    leave: () => agent.destroy(),
  }
}

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
