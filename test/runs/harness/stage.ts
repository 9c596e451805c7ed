import { Pool } from 'undici'
import { readFoldgateHeaders } from '../../../src/commands/demo/demo-drawing.ts'
import type { Template } from '../../support/strict-upstream/message-rules.ts'
import { startStrictUpstream, type StrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { startFoldgate, type Upstreams } from '../../support/foldgate.ts'

/** A client of one Foldgate, which sends one request at a time. */
export type Client = {
  /** Posts to a path below the base URL or, with a slash before it, below the server's root. */
  readonly post: (endpoint: string, body: Buffer | string, headers: Headers) => Promise<Answer>
  readonly close: () => Promise<void>
}

export type Headers = Readonly<Record<string, string>>

export type Answer = {
  readonly status: number
  /** null where the answer has none of this name. */
  readonly header: (name: string) => string | null
  readonly text: string
}

export function openClient(url: string): Client {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: 1 })
  return {
    post: async (endpoint, body, headers) => {
      const answer = await pool.request({
        path: endpoint.startsWith('/') ? endpoint : `${pathname}/${endpoint}`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
      const header = (name: string) => {
        const value = answer.headers[name]
        return typeof value === 'string' ? value : null
      }
      return { status: answer.statusCode, header, text: await answer.body.text() }
    },
    close: () => pool.close(),
  }
}

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

/** A Foldgate between a client and an upstream, all over sockets. One request at a time. */
export type Stage<Received = ReceivedRequest> = {
  readonly ask: (body: Buffer, authorization: string) => Promise<Exchange<Received>>
  /** The lines by which Foldgate said that a part of it failed. */
  readonly failures: () => readonly string[]
  readonly close: () => Promise<void>
}

export type StageOptions = {
  /** Foldgate's, as its file would say it. */
  readonly profile: object
  /** Further ones of Foldgate's, for summaries. */
  readonly upstreams?: Upstreams
  /** The upstream's, of prompt and output together. */
  readonly windowTokens: number
  /** What the upstream asks for. */
  readonly template?: Template
  /** Whether the upstream refuses broken sequences. */
  readonly rules: 'enforced' | 'unchecked'
  /** Whether the upstream says how large prompts were. */
  readonly statesUsage: boolean
  readonly count: (text: string) => number
}

/** A stage before the strict upstream, which takes chat completions. */
export async function openStage({ profile, upstreams, ...options }: StageOptions): Promise<Stage> {
  let acceptedMs: number | null = null
  const upstream = await startStrictUpstream({
    template: 'lenient',
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
  /** Where conversations are posted to, below the base URL or, with a slash before it, below the root. */
  readonly endpoint: string
  /** What every request says beside whose it is. */
  readonly headers?: Headers
  /** Whether an answer with status 200 is the upstream's whole reply. */
  readonly isReply: (text: string) => boolean
  /** When the upstream accepted the newest request; null if it did not. Default: it does not tell. */
  readonly acceptedMs?: () => number | null
}

/** Puts a Foldgate before an upstream. Closing the stage closes both. */
export async function standBetween<Received extends { readonly method: string; readonly path: string }>(
  between: Between<Received>,
): Promise<Stage<Received>> {
  const { upstream, profile, upstreams } = between
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    profile,
    ...(upstreams !== undefined && { upstreams }),
  })
  const client = openClient(foldgate.url)
  return {
    ask: async (body, authorization) => {
      upstream.forget()
      const beganMs = performance.now()
      const { status, header, text } = await client.post(between.endpoint, body, {
        ...between.headers,
        authorization,
      })
      const endedMs = performance.now()
      const accepted = between.acceptedMs?.() ?? null
      const treatment = readFoldgateHeaders(header)
      return {
        status,
        action: treatment.action ?? '',
        passes: treatment.passes,
        summary: treatment.summary ?? 'none',
        times: { beganMs, acceptedMs: accepted !== null && accepted >= beganMs ? accepted : null, endedMs },
        // Foldgate asks for windows on its own account.
        received: upstream.requests.filter(
          ({ method, path }) => method === 'POST' && path.endsWith(between.endpoint),
        ),
        isReply: status === 200 && between.isReply(text),
        answer: text,
      }
    },
    failures: () => foldgate.log.filter((line) => line.includes('"error"')),
    close: async () => {
      await client.close()
      await foldgate.close()
      await upstream.close()
    },
  }
}

/** How many attempts of an exchange the upstream refused. */
export const refusedIn = ({ received }: { readonly received: readonly { readonly rejected: unknown }[] }) =>
  received.filter(({ rejected }) => rejected !== null).length

const REPLY = 'Replayed.'
