import { around, concat, MEGABYTE, nested, times, type Attack, type Chat, type Json } from '../attack.ts'

/** Nesting: a reader that calls itself takes time by the square, or all of the stack. */
export const depth: readonly Attack[] = [
  at('an unknown field', (deep) => ({ ...around(), before: [concat(['"x":', deep])] })),
  at('tools', (deep) => ({ ...around(), before: [concat(['"tools":', deep])] })),
  at('a response format', (deep) => ({ ...around(), after: [concat(['"response_format":', deep])] })),
  at('a message', (deep) => around(concat(['{"role":"user","content":"a","x":', deep, '}']))),
  at('content', (deep) => around(concat(['{"role":"user","content":', deep, '}']))),
  at('a part', (deep) =>
    around(concat(['{"role":"user","content":[{"type":"text","text":"a","x":', deep, '}]}'])),
  ),
  at('tool calls', (deep) => around(concat(['{"role":"assistant","tool_calls":', deep, '}']))),
  at('the messages', (deep) => ({ messages: [], insteadOfMessages: deep })),
  {
    name: 'depth without an end in an unknown field',
    isQuick: true,
    room: 'sidecar',
    bytes: 60_000,
    isExact: true,
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', times('[', bytes)])] }),
  },
  {
    name: 'depth of 30 MB in an unknown field',
    room: 'sidecar',
    bytes: 30 * MEGABYTE,
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', nested(bytes)])] }),
  },
  {
    name: 'objects in objects in a message',
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) =>
      around(
        concat([
          '{"role":"user","content":"a","x":',
          times('{"a":', (bytes * 5) / 6),
          '0',
          times('}', bytes / 6),
          '}',
        ]),
      ),
  },
  {
    name: 'a deep schema of a tool',
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) => ({
      ...around(),
      after: [
        concat([
          '"tools":[{"type":"function","function":{"name":"f","parameters":',
          times('{"type":"object","properties":{"a":', bytes - 2 * (bytes / 37)),
          '{}',
          times('}}', 2 * (bytes / 37)),
          '}}]',
        ]),
      ],
    }),
  },
]

// --- internal ---

function at(where: string, chat: (deep: Json) => Chat): Attack {
  return {
    name: `depth in ${where}`,
    room: 'sidecar',
    bytes: 60_000,
    isExact: true,
    chat: (bytes) => chat(nested(bytes)),
  }
}
