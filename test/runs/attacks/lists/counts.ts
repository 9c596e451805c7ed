import { around, ask, concat, listOf, MEGABYTE, times, type Attack, type Json } from '../attack.ts'

/** Few bytes each, very many of them: what is built of each costs twenty times as much. */
export const counts: readonly Attack[] = [
  {
    name: 'objects in an unknown field, gzip',
    isQuick: true,
    room: 'sidecar',
    bytes: 12 * MEGABYTE,
    isExact: true,
    coding: 'gzip',
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', listOf('{}', bytes)])] }),
  },
  {
    name: 'objects in an unknown field, unpacked',
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    chat: (bytes) => ({ ...around(), after: [concat(['"x":', listOf('{}', bytes)])] }),
  },
  {
    name: 'top-level keys',
    isQuick: true,
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) => ({ ...around(), before: [members(bytes)] }),
  },
  {
    name: 'keys of one message',
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) => around(concat(['{"role":"user","content":"a",', members(bytes), '}'])),
  },
  {
    name: 'parts of one message',
    isQuick: true,
    room: 'roomy',
    bytes: 40 * MEGABYTE,
    chat: (bytes) => around(userWith(listOf('{"type":"text","text":"a"}', bytes))),
  },
  {
    name: 'empty parts of one message',
    room: 'sidecar',
    bytes: 4.5 * MEGABYTE,
    chat: (bytes) => around(userWith(listOf('{}', bytes))),
  },
  {
    name: 'empty tool calls of one message',
    room: 'sidecar',
    bytes: 4.5 * MEGABYTE,
    chat: (bytes) => around(calling(listOf('{}', bytes))),
  },
  {
    name: 'tool calls of one message',
    room: 'sidecar',
    bytes: 30 * MEGABYTE,
    chat: (bytes) =>
      around(calling(listOf('{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}', bytes))),
  },
  {
    name: 'tiny messages',
    isQuick: true,
    room: 'roomy',
    bytes: 44 * MEGABYTE,
    chat: (bytes) => ({ messages: [concat([times('{"role":"user","content":"a"},', bytes), ask])] }),
  },
  {
    name: 'messages that are empty objects',
    room: 'sidecar',
    bytes: 4.5 * MEGABYTE,
    chat: (bytes) => ({ messages: [], insteadOfMessages: listOf('{}', bytes) }),
  },
  {
    name: 'messages of ordinary size',
    room: 'roomy',
    bytes: 56 * MEGABYTE,
    chat: (bytes) => ({
      messages: Array.from({ length: Math.floor(bytes / 1_400) }, (_, index) => ordinary(index)),
    }),
  },
  {
    name: 'tools',
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    chat: (bytes) => ({
      ...around(),
      after: [concat(['"tools":', listOf('{"type":"function","function":{"name":"a"}}', bytes)])],
    }),
  },
]

// --- internal ---

function members(bytes: number): Json {
  const count = Math.floor(bytes / 13)
  return Array.from({ length: count }, (_, index) => `"k${String(index).padStart(8, '0')}":0`).join(',')
}

function userWith(content: Json): Json {
  return concat(['{"role":"user","content":', content, '}'])
}

function calling(calls: Json): Json {
  return concat(['{"role":"assistant","content":null,"tool_calls":', calls, '}'])
}

function ordinary(index: number): string {
  const role = index % 2 === 0 ? 'user' : 'assistant'
  const content =
    `Number ${index}: the file ledger.ts reads rows, checks sums and writes what is new. `.repeat(17)
  return `{"role":"${role}","content":"${content}"}`
}
