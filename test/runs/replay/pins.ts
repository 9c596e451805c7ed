import { openStandings, type Standing, type StandingOptions } from '../fidelity/standing.ts'
import { hasShare, newestRoundTokens, newestShare, taskShare, waterLevel } from '../fidelity/workable.ts'
import { rawMessage, systemCountOf, type RawMessage } from '../harness/recordings.ts'
import { latestUser, newestUserOf, type Subject } from '../harness/subject.ts'

/** A part of a conversation that has not its share in what was received (P4). */
export type MissingPin = { readonly what: 'newest' | 'task' | 'pinned'; readonly detail: string }

export type PinsInput = {
  /** How many messages the request carried. */
  readonly point: number
  readonly rawMessages: readonly string[]
  /** What window, reply, tools and leading system messages leave, by the judge's count; above 0. */
  readonly roomTokens: number
}

/** Holds the shares of promise P4 against what was received for the requests of one conversation. */
export function openPins(
  { messages, systemCount, task }: Pick<Subject, 'messages' | 'systemCount' | 'task'>,
  options: StandingOptions,
): (input: PinsInput) => readonly MissingPin[] {
  const { sizeOf } = options
  const standings = openStandings(options)
  const parsed = new Map<string, RawMessage>()

  function parse(text: string): RawMessage {
    const message = parsed.get(text) ?? rawMessage(text)
    parsed.set(text, message)
    return message
  }

  return function missingPins({ point, rawMessages, roomTokens }) {
    const client = messages.slice(0, point)
    const received = rawMessages.map(parse)
    const standingAt = standings.of(client, received)
    const missing: MissingPin[] = []
    const judge = (what: MissingPin['what'], name: string, index: number, shareTokens: number): void => {
      const message = client[index]
      if (message === undefined) return
      // A user's may be joined with others. The newest one is not to be found in an older one that says the same.
      const places = index === point - 1 ? received.slice(-1) : received
      const isUser = message.message['role'] === 'user'
      const standing = standingAt.get(index) ?? (isUser ? standings.most(message, places) : null)
      if (hasShare(standing, shareTokens)) return
      const due = Math.floor(Math.min(shareTokens, sizeOf(message)))
      missing.push({ what, detail: `${name}, message ${index}: ${told(standing)}, ${due} tokens are due` })
    }

    for (let index = 0; index < Math.min(systemCount, point); index += 1) {
      if (rawMessages[index] !== messages[index]?.text)
        missing.push({ what: 'pinned', detail: `system message ${index}` })
    }
    judge('newest', 'the newest', point - 1, newestShare(client, roomTokens, sizeOf))
    const [latest, newestUser] = [latestUser(client), newestUserOf(client)]
    // System messages may follow a newest user message.
    const userTokens =
      newestUser === -1 ? 0 : newestShare(client.slice(0, newestUser + 1), roomTokens, sizeOf)
    const pinned = [
      ['task', 'the task', task],
      ['pinned', 'the latest user message', latest],
    ] as const
    for (const [what, name, index] of pinned) {
      const message = client[index]
      if (message === undefined || index === point - 1 || (what === 'pinned' && index === task)) continue
      const share = index === newestUser ? userTokens : taskShare(message, roomTokens, sizeOf)
      judge(what, name, index, share)
    }

    const others = newestRoundOf(client).filter((index) => index !== task && index !== latest)
    const sizes = others.map((index) => sizeOf(client[index] ?? NOTHING))
    const level = waterLevel(sizes, Math.max(0, newestRoundTokens(roomTokens) - userTokens))
    for (const [at, index] of others.entries()) {
      const share = Math.min(sizes[at] ?? 0, level)
      if (index !== point - 1 && share >= 1) judge('pinned', 'of the newest round', index, share)
    }
    return missing
  }
}

// --- internal ---

const NOTHING: RawMessage = { text: '{}', message: {} }

/** More messages than this behind one without calls are no round that has to be seen as one. */
const LOOSE_ROUND_MAX = 8

/** The indexes of the newest assistant message and of all that follows it. */
function newestRoundOf(client: readonly RawMessage[]): readonly number[] {
  const assistant = client.findLastIndex(({ message }) => message['role'] === 'assistant')
  const start = Math.max(assistant, systemCountOf(client))
  const isLoose = client[assistant]?.message['tool_calls'] === undefined
  if (isLoose && client.length - start > LOOSE_ROUND_MAX) return []
  return client.map((_, index) => index).slice(start)
}

function told(standing: Standing | null): string {
  if (standing === null) return 'is not there'
  const { tokensHeld, textTokensHeld, sizeTokens } = standing
  return `has ${tokensHeld} of ${sizeTokens} tokens (${textTokensHeld} of its text)`
}
