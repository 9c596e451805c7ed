import { parseJsonText } from '../../../json/json-value.ts'
import type { ChatMessage, Wire } from '../client-wire.ts'

/** Anthropic's Messages API. */
export const messagesWire: Wire = {
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  request({ model, messages, tools, metadata, max_tokens: outputTokens = OUTPUT_TOKENS }) {
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    return {
      model,
      max_tokens: outputTokens,
      // The provider keeps a prompt for the next request only if it is asked to.
      cache_control: { type: 'ephemeral' },
      ...(system.length > 0 && { system: system.join('\n\n') }),
      messages: wireMessages(messages),
      ...(tools !== undefined && {
        tools: tools.map(({ function: { name, description, parameters } }) => ({
          name,
          description,
          input_schema: parameters,
        })),
      }),
      // It has room for nothing but a user.
      ...(metadata !== undefined && { metadata: { user_id: metadata['step'] } }),
    }
  },
  reply: (said, { promptTokens, cachedTokens, outputTokens }) => ({
    ...HEAD,
    content: replyBlocks(said),
    stop_reason: said.tool_calls === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: promptTokens - cachedTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cachedTokens,
      output_tokens: outputTokens,
    },
  }),
  refusal({ windowTokens, historyTokens, toolsTokens, outputTokens }) {
    const promptTokens = historyTokens + toolsTokens
    const said =
      promptTokens > windowTokens
        ? `prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`
        : `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${outputTokens} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`
    return { type: 'error', error: { type: 'invalid_request_error', message: said } }
  },
}

// --- internal ---

/** Every request has to set a limit. */
const OUTPUT_TOKENS = 1024

const HEAD = { id: 'msg_demo', type: 'message', role: 'assistant', model: 'demo-model' }

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: readonly object[] }

/** The messages as this API has them: all results of a round stand in one. */
function wireMessages(messages: readonly ChatMessage[]): readonly WireMessage[] {
  const written: WireMessage[] = []
  for (const [at, said] of messages.entries()) {
    if (said.role === 'system') continue
    if (said.role === 'assistant') written.push({ role: 'assistant', content: replyBlocks(said) })
    else if (said.role === 'user')
      written.push({ role: 'user', content: [{ type: 'text', text: said.content }] })
    else {
      const result = { type: 'tool_result', tool_use_id: said.tool_call_id, content: said.content }
      const before = messages[at - 1]?.role === 'tool' ? written.pop() : undefined
      written.push({ role: 'user', content: [...(before?.content ?? []), result] })
    }
  }
  return written
}

function replyBlocks({
  content,
  tool_calls: calls = [],
}: Extract<ChatMessage, { role: 'assistant' }>): readonly object[] {
  const said = content === null ? [] : [{ type: 'text', text: content }]
  const called = calls.map(({ id, function: { name, arguments: args } }) => ({
    type: 'tool_use',
    id,
    name,
    input: parseJsonText(args) ?? {},
  }))
  return [...said, ...called]
}
