import { around, ask, concat, type Attack, type Chat, type Json } from '../attack.ts'

/** A sentence of a file, as long contents repeat it. */
export const PROSE =
  'The file ledger.ts reads 412 rows, checks their sums and writes what is new to /var/lib/app. '

/** A request for a response, in the container of the sidecar. */
export function responsesAttack(
  name: string,
  bytes: number,
  chat: (bytes: number) => Chat,
  more: Partial<Attack> = {},
): Attack {
  return { name: `responses: ${name}`, room: 'sidecar', path: 'responses', bytes, chat, ...more }
}

/** So many items, nearly as many as are read: a smaller one would stay below what it is to come near to. */
export function itemsAttack(
  name: string,
  count: number,
  item: (index: number) => Json,
  more: Partial<Attack> = {},
): Attack {
  const bytes = count * Buffer.from(item(1)).length
  const chat = (): Chat => ({
    messages: [ask, ...Array.from({ length: count }, (_, index) => item(index)), ask],
  })
  return responsesAttack(name, bytes, chat, { isExact: true, ...more })
}

/** A call with an output between turns. */
export function aroundOutput(output: Json): Chat {
  return around(call(1), outputOf(1, output))
}

export function thought(index: number, encrypted: Json): Buffer {
  return concat([
    `{"type":"reasoning","id":"rs_${index}","summary":[],"encrypted_content":"`,
    encrypted,
    '"}',
  ])
}

export function said(index: number, text = 'Yes.'): string {
  return `{"type":"message","role":"assistant","id":"msg_${index}","content":[{"type":"output_text","text":"${text}"}]}`
}

export function call(index: number, more = ''): string {
  return `{"type":"function_call","id":"fc_${index}","call_id":"c${index}","name":"f","arguments":"{}"${more}}`
}

export function outputOf(index: number, value: Json): Buffer {
  return concat([`{"type":"function_call_output","call_id":"c${index}","output":`, value, '}'])
}

export function addedTools(index: number): string {
  return `{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"t${index}"}]}`
}
