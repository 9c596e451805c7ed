import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import { words, round } from '../../support/counting-server.ts'
import type { TestMessage } from '../../support/conversations.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'

type Received = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Rounds of which seven fill the stand's usual window: its first compaction comes with the eighth turn. */
export const long = { roundTokens: 1000 }

export type Turn = Awaited<ReturnType<Agent['turn']>>

export type AgentOptions = {
  /** Whose conversation it is. Default `Bearer key-of-a-test`. */
  readonly authorization?: string
  /** Sent with every request; a turn's own win. */
  readonly headers?: Readonly<Record<string, string>>
  /** Tokens of a tool's result, about. Default 400. */
  readonly roundTokens?: number
  /** What the client makes of its messages for each request: a clock in the system prompt, a cache mark that moves. */
  readonly asSent?: (messages: readonly TestMessage[], turn: number) => readonly TestMessage[]
  /** What the user asks for. Agents with the same task and rounds have the same conversation. */
  readonly task?: string
  readonly more?: object
}

export type TurnOptions = {
  /** Another Foldgate than the stand's: a replica, a process. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Gives up on the answer; the turn rejects then. */
  readonly signal?: AbortSignal
  /** After each request of several, as a tool that runs: `stand.model.quiet` lets summaries get ready. */
  readonly pause?: () => Promise<unknown>
}

export type Agent = ReturnType<typeof growingAgent>

/**
 * An agent whose conversation grows by a tool round a request. A round names a file, an id and a number of its own,
 * so that a summary has something to keep.
 */
export function growingAgent(url: string, receivedBy: () => readonly Received[], options: AgentOptions = {}) {
  const { roundTokens = 400, asSent = (messages) => messages, more } = options
  const { task = 'Repair what the nightly run breaks. Start at src/f0.ts.' } = options
  const grown: TestMessage[] = [
    { role: 'system', content: 'You repair programs.' },
    { role: 'user', content: task },
  ]
  let rounds = -1

  /** What its next request without a further round would carry. */
  const messages = () => asSent(grown, Math.max(0, rounds))
  const grow = () => {
    rounds += 1
    if (rounds === 0) return
    const named = `src/f${rounds}.ts: build BLD-${7000 + rounds} ended with code ${300 + rounds}.`
    grown.push(...round(rounds, `${named} ${words(Math.max(1, roundTokens - 30), rounds)}`))
  }

  /** The last request once more, as a client does that gave up waiting, or as a second one at the same time. */
  async function again({ url: at = url, headers = {}, signal }: TurnOptions = {}) {
    requests += 1
    // Requests that run at a time are told apart by it: Foldgate forwards what it does not know.
    const name = String(requests)
    const sent = {
      ...(options.authorization !== undefined && { authorization: options.authorization }),
      ...options.headers,
      ...headers,
      [TURN]: name,
    }
    const beganMs = performance.now()
    const reply = await postChat(at, chatOf(messages(), more), sent, signal)
    const latencyMs = performance.now() - beganMs
    const received = receivedBy().filter((request) => request.headers[TURN] === name)
    return {
      ...reply,
      summary: reply.header('x-foldgate-summary'),
      /** The raw messages that the main upstream received last; empty where nothing reached it. */
      received: rawMessages(received.at(-1)),
      attempts: received.length,
      latencyMs,
    }
  }

  /** One tool round more, then a request with everything so far. The first has no round yet. */
  const turn = (of?: TurnOptions) => {
    grow()
    return again(of)
  }

  async function turns(count: number, of?: TurnOptions) {
    const all: Awaited<ReturnType<typeof again>>[] = []
    while (all.length < count) {
      all.push(await turn(of))
      await of?.pause?.()
    }
    return all
  }

  return { messages, turn, again, turns }
}

/** Turns of an agent up to the first for which this holds, that one included. Fails where none comes. */
export async function turnsUntil(
  agent: Agent,
  isLast: (turn: Turn) => boolean,
  options?: TurnOptions,
): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  while (turns.length < TURNS_MAX) {
    const turn = await agent.turn(options)
    turns.push(turn)
    await options?.pause?.()
    if (isLast(turn)) return turns
  }
  throw new Error(
    `no such turn came: ${turns.map(({ action, summary }) => `${action} ${summary}`).join(', ')}`,
  )
}

export async function turnWhere(
  agent: Agent,
  isLast: (turn: Turn) => boolean,
  options?: TurnOptions,
): Promise<Turn> {
  const turn = (await turnsUntil(agent, isLast, options)).at(-1)
  if (turn === undefined) throw new Error('there is one, or it throws')
  return turn
}

export const isPending = ({ summary }: Turn): boolean => summary === 'pending'

export const isCompacted = ({ action }: Turn): boolean => action === 'compacted'

/** The contents of the messages in a view that hold a summary. */
export const summariesIn = ({ received }: Pick<Turn, 'received'>): readonly string[] =>
  received.filter((message) => message.includes(SUMMARY_OPEN)).map(contentOf)

export const recapsIn = ({ received }: Pick<Turn, 'received'>): readonly string[] =>
  received.filter((message) => message.includes('<conversation-recap>')).map(contentOf)

export const contentOf = (message: string): string => rawMember(message, 'content')

function rawMember(message: string, name: string): string {
  const read: unknown = JSON.parse(message)
  return isObject(read) ? textOf(read[name]) : ''
}

const TURNS_MAX = 40
const SUMMARY_OPEN = '<conversation-summary>'

const TURN = 'x-test-turn'

let requests = 0
