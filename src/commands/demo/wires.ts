import type { Wire } from './client-wire.ts'
import { chatWire } from './wires/chat-client.ts'
import { messagesWire } from './wires/messages-client.ts'
import { ollamaWire } from './wires/ollama-client.ts'
import { responsesWire } from './wires/responses-client.ts'

/** The dialects that the demo speaks. */
export const wires = {
  'chat-completions': chatWire,
  responses: responsesWire,
  messages: messagesWire,
  ollama: ollamaWire,
} as const satisfies Record<string, Wire>

export type DialectName = keyof typeof wires

export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(wires, name)
}
