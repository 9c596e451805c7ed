import type { Wire } from '../client-wire.ts'

export const chatWire: Wire = {
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  request: (chat) => chat,
  reply(message, { promptTokens, cachedTokens, outputTokens }) {
    const finish = message.tool_calls === undefined ? 'stop' : 'tool_calls'
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: outputTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
    }
    return { ...HEAD, choices: [{ index: 0, message, finish_reason: finish }], usage }
  },
  refusal({ windowTokens, historyTokens, toolsTokens, outputTokens }) {
    const message =
      `This model's maximum context length is ${windowTokens} tokens. However, you requested ${historyTokens + toolsTokens + outputTokens} tokens ` +
      `(${historyTokens} in the messages, ${toolsTokens} in the functions, and ${outputTokens} in the completion). ` +
      'Please reduce the length of the messages, functions, or completion.'
    return {
      error: {
        message,
        param: 'messages',
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    }
  },
}

// --- internal ---

const HEAD = { id: 'chatcmpl-demo', object: 'chat.completion', created: 1_700_000_000, model: 'demo-model' }
