import { around, concat, MEGABYTE, times, type Attack, type Chat, type Json } from '../attack.ts'

/** Texts that are short by nature, and so are hashed, compared, kept and logged as wholes. */
export const names: readonly Attack[] = [
  long('model name', (name) => ({ ...around(), model: concat(['"', name, '"']) })),
  long('name of a message', (name) => around(concat(['{"role":"user","content":"a","name":"', name, '"}']))),
  long('role', (name) => around(concat(['{"content":"a","role":"', name, '"}']))),
  long('key of a message', (name) => around(concat(['{"role":"user","content":"a","', name, '":0}']))),
  long('key beside the messages', (name) => ({ ...around(), before: [concat(['"', name, '":0'])] })),
  {
    ...long('function name', (name) => around(call('call_1', name, '{}'), result('call_1'))),
    isQuick: true,
  },
  long('call id', (name) => around(call(name, 'f', '{}'), result(name))),
  long('tool_call_id that answers nothing', (name) => around(result(name))),
  long('list of arguments', (name) =>
    around(call('call_1', 'f', concat(['{\\"path\\":\\"', name, '\\"}'])), result('call_1')),
  ),
  long('type of a part', (name) =>
    around(concat(['{"role":"user","content":[{"type":"', name, '","text":"a"}]}'])),
  ),
  {
    name: 'a number of many digits beside the messages',
    room: 'sidecar',
    bytes: 10 * MEGABYTE,
    chat: (bytes) => ({ ...around(), before: [concat(['"temperature":', times('1', bytes)])] }),
  },
  {
    name: 'a number of many digits in a message',
    isQuick: true,
    room: 'sidecar',
    bytes: 10 * MEGABYTE,
    chat: (bytes) => around(concat(['{"role":"user","content":"a","x":', times('1', bytes), '}'])),
  },
]

// --- internal ---

function long(name: string, chat: (name: Buffer) => Chat): Attack {
  return {
    name: `a long ${name}`,
    room: 'sidecar',
    bytes: 10 * MEGABYTE,
    chat: (bytes) => chat(times('a-long-name-', bytes)),
  }
}

function call(id: Json, name: Json, args: Json): Buffer {
  return concat([
    '{"role":"assistant","content":null,"tool_calls":[{"id":"',
    id,
    '","type":"function","function":{"name":"',
    name,
    '","arguments":"',
    args,
    '"}}]}',
  ])
}

function result(id: Json): Buffer {
  return concat(['{"role":"tool","content":"Done.","tool_call_id":"', id, '"}'])
}
