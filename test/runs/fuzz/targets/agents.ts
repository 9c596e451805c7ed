import * as fc from 'fast-check'
import { startFoldgateProgram } from '../../../support/foldgate-program.ts'
import * as inMessages from '../../../support/messages/living.ts'
import { startMessagesUpstream } from '../../../support/messages/messages-upstream.ts'
import { blocksOf, type WireBlock } from '../../../support/messages/wire-block.ts'
import * as inResponses from '../../../support/responses/living.ts'
import { startResponsesUpstream } from '../../../support/responses/responses-upstream.ts'
import { fuzzTarget, type FuzzTarget } from '../target.ts'

/** The window that an agent's model has, and is told to have. */
const WINDOW_TOKENS = 5_000

const server = {
  windowTokens: WINDOW_TOKENS,
  outputReserveChecked: false,
  /** Each word of letters is a token, and so is every other character but blanks. */
  count: (text: string) => text.match(/[a-z]+|[^\sa-z]/gi)?.length ?? 0,
}

type Dice = ReturnType<typeof inResponses.diceOf>

type Upstream = Awaited<ReturnType<typeof startMessagesUpstream | typeof startResponsesUpstream>>

/** How an agent and its model speak in a dialect. */
type AgentKind = {
  readonly path: string
  readonly headers: (key: string) => Readonly<Record<string, string>>
  /** A server as strict as the dialect's maker, whose model replies as the dice say. */
  readonly serve: (dice: () => Dice) => Promise<Upstream>
  /** What a conversation begins with. */
  readonly begun: readonly WireBlock[]
  /** `compacts`: the body by which the server compacts all of it. */
  readonly body: (history: readonly WireBlock[], how: { stream: boolean; compacts: boolean }) => object
  /** What a client takes over from an answer, and what it sends behind that. */
  readonly reply: (text: string) => readonly WireBlock[]
  readonly behind: (reply: readonly WireBlock[], roll: Dice, round: number) => readonly WireBlock[]
  /** The history behind a compaction of the server's. */
  readonly compacted: (history: readonly WireBlock[], reply: readonly WireBlock[]) => readonly WireBlock[]
}

/**
 * Conversations of agents with a model, which think, call, search and compact as they like, under profiles of every kind. A
 * strict server refuses none of their requests and drops no thoughts that it was sent.
 */
export const agents = talking('agents', {
  path: 'responses',
  headers: () => ({}),
  serve: (dice) => {
    let made = 0
    const reply = () => ({ output: inResponses.replyOf(dice(), (made += 1)) })
    return startResponsesUpstream({ ...server, reply })
  },
  begun: [
    { type: 'message', role: 'developer', content: 'You are careful.' },
    { type: 'message', role: 'user', content: 'Begin.' },
  ],
  body: (history, { stream, compacts }) => {
    const schema = { type: 'object', properties: {} }
    const tools = [{ type: 'function', name: 'read', parameters: schema, strict: false }]
    const input = compacts ? [...history, { type: 'compaction_trigger' }] : history
    return { model: 'gpt-5.1', store: false, tools, input, ...(!compacts && { stream }) }
  },
  reply: (text) => inResponses.readReply(text)?.items ?? [],
  behind: inResponses.behind,
  compacted: (history, output) => [
    ...history,
    ...output,
    { type: 'message', role: 'user', content: 'Go on.' },
  ],
})

/** The same of the Messages API. */
export const messageAgents = talking('message-agents', {
  path: 'messages',
  headers: (key) => ({
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'compact-2026-09-04',
  }),
  serve: (dice) => {
    let made = 0
    const reply = () => ({ content: inMessages.replyOf(dice(), (made += 1)) })
    return startMessagesUpstream({ ...server, reply })
  },
  begun: [{ role: 'user', content: 'Begin.' }],
  body: (messages, { stream, compacts }) => {
    const tools = [{ name: 'read', input_schema: { type: 'object', properties: {} } }]
    const how = compacts ? { compaction: { type: 'summarize' } } : { stream }
    return { model: 'claude-strict', max_tokens: 1_000, system: 'You are careful.', tools, messages, ...how }
  },
  reply: (text) => [{ role: 'assistant', content: inMessages.readReply(text)?.blocks ?? [] }],
  behind: ([reply], roll, round) =>
    inMessages
      .behind(blocksOf(reply?.['content']), roll, round)
      .map(({ role, blocks }) => ({ role, content: blocks })),
  compacted: (_history, reply) => [...reply, { role: 'user', content: 'Go on.' }],
})

/** What a server had to say against the requests since this was last asked. */
function objectionsOf(upstream: Upstream): readonly unknown[] {
  const found = upstream.requests.flatMap((request) => [
    ...(request.rejected === null ? [] : [request.rejected.message]),
    ...('removed' in request ? request.removed : request.transformations),
  ])
  upstream.forget()
  return found
}

function talking(name: string, kind: AgentKind): FuzzTarget {
  return fuzzTarget(name, 2, ['compacted'], async () => {
    /** By name. */
    const profiles: Readonly<Record<string, object>> = {
      default: {},
      strict: { template: 'strict' },
      early: { trigger: 0.7, repair: true },
      recalling: { clear: { enabled: false }, recall: { enabled: true } },
      short: { limit: { turns: 6 } },
      often: { every: { tool_calls: 4 }, keep: { recent_messages: 8 } },
    }
    const window = { tokens: WINDOW_TOKENS }
    const windowed = Object.entries(profiles).map(([profile, more]) => [profile, { window, ...more }])
    /** The model of the conversation that is tried. */
    let replying = inResponses.diceOf(0)
    let clients = 0
    const upstream = await kind.serve(() => replying)
    const program = await startFoldgateProgram({
      settings: { upstreams: { default: { url: upstream.url } }, store: { url: 'memory:' } },
      profiles: Object.fromEntries(windowed),
      admin: false,
    })
    return {
      arbitrary: fc.record({
        seed: fc.nat(),
        rounds: fc.integer({ min: 1, max: 24 }),
        profile: fc.constantFrom(...Object.keys(profiles)),
        compactsAt: fc.option(fc.nat({ max: 24 })),
      }),
      check: async ({ seed, rounds, profile, compactsAt }) => {
        const roll = inResponses.diceOf(seed)
        replying = inResponses.diceOf(seed + 1)
        clients += 1
        const key = `key-${seed}-${rounds}-${clients}`
        const headers = {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          ...kind.headers(key),
          'x-foldgate-profile': profile,
        }
        let history = kind.begun
        const fates = new Set<string>()
        for (let round = 0; round < rounds; round += 1) {
          const compacts = round === compactsAt
          const body = JSON.stringify(kind.body(history, { stream: !compacts && roll(2) === 0, compacts }))
          const url = `http://127.0.0.1:${program.port}/v1/${kind.path}`
          const answer = await fetch(url, { method: 'POST', headers, body })
          const text = await answer.text()
          const objections = objectionsOf(upstream)
          if (program.ended() !== null) throw new Error(`Foldgate ended (${program.ended()})`)
          if (answer.status !== 200 || objections.length > 0) {
            const told = `${answer.status} ${JSON.stringify(objections)} ${text.slice(0, 300)}`
            throw new Error(`round ${round}: ${told}`)
          }
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
        await upstream.close()
      },
    }
  })
}
