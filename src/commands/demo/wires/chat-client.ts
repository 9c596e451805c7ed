import { z } from 'zod'
import type { Wire, WireAnswer } from '../client-wire.ts'

export const chatWire: Wire = {
  path: '/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  request: (chat) => chat,
  answer: (body) => completion.safeParse(body).data,
  received(body) {
    const { messages, tools, max_tokens: outputTokens, metadata } = chatBody.parse(body)
    const parts = messages.map((message) => ({
      json: JSON.stringify(message),
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call) => call.function),
    }))
    return { parts, tools, outputTokens, step: metadata.step }
  },
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

/** What a request of the demo's client has, after Foldgate as well. */
const chatBody = z.object({
  messages: z.array(
    z.looseObject({
      content: z.string().nullish(),
      tool_calls: z
        .array(z.looseObject({ function: z.object({ name: z.string(), arguments: z.string() }) }))
        .optional(),
    }),
  ),
  tools: z.array(z.unknown()),
  max_tokens: z.int(),
  metadata: z.object({ step: z.string() }),
})

const chatCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

/** The parts of an answer that the demo reads. */
const completion = z
  .object({
    choices: z.tuple(
      [
        z.object({
          message: z.object({ content: z.string().nullish(), tool_calls: z.array(chatCall).nullish() }),
        }),
      ],
      z.unknown(),
    ),
    usage: z
      .object({
        prompt_tokens: z.number(),
        prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
      })
      .nullish(),
  })
  .transform(({ choices: [{ message }], usage }): WireAnswer => ({
    message: {
      role: 'assistant',
      content: message.content ?? null,
      ...(message.tool_calls != null && { tool_calls: message.tool_calls }),
    },
    usage:
      usage == null
        ? null
        : {
            promptTokens: usage.prompt_tokens,
            cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
          },
  }))
