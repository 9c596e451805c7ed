import type { JsonObject } from '../../../src/json/json-value.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import type { ScriptedItem } from '../../support/responses/script.ts'
import * as messages from '../messages/stand.ts'
import * as responses from '../responses/stand.ts'

/** What a model says in either API: thoughts, a call that reads back, and a text, which may be cut. */
export type Said = {
  readonly thinks?: number
  readonly recalls?: true
  readonly says?: string
  readonly isCut?: true
}

type Options = {
  readonly windowTokens: number
  readonly profile: object
  /** By the history as it was received, and the body. */
  readonly reply: (history: readonly unknown[], body: Readonly<Record<string, unknown>>) => Said
}

export type Spoken = {
  readonly ask: (history: readonly JsonObject[], fields?: object) => Promise<messages.Answered>
  /** The histories and bodies that the upstream received. */
  readonly sent: () => readonly {
    readonly history: readonly string[]
    readonly body: Buffer
    readonly promptTokens: number
  }[]
  /** What it refused, and the thoughts that it left out or could not use. */
  readonly trouble: () => readonly unknown[]
}

export type Dialect = {
  readonly name: string
  /** The types of what a reply of thoughts and a text is made of. */
  readonly types: readonly string[]
  readonly user: (text: string) => JsonObject
  readonly roundsOf: (count: number, from?: number) => JsonObject[]
  /** What the model said in an answer: its parts, and the entries that the client sends back. */
  readonly said: (answer: messages.Answered) => {
    readonly parts: readonly JsonObject[]
    readonly entries: readonly JsonObject[]
  }
  readonly open: (options: Options) => Promise<Spoken>
}

export const dialects: readonly Dialect[] = [
  {
    name: 'a message',
    types: ['thinking', 'text'],
    user: messages.user,
    roundsOf: messages.roundsOf,
    said: (answer) => {
      const parts = messages.contentOf(answer)
      return { parts, entries: [{ role: 'assistant', content: parts }] }
    },
    open: async ({ reply, ...options }) => {
      const stand = await messages.openStand({
        ...options,
        reply: ({ messages: history, body }) => {
          const { thinks, recalls, says, isCut } = reply(history, body)
          const content: ScriptedBlock[] = []
          if (thinks !== undefined) content.push({ type: 'thinking', tokens: thinks })
          if (recalls)
            content.push({ type: 'tool_use', id: 'toolu_recall', ...recall, input: { messages: '#3' } })
          if (says !== undefined) content.push({ type: 'text', text: says })
          return { content, ...(isCut && { stopReason: 'max_tokens' as const }) }
        },
      })
      return {
        ask: (history, fields) =>
          messages.post(stand, { messages: history, tools: [messages.readTool], ...fields }),
        sent: () =>
          stand.upstream.requests.map(({ rawMessages: history, body, promptTokens }) => ({
            history,
            body,
            promptTokens,
          })),
        trouble: () => messages.troubleOf(stand),
      }
    },
  },
  {
    name: 'a response',
    types: ['reasoning', 'message'],
    user: responses.user,
    roundsOf: responses.roundsOf,
    said: (answer) => {
      const parts = responses.outputOf(answer)
      return { parts, entries: parts }
    },
    open: async ({ reply, ...options }) => {
      const stand = await responses.openStand({
        ...options,
        reply: ({ items, body }) => {
          const { thinks, recalls, says, isCut } = reply(items, body)
          const output: ScriptedItem[] = []
          if (thinks !== undefined) output.push({ type: 'reasoning', tokens: thinks })
          if (recalls)
            output.push({
              type: 'function_call',
              callId: 'call_recall',
              ...recall,
              arguments: '{"messages":"#3"}',
            })
          if (says !== undefined) output.push({ type: 'message', text: says })
          const end = { status: 'incomplete', reason: 'max_output_tokens' } as const
          return { output, ...(isCut && { end }) }
        },
      })
      return {
        ask: (history, fields) =>
          responses.post(stand, { input: history, tools: [responses.readTool], ...fields }),
        sent: () =>
          stand.upstream.requests.map(({ rawItems: history, body, promptTokens }) => ({
            history,
            body,
            promptTokens,
          })),
        trouble: () => responses.troubleOf(stand),
      }
    },
  },
]

const recall = { name: 'recall_conversation' }
