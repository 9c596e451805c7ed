import { z } from 'zod'
import { parseJsonText } from '../../../json/json-value.ts'
import { type ChatMessage, type Wire, wireAnswer } from '../client-wire.ts'

/** Ollama's own chat. */
export const ollamaWire: Wire = {
  // Beside the version, not below it.
  path: '/../api/chat',
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
  answer: (body) => chatAnswer.safeParse(body).data,
  received(body) {
    const { messages, tools, options, truncate = true } = chatBody.parse(body)
    const parts = messages.map((message) => ({
      json: JSON.stringify(message),
      text: message.content,
      calls: callsOf(message),
      isKept: message.role === 'system',
    }))
    return { parts, tools, outputTokens: options.num_predict, step: `${options.seed}`, mayCut: truncate }
  },
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

const message = z.looseObject({
  role: z.string(),
  content: z.string(),
  tool_calls: z
    .array(
      z.object({
        id: z.string().default(''),
        function: z.object({ name: z.string(), arguments: z.unknown() }),
      }),
    )
    .default([]),
})

function callsOf({ tool_calls: calls }: z.output<typeof message>) {
  return calls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    name,
    arguments: JSON.stringify(args),
  }))
}

/** What a request of the demo's client has, after Foldgate as well. */
const chatBody = z.object({
  messages: z.array(message),
  tools: z.array(z.unknown()),
  options: z.object({ num_predict: z.int(), seed: z.int() }),
  truncate: z.boolean().optional(),
})

/** The parts of an answer that the demo reads. */
const chatAnswer = z
  .object({ message, prompt_eval_count: z.number().nullish() })
  .transform(({ message: said, prompt_eval_count: promptTokens }) =>
    wireAnswer(
      said.content === '' ? [] : [said.content],
      callsOf(said),
      promptTokens == null ? null : { promptTokens, cachedTokens: 0 },
    ),
  )
