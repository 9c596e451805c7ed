import { dialects } from '../../formats/formats.ts'
import type { SpokenDialect, Wire } from './client-wire.ts'
import { chatWire } from './wires/chat-client.ts'
import { messagesWire } from './wires/messages-client.ts'
import { responsesWire } from './wires/responses-client.ts'

const wires: Readonly<Record<string, Wire>> = {
  'chat-completions': chatWire,
  responses: responsesWire,
  messages: messagesWire,
}

/** The dialects that the demo speaks, by their names. */
export const spokenDialects: ReadonlyMap<string, SpokenDialect> = new Map(
  dialects.flatMap((dialect) => {
    const wire = wires[dialect.name]
    return wire === undefined ? [] : [[dialect.name, { ...wire, dialect }]]
  }),
)
