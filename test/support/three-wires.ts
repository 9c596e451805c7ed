import { messageOf, text } from '../formats/messages/reply/streamed.ts'
import { message, responseOf } from '../formats/responses/reply/streamed.ts'
import { completion, json, type Script } from './fake-upstream.ts'

/** A step of an agent: what its user says, or a call of its own with the result. */
export type Step =
  | { readonly user: string }
  | { readonly id: string; readonly tool: string; readonly given: object; readonly result: string }

/** A dialect as a client writes it and an upstream reads it. */
export type Wire = {
  readonly name: string
  readonly path: string
  readonly body: (steps: readonly Step[]) => string
  /** The results in a body that an upstream received, by the ids of their calls. */
  readonly results: (body: Buffer) => ReadonlyMap<string, string>
  readonly answer: (promptTokens: number) => Script
}

export const wires: readonly Wire[] = [
  {
    name: 'chat completions',
    path: '/chat/completions',
    body: (steps) =>
      JSON.stringify({
        model: 'house',
        messages: steps.flatMap<object>((step) =>
          'user' in step
            ? [{ role: 'user', content: step.user }]
            : [
                {
                  role: 'assistant',
                  content: null,
                  tool_calls: [
                    {
                      id: step.id,
                      type: 'function',
                      function: { name: step.tool, arguments: JSON.stringify(step.given) },
                    },
                  ],
                },
                { role: 'tool', tool_call_id: step.id, content: step.result },
              ],
        ),
      }),
    results: (body) => {
      const { messages }: { messages: { tool_call_id?: string; content: string }[] } = JSON.parse(
        body.toString(),
      )
      return new Map(
        messages.flatMap(({ tool_call_id: id, content }) => (id === undefined ? [] : [[id, content]])),
      )
    },
    answer: (promptTokens) => completion('ok', { prompt_tokens: promptTokens }),
  },
  {
    name: 'Responses',
    path: '/responses',
    body: (steps) =>
      JSON.stringify({
        model: 'house',
        input: steps.flatMap<object>((step) =>
          'user' in step
            ? [{ type: 'message', role: 'user', content: step.user }]
            : [
                {
                  type: 'function_call',
                  call_id: step.id,
                  name: step.tool,
                  arguments: JSON.stringify(step.given),
                },
                { type: 'function_call_output', call_id: step.id, output: step.result },
              ],
        ),
      }),
    results: (body) => {
      const { input }: { input: { call_id: string; output?: string }[] } = JSON.parse(body.toString())
      return new Map(input.flatMap(({ call_id: id, output }) => (output === undefined ? [] : [[id, output]])))
    },
    answer: (promptTokens) =>
      json(responseOf([message('ok')], { usage: { input_tokens: promptTokens, output_tokens: 1 } })),
  },
  {
    name: 'Messages',
    path: '/messages',
    body: (steps) =>
      JSON.stringify({
        model: 'house',
        max_tokens: 1_000,
        messages: steps.flatMap<object>((step) =>
          'user' in step
            ? [{ role: 'user', content: step.user }]
            : [
                {
                  role: 'assistant',
                  content: [{ type: 'tool_use', id: step.id, name: step.tool, input: step.given }],
                },
                {
                  role: 'user',
                  content: [{ type: 'tool_result', tool_use_id: step.id, content: step.result }],
                },
              ],
        ),
      }),
    results: (body) => {
      type Block = { readonly type: string; readonly tool_use_id: string; readonly content: string }
      const { messages }: { messages: { content: string | Block[] }[] } = JSON.parse(body.toString())
      const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      return new Map(
        blocks.flatMap(({ type, tool_use_id: id, content }) =>
          type === 'tool_result' ? [[id, content]] : [],
        ),
      )
    },
    answer: (promptTokens) =>
      json(messageOf([text('ok')], { usage: { input_tokens: promptTokens, output_tokens: 1 } })),
  },
]
