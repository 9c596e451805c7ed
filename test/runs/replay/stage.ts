import { Pool } from 'undici'
import { readFoldgateHeaders } from '../../../src/demo/foldgate-headers.ts'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import { startStrictUpstream, type StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { startFoldgate, type Upstreams } from '../../support/foldgate.ts'

/** A request as the upstream recorded it. */
export type ReceivedRequest = StrictUpstream['requests'][number]

/** What became of one request. */
export type Exchange<Received = ReceivedRequest> = {
  readonly status: number
  readonly action: string
  readonly passes: readonly string[]
  /** What stands for folded messages, as the answer's header says: `none`, `ready`, `pending`, `recap`. */
  readonly summary: string
  /** When the client began to send, when the upstream had read and judged it, and when the client had the answer. */
  readonly times: { readonly beganMs: number; readonly acceptedMs: number | null; readonly endedMs: number }
  /** What reached the upstream, one for each attempt. */
  readonly received: readonly Received[]
  /** Whether the client got the upstream's whole reply. */
  readonly isReply: boolean
  readonly answer: string
}

/** A Foldgate between a client and the strict upstream, all over sockets. One request at a time. */
export type Stage<Received = ReceivedRequest> = {
  readonly ask: (body: Buffer, authorization: string) => Promise<Exchange<Received>>
  /** The lines by which Foldgate said that a part of it failed. */
  readonly failures: () => readonly string[]
  readonly close: () => Promise<void>
}

type StageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  /** Further ones of Foldgate's, for summaries. */
  readonly upstreams?: Upstreams
  /** The upstream's, of prompt and output together. */
  readonly windowTokens: number
  /** What the upstream asks for. */
  readonly template: Template
  /** Whether the upstream refuses broken sequences. */
  readonly rules: 'enforced' | 'unchecked'
  /** Whether the upstream says how large prompts were. */
  readonly statesUsage: boolean
  readonly count: (text: string) => number
}

export async function openStage({ profile, upstreams, ...options }: StageOptions): Promise<Stage> {
  let acceptedMs: number | null = null
  const upstream = await startStrictUpstream({
    ...options,
    outputReserveChecked: true,
    reply: () => {
      acceptedMs = performance.now()
      return { content: REPLY }
    },
  })
  return standBetween({
    upstream,
    profile,
    ...(upstreams !== undefined && { upstreams }),
    endpoint: 'chat/completions',
    isReply: (text) => text.includes(REPLY) && !text.includes('"error"'),
    acceptedMs: () => acceptedMs,
  })
}

type Between<Received> = Pick<StageOptions, 'profile' | 'upstreams'> & {
  /** What is behind Foldgate. */
  readonly upstream: {
    readonly url: string
    readonly requests: readonly Received[]
    readonly forget: () => void
    readonly close: () => Promise<void>
  }
  /** Where conversations are posted to, below the base URL. */
  readonly endpoint: string
  /** What every request says beside whose it is. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether an answer with status 200 is the upstream's whole reply. */
  readonly isReply: (text: string) => boolean
  /** When the upstream accepted the newest request; null if it did not, or does not tell. */
  readonly acceptedMs: () => number | null
}

/** Puts a Foldgate before an upstream. Closing the stage closes both. */
export async function standBetween<Received extends { readonly method: string }>(
  between: Between<Received>,
): Promise<Stage<Received>> {
  const { upstream, profile, upstreams } = between
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile,
    ...(upstreams !== undefined && { upstreams }),
  })
  const { origin, pathname } = new URL(foldgate.url)
  const pool = new Pool(origin, { connections: 1 })

  return {
    ask: async (body, authorization) => {
      upstream.forget()
      const beganMs = performance.now()
      const answer = await pool.request({
        path: `${pathname}/${between.endpoint}`,
        method: 'POST',
        headers: { ...between.headers, authorization, 'content-type': 'application/json' },
        body,
      })
      const text = await answer.body.text()
      const endedMs = performance.now()
      const accepted = between.acceptedMs()
      const treatment = readFoldgateHeaders((name) => {
        const value = answer.headers[name]
        return typeof value === 'string' ? value : null
      })
      return {
        status: answer.statusCode,
        action: treatment.action ?? '',
        passes: treatment.passes,
        summary: treatment.summary ?? 'none',
        times: { beganMs, acceptedMs: accepted !== null && accepted >= beganMs ? accepted : null, endedMs },
        // Foldgate asks for windows on its own account.
        received: upstream.requests.filter(({ method }) => method === 'POST'),
        isReply: answer.statusCode === 200 && between.isReply(text),
        answer: text,
      }
    },
    failures: () => foldgate.log.filter((line) => line.includes('"error"')),
    close: async () => {
      await pool.close()
      await foldgate.close()
      await upstream.close()
    },
  }
}

// --- internal ---

const REPLY = 'Replayed.'
