import { readFoldgateHeaders } from '../../../src/commands/demo/demo-drawing.ts'
import { askAdmin } from '../../admin/ask-admin.ts'
import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import type { Recording } from '../harness/recordings.ts'
import { startWatched } from '../faults/watched.ts'
import { openClient } from '../harness/stage.ts'
import { type Server, startUsageUpstream } from './servers.ts'
import { promptsOf, requestBody } from './talks.ts'
import type { Prompt } from './usage-kinds.ts'

export type Seen = {
  readonly status: number
  readonly windowTokens: number
  readonly source: string
  /**
   * What Foldgate believes of the client's conversation, in shares of the budget; null where it did not count, and where
   * nothing is said of usage because the client has not asked.
   */
  readonly pressure: number | null
  /** The client's request by the server's count, and the output that it asks for. */
  readonly trueTokens: number
  readonly outputTokens: number
  /** Whether the upstream's last received messages are others than the client's. */
  readonly isRewritten: boolean
  /** Whether the server left out part of the prompt that it answered; then, what the smallest form of it would have had. */
  readonly isCut: boolean
  readonly leastTokens: number
}

export type WindowEvent = { readonly reason: string; readonly windowTokens: number }

/** A conversation that was walked; its Foldgate still runs, until `end`. */
export type Walked = Awaited<ReturnType<typeof walkTalk>>

export type Told = {
  readonly windows: readonly WindowEvent[]
  readonly warnings: readonly string[]
  readonly failures: readonly string[]
}

export type WalkOptions = {
  readonly talk: Recording
  readonly server: Server
  readonly windowTokens: number | null
  readonly model: string
  readonly stream: 'no' | 'bare' | 'with-usage'
}

/** Makes the requests of one conversation in their order to a Foldgate that knows nothing. */
export async function walkTalk({ talk, server, windowTokens, model, stream }: WalkOptions) {
  const upstream = await startUsageUpstream(server)
  const profile = windowTokens === null ? {} : { window: { tokens: windowTokens } }
  // An agent's tools take their time between two requests.
  let nowMs = Date.now()
  const { foldgate, adminOrigin } = await startWatched({
    upstream: upstream.url,
    profile,
    nowMs: () => nowMs,
  })
  const client = openClient(foldgate.url)
  const seen: Seen[] = []
  const promptAt = promptsOf(talk)
  for (const point of talk.points) {
    const { text, outputTokens } = requestBody(talk, point, { model, stream })
    const { status, header } = await client.post('chat/completions', text, { authorization: 'Bearer agent' })
    const { windowTokens: said, pressure } = readFoldgateHeaders(header)
    const last = upstream.takeReceived().at(-1)
    const prompt = promptAt(point)
    nowMs += PAUSE_MS
    seen.push({
      status,
      windowTokens: said ?? 0,
      source: /source=(\w+)/.exec(header('x-foldgate-window') ?? '')?.[1] ?? '',
      pressure: stream === 'bare' && server.inStreams === 'asked' ? null : pressure,
      trueTokens: server.sizeOf(prompt),
      outputTokens,
      isRewritten: last !== undefined && keysOf(last.prompt) !== keysOf(prompt),
      isCut: last?.outcome.isCut ?? false,
      leastTokens: last?.outcome.isCut === true ? server.sizeOf(leastOf(prompt)) : 0,
    })
  }
  await client.close()

  return {
    seen,
    end: async (): Promise<Told> => {
      const answer = await askAdmin(adminOrigin, '/events?type=window&limit=100')
      const windows = windowEvents(JSON.parse(answer.text))
      await foldgate.close()
      await upstream.close()
      const lines = foldgate.log.map((line): unknown => JSON.parse(line)).filter(isObject)
      const ofLevel = (level: string) =>
        lines.filter((line) => line['level'] === level).map((line) => textOf(line['message']))
      return { windows, warnings: ofLevel('warn'), failures: ofLevel('error') }
    },
  }
}

const PAUSE_MS = 10_000

const keysOf = ({ messages }: Prompt): string => messages.map(({ key }) => key).join(' ')

/** Tools, system messages, and the newest message where that is a user's: nothing makes them smaller. */
function leastOf(prompt: Prompt): Prompt {
  const isKept = (role: unknown, index: number) =>
    role === 'system' || role === 'developer' || (role === 'user' && index === prompt.messages.length - 1)
  return { ...prompt, messages: prompt.messages.filter(({ message }, index) => isKept(message.role, index)) }
}

function windowEvents(answer: unknown): readonly WindowEvent[] {
  const events = isObject(answer) && Array.isArray(answer['events']) ? answer['events'] : []
  return events.filter(isObject).map(({ reason, details }) => ({
    reason: textOf(reason),
    windowTokens: isObject(details) ? Number(details['window_tokens']) : 0,
  }))
}
