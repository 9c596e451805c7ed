import { around, ask, concat, listOf, MEGABYTE, nested, times, type Attack } from '../attack.ts'

/** As much as the limits by default allow, so that all of it is read: past them a body is not, and costs little. */
export const limits: readonly Attack[] = [
  {
    name: 'nearly as many elements as are read',
    ...exactly(2.9 * MEGABYTE),
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', listOf('{}', bytes)])] }),
  },
  {
    name: 'nearly as many keys as are read, long ones',
    ...exactly(30 * MEGABYTE),
    chat: (bytes) => ({
      ...around(),
      before: Array.from(
        { length: 9_900 },
        (_, index) => `"${String(index).padStart(Math.floor(bytes / 9_900) - 5, 'k')}":0`,
      ),
    }),
  },
  {
    name: 'nearly as many messages as are read, tiny ones',
    ...exactly(49_000 * 30),
    chat: (bytes) => ({ messages: [concat([times('{"role":"user","content":"a"},', bytes), ask])] }),
  },
  {
    name: 'nearly as many messages as are read, of results',
    ...exactly(30 * MEGABYTE),
    chat: (bytes) => ({
      messages: [
        '{"role":"user","content":"Run them all."}',
        ...Array.from({ length: 24_000 }, (_, index) => round(index, Math.floor(bytes / 24_000))),
        ask,
      ],
    }),
  },
  {
    name: 'nearly as many parts as are read, tiny ones',
    ...exactly(16_000 * 26),
    chat: (bytes) =>
      around(concat(['{"role":"user","content":', listOf('{"type":"text","text":"a"}', bytes), '}'])),
  },
  {
    name: 'nearly as many parts as are read, long ones',
    ...exactly(16_000 * 985),
    chat: (bytes) =>
      around(
        concat([
          '{"role":"user","content":',
          listOf(`{"type":"text","text":"${'reads rows. '.repeat(80)}"}`, bytes),
          '}',
        ]),
      ),
  },
  {
    name: 'nearly as many calls as are read',
    ...exactly(8_000 * 69),
    chat: (bytes) =>
      around(
        concat([
          '{"role":"assistant","content":null,"tool_calls":',
          listOf('{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}', bytes),
          '}',
        ]),
      ),
  },
  {
    name: 'numbers as tools, gzip',
    isQuick: true,
    ...exactly(0.99 * MEGABYTE),
    coding: 'gzip',
    chat: (bytes) => ({ ...around(), after: [concat(['"tools":', listOf('1', bytes)])] }),
  },
  {
    name: 'a schema of very many properties',
    ...exactly(0.9 * MEGABYTE),
    chat: (bytes) => ({
      ...around(),
      after: [
        concat([
          '"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{',
          Array.from({ length: Math.floor(bytes / 12) }, (_, index) => `"p${index}":{}`).join(','),
          '}}}}]',
        ]),
      ],
    }),
  },
  {
    name: 'as many keys of a message as parts are read',
    ...exactly(49_000 * 11),
    chat: (bytes) =>
      around(
        `{"role":"user","content":"a",${Array.from({ length: Math.floor(bytes / 11) }, (_, index) => `"\\/${index}":0`).join(',')}}`,
      ),
  },
  {
    name: 'as many empty parts as are read',
    ...exactly(49_000 * 3),
    chat: (bytes) => around(concat(['{"role":"user","content":', listOf('{}', bytes), '}'])),
  },
  {
    name: 'images of spaces',
    isQuick: true,
    ...exactly(500 * 4_270),
    chat: (bytes) =>
      around(
        concat([
          '{"role":"user","content":',
          listOf(`{"type":"image_url","image_url":"data:image/png;base64,${' '.repeat(4_200)}"}`, bytes),
          '}',
        ]),
      ),
  },
  {
    name: 'long strings in an unknown field of a long message',
    isQuick: true,
    ...exactly(15 * MEGABYTE),
    coding: 'gzip',
    chat: (bytes) =>
      around(
        concat([
          '{"role":"user","content":"',
          'word '.repeat(40_000),
          '","x":',
          listOf(`"${'s'.repeat(40_000)}"`, bytes),
          '}',
        ]),
      ),
  },
  {
    name: 'nearly as many tools as are read',
    isQuick: true,
    ...exactly(240_000 * 43),
    chat: (bytes) => ({
      ...around(),
      after: [concat(['"tools":', listOf('{"type":"function","function":{"name":"a"}}', bytes)])],
    }),
  },
  {
    name: 'nearly as deep as is read, again and again',
    ...exactly(1.9 * MEGABYTE),
    chat: (bytes) => ({
      ...around(
        concat(['{"role":"user","content":"a","x":', listOf(nested(980).toString(), bytes / 20), '}']),
      ),
      before: [concat(['"x":', listOf(nested(980).toString(), bytes)])],
    }),
  },
]

// --- internal ---

/** A smaller one would stay below what it is to come near to. */
function exactly(bytes: number): Pick<Attack, 'room' | 'bytes' | 'isExact'> {
  return { room: 'sidecar', bytes, isExact: true }
}

function round(index: number, bytes: number): string {
  const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_${index}","type":"function","function":{"name":"run","arguments":"{}"}}]}`
  const text = `Run ${index} passed. ${'line of a log '.repeat(Math.ceil(bytes / 14))}`
  const room = Math.max(20, bytes - call.length - 70)
  return `${call},{"role":"tool","tool_call_id":"call_${index}","content":"${text.slice(0, room)}"}`
}
