import { z } from 'zod'
import { type ChatMessage, type Wire, wireAnswer } from '../client-wire.ts'

/** OpenAI's Responses API, with all of the conversation in each request. */
export const responsesWire: Wire = {
  path: '/responses',
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
  answer: (body) => response.safeParse(body).data,
  received(body) {
    const { input, tools, max_output_tokens: outputTokens, metadata } = responsesBody.parse(body)
    const parts = input.map((item) => ({
      json: JSON.stringify(item),
      text: textOf(item.content ?? item.output ?? ''),
      calls: item.type === 'function_call' ? [functionCall.parse(item)] : [],
    }))
    return { parts, tools, outputTokens, step: metadata.step }
  },
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

const texts = z.union([z.string(), z.array(z.looseObject({ text: z.string() }))])

function textOf(content: z.output<typeof texts>): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n')
}

const functionCall = z.object({ name: z.string(), arguments: z.string() })

/** What a request of the demo's client has, after Foldgate as well. */
const responsesBody = z.object({
  input: z.array(z.looseObject({ type: z.string(), content: texts.optional(), output: texts.optional() })),
  tools: z.array(z.unknown()),
  max_output_tokens: z.int(),
  metadata: z.object({ step: z.string() }),
})

const outputItem = z.union([
  functionCall.extend({ type: z.literal('function_call'), call_id: z.string() }),
  z.object({ type: z.literal('message'), content: texts }),
  // Thoughts, and whatever else a server of the user's may add.
  z.object({ type: z.string() }).transform(() => null),
])

/** The parts of an answer that the demo reads. */
const response = z
  .object({
    output: z.array(outputItem),
    usage: z
      .object({
        input_tokens: z.number(),
        input_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
      })
      .nullish(),
  })
  .transform(({ output, usage }) => {
    const items = output.filter((item) => item !== null)
    const said = items.flatMap((item) => (item.type === 'message' ? [textOf(item.content)] : []))
    const calls = items.flatMap((item) => {
      if (item.type !== 'function_call') return []
      const { call_id: id, name, arguments: args } = item
      return [{ id, name, arguments: args }]
    })
    const cachedTokens = usage?.input_tokens_details?.cached_tokens ?? 0
    return wireAnswer(said, calls, usage == null ? null : { promptTokens: usage.input_tokens, cachedTokens })
  })
