import { around, ask, concat, listOf, type Attack, type Chat, type Json } from '../attack.ts'

/** A request for a message, in the container of the sidecar. */
export function messagesAttack(
  name: string,
  bytes: number,
  chat: (bytes: number) => Chat,
  more: Partial<Attack> = {},
): Attack {
  return { name: `messages: ${name}`, room: 'sidecar', path: 'messages', bytes, chat, ...more }
}

/** So many messages, nearly as many as are read. */
export function manyMessages(
  name: string,
  count: number,
  message: (index: number) => Json,
  more: Partial<Attack> = {},
): Attack {
  const bytes = count * Buffer.from(message(1)).length
  const chat = (): Chat => ({
    messages: [ask, ...Array.from({ length: count }, (_, index) => message(index)), ask],
  })
  return messagesAttack(name, bytes, chat, { isExact: true, ...more })
}

/** So many blocks in one message, nearly as many as are read. */
export function manyBlocks(
  name: string,
  count: number,
  role: 'user' | 'assistant',
  block: (index: number) => Json,
  more: Partial<Attack> = {},
): Attack {
  const bytes = count * Buffer.from(block(1)).length
  const chat = (): Chat =>
    around(messageOf(role, ...Array.from({ length: count }, (_, index) => block(index))))
  return messagesAttack(name, bytes, chat, { isExact: true, ...more })
}

export function messageOf(role: 'user' | 'assistant' | 'system', ...blocks: readonly Json[]): Buffer {
  return concat([
    `{"role":"${role}","content":[`,
    ...blocks.flatMap((block, index) => (index === 0 ? [block] : [',', block])),
    ']}',
  ])
}

/** A round with this result between turns. */
export function aroundResult(content: Json): Chat {
  return around(messageOf('assistant', toolUse(1)), messageOf('user', resultOf(1, content)))
}

/** A message of blocks of one kind, as many as fit into so many bytes. */
export function listMessage(role: 'user' | 'assistant', block: string, bytes: number): Buffer {
  return concat([`{"role":"${role}","content":`, listOf(block, bytes), '}'])
}

export function signed(signature: Json, thinking: Json = ''): Buffer {
  return concat(['{"type":"thinking","thinking":"', thinking, '","signature":"', signature, '"}'])
}

export function toolUse(index: number, input: Json = '{}'): Buffer {
  return concat([`{"type":"tool_use","id":"toolu_${index}","name":"f","input":`, input, '}'])
}

export function resultOf(index: number, content: Json): Buffer {
  return concat([`{"type":"tool_result","tool_use_id":"toolu_${index}","content":`, content, '}'])
}

export function saying(text: Json): Buffer {
  return concat(['{"type":"text","text":"', text, '"}'])
}
