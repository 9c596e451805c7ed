import { isJsonObject, parseJsonText } from '../../../../src/conversation/json-value.ts'
import { behind, replyOf } from '../../../support/responses/any-agent.ts'
import { startResponsesUpstream } from '../../../support/responses/responses-upstream.ts'
import { AGENT_WINDOW_TOKENS, agentTokens } from './agent-window.ts'
import type { AgentKind } from './agents.ts'

/** An agent that speaks the Responses API. */
export const responsesAgent: AgentKind = {
  path: 'responses',
  serve: async (dice) => {
    let made = 0
    const upstream = await startResponsesUpstream({
      windowTokens: AGENT_WINDOW_TOKENS,
      outputReserveChecked: false,
      count: agentTokens,
      reply: () => ({ output: replyOf(dice(), (made += 1)) }),
    })
    return {
      ...upstream,
      objections: () => {
        const found = upstream.requests.flatMap(({ rejected, removed }) =>
          [rejected?.message ?? [], removed].flat(),
        )
        upstream.forget()
        return found
      },
    }
  },
  begun: [
    { type: 'message', role: 'developer', content: 'You are careful.' },
    { type: 'message', role: 'user', content: 'Begin.' },
  ],
  body: (input, stream) => ({ model: 'gpt-5.1', store: false, tools, input, stream }),
  compacting: (input) => ({
    model: 'gpt-5.1',
    store: false,
    tools,
    input: [...input, { type: 'compaction_trigger' }],
  }),
  reply: (text) => {
    const events = text.split('\n').filter((line) => line.startsWith('data: {'))
    const last = text.startsWith('{') ? parseJsonText(text) : parseJsonText(events.at(-1)?.slice(6) ?? '')
    const response = isJsonObject(last) && isJsonObject(last['response']) ? last['response'] : last
    const output = isJsonObject(response) ? response['output'] : null
    return Array.isArray(output) ? output.filter(isJsonObject) : []
  },
  behind,
  compacted: (history, output) => [
    ...history,
    ...output,
    { type: 'message', role: 'user', content: 'Go on.' },
  ],
}

// --- internal ---

const tools = [
  { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
]
