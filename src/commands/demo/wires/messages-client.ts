import { z } from 'zod'
import { parseJsonText } from '../../../json/json-value.ts'
import { type ChatMessage, type Wire, wireAnswer } from '../client-wire.ts'

/** Anthropic's Messages API. */
export const messagesWire: Wire = {
  path: '/messages',
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
  answer: (body) => message.safeParse(body).data,
  received(body) {
    const { system, messages, tools, max_tokens: outputTokens, metadata } = messagesBody.parse(body)
    const parts = messages.map((sent) => {
      const blocks = blocksOf(sent.content)
      return {
        json: JSON.stringify(sent),
        text: blocks.map(({ text, content: result }) => text ?? result ?? '').join('\n'),
        calls: blocks.flatMap(({ name, input }) =>
          name === undefined ? [] : [{ name, arguments: JSON.stringify(input) }],
        ),
      }
    })
    const first = { json: JSON.stringify(system), text: system, calls: [] }
    return { parts: [first, ...parts], tools, outputTokens, step: metadata.user_id }
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

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  content: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
})

type Block = z.output<typeof block>

const content = z.union([z.string(), z.array(block)])

function blocksOf(given: z.output<typeof content>): readonly Block[] {
  return typeof given === 'string' ? [{ type: 'text', text: given }] : given
}

/** What a request of the demo's client has, after Foldgate as well. */
const messagesBody = z.object({
  system: z.string(),
  messages: z.array(z.looseObject({ content })),
  tools: z.array(z.unknown()),
  max_tokens: z.int(),
  metadata: z.object({ user_id: z.string() }),
})

const replyBlock = z.union([
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('text'), text: z.string() }),
  // Thoughts, and whatever else a server of the user's may add.
  z.object({ type: z.string() }).transform(() => null),
])

/** The parts of an answer that the demo reads. What was cached is counted beside the rest, where there is a cache. */
const message = z
  .object({
    content: z.array(replyBlock),
    usage: z
      .object({
        input_tokens: z.number(),
        cache_read_input_tokens: z.number().nullish(),
        cache_creation_input_tokens: z.number().nullish(),
      })
      .nullish(),
  })
  .transform(({ content: came, usage }) => {
    const blocks = came.filter((each) => each !== null)
    const said = blocks.flatMap((each) => (each.type === 'text' ? [each.text] : []))
    const calls = blocks.flatMap((each) => {
      if (each.type !== 'tool_use') return []
      return [{ id: each.id, name: each.name, arguments: JSON.stringify(each.input) }]
    })
    if (usage == null) return wireAnswer(said, calls, null)
    const cachedTokens = usage.cache_read_input_tokens ?? 0
    const promptTokens = usage.input_tokens + cachedTokens + (usage.cache_creation_input_tokens ?? 0)
    return wireAnswer(said, calls, { promptTokens, cachedTokens })
  })
