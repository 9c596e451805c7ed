import { parseJsonText } from '../../../json/json-value.ts'
import type { ChatMessage, Wire } from '../client-wire.ts'

/** Ollama's own chat. */
export const ollamaWire: Wire = {
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  request: ({ model, messages, tools, metadata, max_tokens: outputTokens }) => ({
    model,
    stream: false,
    messages: messages.map(wireMessage),
    ...(tools !== undefined && { tools }),
    options: {
      ...(outputTokens !== undefined && { num_predict: outputTokens }),
      // It has room for nothing that means nothing to the server.
      ...(metadata !== undefined && { seed: Number(metadata['step']) }),
    },
  }),
  reply: (message, { promptTokens, outputTokens }) => ({
    model: 'demo-model',
    created_at: '2026-11-01T00:00:00Z',
    message: wireMessage(message),
    done: true,
    done_reason: 'stop',
    total_duration: 1,
    load_duration: 1,
    prompt_eval_count: promptTokens,
    eval_count: outputTokens,
  }),
  refusal: () => ({ error: 'the input length exceeds the context length' }),
  cuts: true,
}

// --- internal ---

/** A message as this API has it: arguments are objects, and results answer calls in their order. */
function wireMessage(said: ChatMessage): object {
  if (said.role === 'tool') return { role: said.role, content: said.content }
  const calls = said.role === 'assistant' ? (said.tool_calls ?? []) : []
  const called = calls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    function: { name, arguments: parseJsonText(args) ?? {} },
  }))
  return { role: said.role, content: said.content ?? '', ...(called.length > 0 && { tool_calls: called }) }
}
