import type { ChatMessage, Wire } from '../client-wire.ts'

/** OpenAI's Responses API, with all of the conversation in each request. */
export const responsesWire: Wire = {
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  request: ({ model, messages, tools, metadata, max_tokens: outputTokens }) => ({
    model,
    store: false,
    input: messages.flatMap(itemsOf),
    ...(tools !== undefined && {
      tools: tools.map((tool) => ({ type: 'function', ...tool.function, strict: false })),
    }),
    ...(metadata !== undefined && { metadata }),
    ...(outputTokens !== undefined && { max_output_tokens: outputTokens }),
  }),
  reply: (message, { promptTokens, cachedTokens, outputTokens }) => ({
    ...HEAD,
    output: itemsOf(message),
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + outputTokens,
    },
  }),
  refusal: () => ({
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      param: 'input',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  }),
}

// --- internal ---

const HEAD = {
  id: 'resp_demo',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'demo-model',
}

/** A message as items: what the model said, and each call that it made. */
function itemsOf(message: ChatMessage): readonly object[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: message.content }]
  if (message.role !== 'assistant')
    return [{ type: 'message', role: message.role, content: [{ type: 'input_text', text: message.content }] }]
  const content = [{ type: 'output_text', text: message.content, annotations: [] }]
  const said = message.content === null ? [] : [{ type: 'message', role: message.role, content }]
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'function_call',
    call_id: call.id,
    ...call.function,
  }))
  return [...said, ...calls]
}
