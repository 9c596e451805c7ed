import * as fc from 'fast-check'
import type { JsonObject } from '../../../../src/conversation/json-value.ts'
import { startFoldgateProgram } from '../../../support/foldgate-program.ts'
import { diceOf, type Dice } from '../../../support/responses/any-agent.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { AGENT_WINDOW_TOKENS } from './agent-window.ts'
import { messageAgent } from './message-agent.ts'
import { responsesAgent } from './responses-agent.ts'

/** How an agent and its model speak in a dialect. */
export type AgentKind = {
  readonly path: string
  readonly headers?: (key: string) => Readonly<Record<string, string>>
  /** A server as strict as the dialect's maker, whose model replies as the dice say. */
  readonly serve: (dice: () => Dice) => Promise<AgentServer>
  /** What a conversation begins with. */
  readonly begun: readonly JsonObject[]
  readonly body: (history: readonly JsonObject[], isStreamed: boolean) => object
  /** The body by which the server compacts all of it. */
  readonly compacting: (history: readonly JsonObject[]) => object
  /** What a client takes over from an answer, and what it sends behind that. */
  readonly reply: (text: string) => readonly JsonObject[]
  readonly behind: (reply: readonly JsonObject[], roll: Dice, round: number) => readonly JsonObject[]
  /** The history behind a compaction of the server's. */
  readonly compacted: (history: readonly JsonObject[], reply: readonly JsonObject[]) => readonly JsonObject[]
}

export type AgentServer = {
  readonly url: string
  /** What it had to say against the requests since this was last asked. */
  readonly objections: () => readonly unknown[]
  readonly close: () => Promise<void>
}

/**
 * Conversations of agents with a model, which think, call, search and compact as they like, under profiles of every kind. A
 * strict server refuses none of their requests and drops no thoughts that it was sent.
 */
export const agents: FuzzTarget = target('agents', responsesAgent)

/** The same of the Messages API. */
export const messageAgents: FuzzTarget = target('message-agents', messageAgent)

// --- internal ---

function target(name: string, kind: AgentKind): FuzzTarget {
  return {
    name,
    share: 2,
    shows: ['compacted'],
    open: async () => {
      /** The model of the conversation that is tried. */
      let replying = diceOf(0)
      let clients = 0
      const server = await kind.serve(() => replying)
      const program = await startFoldgateProgram({
        settings: { upstreams: { default: { url: server.url } }, store: { url: 'memory:' } },
        profiles: Object.fromEntries(
          Object.entries(profiles).map(([profile, more]) => [
            profile,
            { window: { tokens: AGENT_WINDOW_TOKENS }, ...more },
          ]),
        ),
        admin: false,
      })

      async function ask(profile: string, key: string, body: object): Promise<Response> {
        const headers = {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          ...kind.headers?.(key),
          'x-foldgate-profile': profile,
        }
        const url = `http://127.0.0.1:${program.port}/v1/${kind.path}`
        return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      }

      return openTarget({
        arbitrary: fc.record({
          seed: fc.nat(),
          rounds: fc.integer({ min: 1, max: 24 }),
          profile: fc.constantFrom(...Object.keys(profiles)),
          compactsAt: fc.option(fc.nat({ max: 24 })),
        }),
        check: async ({ seed, rounds, profile, compactsAt }): Promise<Fate> => {
          const roll = diceOf(seed)
          replying = diceOf(seed + 1)
          clients += 1
          const key = `key-${seed}-${rounds}-${clients}`
          let history = kind.begun
          const fates = new Set<string>()
          for (let round = 0; round < rounds; round += 1) {
            const compacts = round === compactsAt
            const body = compacts ? kind.compacting(history) : kind.body(history, roll(2) === 0)
            const answer = await ask(profile, key, body)
            const text = await answer.text()
            const objections = server.objections()
            if (program.ended() !== null) throw new Error(`Foldgate ended (${program.ended()})`)
            if (answer.status !== 200 || objections.length > 0)
              throw new Error(
                `round ${round}: ${answer.status} ${JSON.stringify(objections)} ${text.slice(0, 300)}`,
              )
            fates.add(answer.headers.get('x-foldgate-action') ?? '')
            const reply = kind.reply(text)
            history = compacts
              ? kind.compacted(history, reply)
              : [...history, ...reply, ...kind.behind(reply, roll, round)]
          }
          const complaints = program.complaints()
          if (complaints.length > 0) throw new Error(complaints.join('').slice(0, 2_000))
          return fates.has('compacted') ? 'compacted' : [...fates].join()
        },
        close: async () => {
          await program.close()
          await server.close()
        },
      })
    },
  }
}

/** By name. */
const profiles: Readonly<Record<string, object>> = {
  default: {},
  strict: { template: 'strict' },
  early: { trigger: 0.7, repair: true },
  recalling: { clear: { enabled: false }, recall: { enabled: true } },
  short: { limit: { turns: 6 } },
  often: { every: { tool_calls: 4 }, keep: { recent_messages: 8 } },
}
