import { around, concat, listOf, MEGABYTE, times, type Attack, type Json } from '../attack.ts'

/** What passes have work with of their own: terminal output, pictures, tools, formats, white space. */
export const contents: readonly Attack[] = [
  { ...printed('progress bars', '\\r[#####     ] 51 % of 1,204 files'), isQuick: true },
  printed('cursor movement', '\\u001b[2A\\u001b[2K\\u001b[12Gline\\u001b[1B\\n'),
  printed('colours', '\\u001b[38;5;196mred\\u001b[0m \\u001b[1mbold\\u001b[22m '),
  printed('the same line', 'warning: unused variable `x` in src/ledger.rs\\n'),
  {
    name: 'an image',
    isQuick: true,
    room: 'roomy',
    bytes: 50 * MEGABYTE,
    chat: (bytes) => around(picture(times('iVBORw0KGgoAAAANSUhEUgAA', bytes))),
  },
  {
    name: 'an image in lines',
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) => around(picture(times(`${'QUJD'.repeat(19)}\\n`, bytes))),
  },
  {
    name: 'images',
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) =>
      around(
        concat([
          '{"role":"user","content":',
          listOf('{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}', bytes),
          '}',
        ]),
      ),
  },
  {
    name: "a tool's description",
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) => ({
      ...around(),
      before: [
        concat([
          '"tools":[{"type":"function","function":{"name":"f","description":"',
          times('Reads a file. ', bytes),
          '"}}]',
        ]),
      ],
    }),
  },
  {
    name: 'a response format',
    isQuick: true,
    room: 'sidecar',
    bytes: 25 * MEGABYTE,
    chat: (bytes) => ({
      ...around(),
      after: [
        concat([
          '"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"enum":',
          listOf('"a value of many"', bytes),
          '}}}',
        ]),
      ],
    }),
  },
  {
    name: 'white space beside the messages',
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', times(' \n', bytes), '0'])] }),
  },
  {
    name: 'white space between messages',
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) => around(concat(['{"role":"user","content":"a"}', times('\t\n', bytes)])),
  },
  {
    name: 'white space in a message',
    room: 'sidecar',
    bytes: 20 * MEGABYTE,
    chat: (bytes) => around(concat(['{"role":"user",', times('\t\n', bytes), '"content":"a"}'])),
  },
  {
    name: 'white space, brotli',
    isQuick: true,
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    coding: 'br',
    isExact: true,
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', times(' ', bytes), '0'])] }),
  },
  {
    name: 'depth, brotli',
    isQuick: true,
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    coding: 'br',
    isExact: true,
    chat: (bytes) => ({ ...around(), before: [concat(['"x":', times('[', bytes)])] }),
  },
  {
    name: 'one letter, zstd',
    room: 'sidecar',
    bytes: 31 * MEGABYTE,
    coding: 'zstd',
    isExact: true,
    chat: (bytes) => around(concat(['{"role":"user","content":"', times('a', bytes), '"}'])),
  },
]

// --- internal ---

/** As a tool would have printed it. */
function printed(name: string, text: string): Attack {
  return {
    name: `terminal output: ${name}`,
    room: 'roomy',
    bytes: 35 * MEGABYTE,
    chat: (bytes) =>
      around(
        '{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":"{}"}}]}',
        concat(['{"role":"tool","tool_call_id":"c","content":"', times(text, bytes), '"}']),
        '{"role":"assistant","content":"It ran."}',
      ),
  }
}

function picture(base64: Json): Json {
  return concat([
    '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,',
    base64,
    '"}}]}',
  ])
}
