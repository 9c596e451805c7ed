import { isJsonObject, parseJsonText, type JsonObject } from '../../../../src/conversation/json-value.ts'
import { readStrictly } from '../../../dialects/messages/reply/streamed.ts'
import { behind, replyOf } from '../../../support/messages/any-agent.ts'
import { startMessagesUpstream } from '../../../support/messages/messages-upstream.ts'
import { AGENT_WINDOW_TOKENS, agentTokens } from './agent-window.ts'
import type { AgentKind } from './agents.ts'

/** An agent that speaks the Messages API. */
export const messageAgent: AgentKind = {
  path: 'messages',
  headers: (key) => ({
    'x-api-key': key,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'compact-2026-09-04',
  }),
  serve: async (dice) => {
    let made = 0
    const upstream = await startMessagesUpstream({
      windowTokens: AGENT_WINDOW_TOKENS,
      outputReserveChecked: false,
      count: agentTokens,
      reply: () => ({ content: replyOf(dice(), (made += 1)) }),
    })
    return {
      ...upstream,
      objections: () => {
        const found = upstream.requests.flatMap(({ rejected, transformations }) =>
          [rejected?.message ?? [], transformations].flat(),
        )
        upstream.forget()
        return found
      },
    }
  },
  begun: [{ role: 'user', content: 'Begin.' }],
  body: (messages, stream) => bodyOf(messages, { stream }),
  compacting: (messages) => bodyOf(messages, { compaction: { type: 'summarize' } }),
  reply: (text) => {
    const message = text.startsWith('{') ? parseJsonText(text) : readStrictly(text.split(/(?<=\n\n)/))
    const content: unknown = isJsonObject(message) ? message['content'] : null
    return [{ role: 'assistant', content: Array.isArray(content) ? content : [] }]
  },
  behind: ([reply], roll, round) =>
    behind(blocksOf(reply), roll, round).map(({ role, blocks }) => ({ role, content: blocks })),
  compacted: (_history, reply) => [...reply, { role: 'user', content: 'Go on.' }],
}

// --- internal ---

const tools = [{ name: 'read', input_schema: { type: 'object', properties: {} } }]

function bodyOf(messages: readonly JsonObject[], more: object): object {
  return { model: 'claude-strict', max_tokens: 1_000, system: 'You are careful.', tools, messages, ...more }
}

function blocksOf(message: JsonObject | undefined): readonly JsonObject[] {
  const content: unknown = message?.['content']
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}
