import * as fc from 'fast-check'
import { isJsonObject, parseJsonText } from '../../../src/conversation/json-value.ts'
import { startFoldgateProgram } from '../../support/foldgate-program.ts'
import { behind, diceOf, replyOf } from '../../support/responses/any-agent.ts'
import { startResponsesUpstream } from '../../support/responses/responses-upstream.ts'
import type { WireItem } from '../../support/responses/wire-item.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'

/**
 * Conversations of agents with a model of the Responses API, which think, call, search and compact as they like, under
 * profiles of every kind. A server as strict as OpenAI's refuses none of their requests and drops no thoughts that it was sent.
 */
export const agents: FuzzTarget = {
  name: 'agents',
  share: 2,
  shows: ['compacted'],
  open: async () => {
    /** The model of the conversation that is tried, and the window that it is told to have. */
    let reply = diceOf(0)
    let made = 0
    const upstream = await startResponsesUpstream({
      windowTokens: WINDOW_TOKENS,
      outputReserveChecked: false,
      count: (text) => text.match(/[a-z]+|[^\sa-z]/gi)?.length ?? 0,
      reply: () => ({ output: replyOf(reply, (made += 1)) }),
    })
    const program = await startFoldgateProgram({
      settings: { upstreams: { default: { url: upstream.url } }, store: { url: 'memory:' } },
      profiles: Object.fromEntries(
        Object.entries(profiles).map(([name, more]) => [
          name,
          { window: { tokens: WINDOW_TOKENS }, ...more },
        ]),
      ),
      admin: false,
    })

    async function ask(profile: string, key: string, body: object): Promise<Response> {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'x-foldgate-profile': profile,
      }
      const sent = JSON.stringify({ model: 'gpt-5.1', store: false, tools, ...body })
      const url = `http://127.0.0.1:${program.port}/v1/responses`
      return fetch(url, { method: 'POST', headers, body: sent })
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
        reply = diceOf(seed + 1)
        const key = `key-${seed}-${rounds}-${(made += 1)}`
        const input: WireItem[] = [
          { type: 'message', role: 'developer', content: 'You are careful.' },
          { type: 'message', role: 'user', content: 'Begin.' },
        ]
        const fates = new Set<string>()
        for (let round = 0; round < rounds; round += 1) {
          const compacts = round === compactsAt
          const items = compacts ? [...input, { type: 'compaction_trigger' }] : input
          const answer = await ask(profile, key, {
            input: items,
            stream: !compacts && roll(2) === 0,
          })
          const text = await answer.text()
          const objections = upstream.requests.flatMap(({ rejected, removed }) =>
            [rejected?.message ?? [], removed].flat(),
          )
          upstream.forget()
          if (program.ended() !== null) throw new Error(`Foldgate ended (${program.ended()})`)
          if (answer.status !== 200 || objections.length > 0)
            throw new Error(
              `round ${round}: ${answer.status} ${JSON.stringify(objections)} ${text.slice(0, 300)}`,
            )
          fates.add(answer.headers.get('x-foldgate-action') ?? '')
          const output = outputOf(text)
          input.push(...output)
          if (compacts) input.push({ type: 'message', role: 'user', content: 'Go on.' })
          else input.push(...behind(output, roll, round))
        }
        const complaints = program.complaints()
        if (complaints.length > 0) throw new Error(complaints.join('').slice(0, 2_000))
        return fates.has('compacted') ? 'compacted' : [...fates].join()
      },
      close: async () => {
        await program.close()
        await upstream.close()
      },
    })
  },
}

// --- internal ---

const WINDOW_TOKENS = 5_000

const tools = [
  { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
]

/** By name. */
const profiles: Readonly<Record<string, object>> = {
  default: {},
  strict: { template: 'strict' },
  early: { trigger: 0.7, repair: true },
  recalling: { clear: { enabled: false }, recall: { enabled: true } },
  short: { limit: { turns: 6 } },
  often: { every: { tool_calls: 4 }, keep: { recent_messages: 8 } },
}

function outputOf(text: string): readonly WireItem[] {
  const events = text.split('\n').filter((line) => line.startsWith('data: {'))
  const last = text.startsWith('{') ? parseJsonText(text) : parseJsonText(events.at(-1)?.slice(6) ?? '')
  const response = isJsonObject(last) && isJsonObject(last['response']) ? last['response'] : last
  const output = isJsonObject(response) ? response['output'] : null
  return Array.isArray(output) ? output.filter(isJsonObject) : []
}
