import {
  around,
  ask,
  attack,
  before,
  behind,
  json,
  listOf,
  many,
  MEGABYTE,
  nested,
  PROSE,
  times,
  type Attack,
  type Chat,
  type Json,
} from '../attack.ts'

// What bodies are made of comes before the lists, which are made of it as this module is loaded.

const isQuick = { isQuick: true }
const isExact = { isExact: true }
const roomy = { room: 'roomy' } as const

const userWith = (content: Json): Json => json`{"role":"user","content":${content}}`
const said = (role: string, text: Json): Json => json`{"role":"${role}","content":"${text}"}`
const withField = (key: string, value: Json): Json => json`{"role":"user","content":"a","${key}":${value}}`
const withCalls = (calls: Json): Json => json`{"role":"assistant","content":null,"tool_calls":${calls}}`
const call = (id: Json, name: Json = 'run', args: Json = '{}'): Json =>
  withCalls(json`[{"id":"${id}","type":"function","function":{"name":"${name}","arguments":"${args}"}}]`)
const result = (id: Json, content: Json = 'Done.'): Json =>
  json`{"role":"tool","content":"${content}","tool_call_id":"${id}"}`
const picture = (base64: Json): Json =>
  userWith(json`[{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64}"}}]`)
const textPart = '{"type":"text","text":"a"}'
const emptyCall = '{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}'
const tool = '{"type":"function","function":{"name":"a"}}'
const tiny = (bytes: number): Chat => ({
  messages: [json`${times('{"role":"user","content":"a"},', bytes)}${ask}`],
})

const members = (bytes: number): string =>
  many(Math.floor(bytes / 13), (index) => `"k${String(index).padStart(8, '0')}":0`).join(',')

function ordinary(index: number): Json {
  const text = `Number ${index}: the file ledger.ts reads rows, checks sums and writes what is new. `
  return said(index % 2 === 0 ? 'user' : 'assistant', text.repeat(17))
}

/** Few bytes each, very many of them: what is built of each costs twenty times as much. */
export const counts: readonly Attack[] = [
  attack(
    'objects in an unknown field, gzip',
    12 * MEGABYTE,
    (bytes) => behind(json`"x":${listOf('{}', bytes)}`),
    {
      ...isQuick,
      ...isExact,
      coding: 'gzip',
    },
  ),
  attack('objects in an unknown field, unpacked', 31 * MEGABYTE, (bytes) =>
    before(json`"x":${listOf('{}', bytes)}`),
  ),
  attack('top-level keys', 25 * MEGABYTE, (bytes) => behind(members(bytes)), isQuick),
  attack('keys of one message', 25 * MEGABYTE, (bytes) =>
    around(json`{"role":"user","content":"a",${members(bytes)}}`),
  ),
  attack('parts of one message', 40 * MEGABYTE, (bytes) => around(userWith(listOf(textPart, bytes))), {
    ...isQuick,
    ...roomy,
  }),
  attack('empty parts of one message', 4.5 * MEGABYTE, (bytes) => around(userWith(listOf('{}', bytes)))),
  attack('empty tool calls of one message', 4.5 * MEGABYTE, (bytes) =>
    around(withCalls(listOf('{}', bytes))),
  ),
  attack('tool calls of one message', 30 * MEGABYTE, (bytes) => around(withCalls(listOf(emptyCall, bytes)))),
  attack('tiny messages', 44 * MEGABYTE, tiny, { ...isQuick, ...roomy }),
  attack('messages that are empty objects', 4.5 * MEGABYTE, (bytes) => ({
    messages: [],
    insteadOfMessages: listOf('{}', bytes),
  })),
  attack(
    'messages of ordinary size',
    56 * MEGABYTE,
    (bytes) => ({ messages: many(Math.floor(bytes / 1_400), ordinary) }),
    roomy,
  ),
  attack('tools', 31 * MEGABYTE, (bytes) => before(json`"tools":${listOf(tool, bytes)}`)),
]

/** A smaller one would stay below what it is to come near to. */
const exactly = (name: string, bytes: number, chat: Attack['chat'], more: Partial<Attack> = {}): Attack =>
  attack(name, bytes, chat, { isExact: true, ...more })

function round(index: number, bytes: number): Json {
  const calls = call(`call_${index}`)
  const text = `Run ${index} passed. ${'line of a log '.repeat(Math.ceil(bytes / 14))}`
  return json`${calls},${result(`call_${index}`, text.slice(0, Math.max(20, bytes - calls.length - 70)))}`
}

/** As much as the limits by default allow, so that all of it is read: past them a body is not, and costs little. */
export const limits: readonly Attack[] = [
  exactly('nearly as many elements as are read', 2.9 * MEGABYTE, (bytes) =>
    behind(json`"x":${listOf('{}', bytes)}`),
  ),
  exactly('nearly as many keys as are read, long ones', 30 * MEGABYTE, (bytes) => ({
    ...around(),
    before: many(9_900, (index) => `"${String(index).padStart(Math.floor(bytes / 9_900) - 5, 'k')}":0`),
  })),
  exactly('nearly as many messages as are read, tiny ones', 49_000 * 30, tiny),
  exactly('nearly as many messages as are read, of results', 30 * MEGABYTE, (bytes) => ({
    messages: [
      '{"role":"user","content":"Run them all."}',
      ...many(24_000, (index) => round(index, Math.floor(bytes / 24_000))),
      ask,
    ],
  })),
  exactly('nearly as many parts as are read, tiny ones', 16_000 * 26, (bytes) =>
    around(userWith(listOf(textPart, bytes))),
  ),
  exactly('nearly as many parts as are read, long ones', 16_000 * 985, (bytes) =>
    around(userWith(listOf(`{"type":"text","text":"${'reads rows. '.repeat(80)}"}`, bytes))),
  ),
  exactly('nearly as many calls as are read', 8_000 * 69, (bytes) =>
    around(withCalls(listOf(emptyCall, bytes))),
  ),
  exactly('numbers as tools, gzip', 0.99 * MEGABYTE, (bytes) => before(json`"tools":${listOf('1', bytes)}`), {
    ...isQuick,
    coding: 'gzip',
  }),
  exactly('a schema of very many properties', 0.9 * MEGABYTE, (bytes) => {
    const properties = many(Math.floor(bytes / 12), (index) => `"p${index}":{}`).join(',')
    return before(
      json`"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{${properties}}}}}]`,
    )
  }),
  exactly('as many keys of a message as parts are read', 49_000 * 11, (bytes) => {
    const keys = many(Math.floor(bytes / 11), (index) => `"\\/${index}":0`).join(',')
    return around(`{"role":"user","content":"a",${keys}}`)
  }),
  exactly('as many empty parts as are read', 49_000 * 3, (bytes) => around(userWith(listOf('{}', bytes)))),
  exactly(
    'images of spaces',
    500 * 4_270,
    (bytes) => {
      const image = `{"type":"image_url","image_url":"data:image/png;base64,${' '.repeat(4_200)}"}`
      return around(userWith(listOf(image, bytes)))
    },
    isQuick,
  ),
  exactly(
    'long strings in an unknown field of a long message',
    15 * MEGABYTE,
    (bytes) => {
      const strings = listOf(`"${'s'.repeat(40_000)}"`, bytes)
      return around(json`{"role":"user","content":"${'word '.repeat(40_000)}","x":${strings}}`)
    },
    { coding: 'gzip' },
  ),
  exactly('nearly as many tools as are read', 240_000 * 43, (bytes) =>
    before(json`"tools":${listOf(tool, bytes)}`),
  ),
  exactly('nearly as deep as is read, again and again', 1.9 * MEGABYTE, (bytes) => ({
    ...around(withField('x', listOf(nested(980).toString(), bytes / 20))),
    before: [json`"x":${listOf(nested(980).toString(), bytes)}`],
  })),
]

const deepIn = (where: string, chat: (deep: Json) => Chat): Attack =>
  exactly(`depth in ${where}`, 60_000, (bytes) => chat(nested(bytes)))

/** Nesting: a reader that calls itself takes time by the square, or all of the stack. */
export const depth: readonly Attack[] = [
  deepIn('an unknown field', (deep) => behind(json`"x":${deep}`)),
  deepIn('tools', (deep) => behind(json`"tools":${deep}`)),
  deepIn('a response format', (deep) => before(json`"response_format":${deep}`)),
  deepIn('a message', (deep) => around(withField('x', deep))),
  deepIn('content', (deep) => around(userWith(deep))),
  deepIn('a part', (deep) => around(userWith(json`[{"type":"text","text":"a","x":${deep}}]`))),
  deepIn('tool calls', (deep) => around(json`{"role":"assistant","tool_calls":${deep}}`)),
  deepIn('the messages', (deep) => ({ messages: [], insteadOfMessages: deep })),
  exactly(
    'depth without an end in an unknown field',
    60_000,
    (bytes) => behind(json`"x":${times('[', bytes)}`),
    isQuick,
  ),
  attack('depth of 30 MB in an unknown field', 30 * MEGABYTE, (bytes) => behind(json`"x":${nested(bytes)}`)),
  attack('objects in objects in a message', 20 * MEGABYTE, (bytes) =>
    around(withField('x', json`${times('{"a":', (bytes * 5) / 6)}0${times('}', bytes / 6)}`)),
  ),
  attack('a deep schema of a tool', 20 * MEGABYTE, (bytes) => {
    const closing = 2 * (bytes / 37)
    const opened = times('{"type":"object","properties":{"a":', bytes - closing)
    const schema = json`${opened}{}${times('}}', closing)}`
    return before(json`"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`)
  }),
]

const textOf = (name: string, of: string, more: Partial<Attack> = {}): Attack =>
  attack(`a text of ${name}`, 20 * MEGABYTE, (bytes) => around(said('user', times(of, bytes))), more)

const thoughts = (name: string, key: string, opening: string, closing: string): Attack =>
  attack(
    name,
    60 * MEGABYTE,
    (bytes) =>
      around(
        json`{"role":"assistant","content":"Yes.","${key}":${opening}"${times(PROSE, bytes)}"${closing}}`,
      ),
    roomy,
  )

/** One text, or few, of tens of megabytes: whatever reads it in one go holds the loop. */
export const longTexts: readonly Attack[] = [
  textOf('prose', PROSE, { room: 'roomy', bytes: 60 * MEGABYTE }),
  textOf('one letter', 'a'),
  textOf('spaces', ' '),
  textOf('digits', '0123456789'),
  textOf('emoji', '👩‍👩‍👧‍👦'),
  textOf('line ends', '\\n'),
  textOf('backslashes', '\\\\'),
  textOf('quotation marks', '\\"', isQuick),
  textOf('escaped zeros', '\\u0000'),
  textOf('lone surrogates', '\\ud800'),
  attack('prose in the newest message', 31 * MEGABYTE, (bytes) => ({
    messages: [said('user', times(PROSE, bytes))],
  })),
  attack('prose in a system message', 31 * MEGABYTE, (bytes) => ({
    messages: [said('system', times(PROSE, bytes)), ask],
  })),
  attack(
    'prose with summaries, recall and an archive',
    20 * MEGABYTE,
    (bytes) => around(said('user', times(PROSE, bytes))),
    { ...isQuick, profile: 'archiving' },
  ),
  { ...thoughts('thoughts in reasoning_content', 'reasoning_content', '', ''), ...isQuick },
  thoughts('thoughts in reasoning_details', 'reasoning_details', '[{"type":"reasoning.text","text":', '}]'),
  thoughts(
    'thoughts in thinking_blocks',
    'thinking_blocks',
    '[{"type":"thinking","signature":"s","thinking":',
    '}]',
  ),
  { ...thoughts('a refusal', 'refusal', '', ''), room: 'sidecar', bytes: 10 * MEGABYTE },
]

const long = (name: string, chat: (name: Buffer) => Chat, more: Partial<Attack> = {}): Attack =>
  attack(`a long ${name}`, 10 * MEGABYTE, (bytes) => chat(times('a-long-name-', bytes)), more)

/** Texts that are short by nature, and so are hashed, compared, kept and logged as wholes. */
export const names: readonly Attack[] = [
  long('model name', (name) => ({ ...around(), model: json`"${name}"` })),
  long('name of a message', (name) => around(withField('name', json`"${name}"`))),
  long('role', (name) => around(json`{"content":"a","role":"${name}"}`)),
  long('key of a message', (name) => around(json`{"role":"user","content":"a","${name}":0}`)),
  long('key beside the messages', (name) => behind(json`"${name}":0`)),
  long('function name', (name) => around(call('call_1', name), result('call_1')), isQuick),
  long('call id', (name) => around(call(name, 'f'), result(name))),
  long('tool_call_id that answers nothing', (name) => around(result(name))),
  long('list of arguments', (name) =>
    around(call('call_1', 'f', json`{\\"path\\":\\"${name}\\"}`), result('call_1')),
  ),
  long('type of a part', (name) => around(userWith(json`[{"type":"${name}","text":"a"}]`))),
  attack('a number of many digits beside the messages', 10 * MEGABYTE, (bytes) =>
    behind(json`"temperature":${times('1', bytes)}`),
  ),
  attack(
    'a number of many digits in a message',
    10 * MEGABYTE,
    (bytes) => around(withField('x', times('1', bytes))),
    isQuick,
  ),
]

/** As a tool would have printed it. */
const printed = (name: string, text: string, more: Partial<Attack> = {}): Attack =>
  attack(
    `terminal output: ${name}`,
    35 * MEGABYTE,
    (bytes) => around(call('c'), result('c', times(text, bytes)), '{"role":"assistant","content":"It ran."}'),
    { ...roomy, ...more },
  )

/** What passes have work with of their own: terminal output, pictures, tools, formats, white space. */
export const contents: readonly Attack[] = [
  printed('progress bars', '\\r[#####     ] 51 % of 1,204 files', isQuick),
  printed('cursor movement', '\\u001b[2A\\u001b[2K\\u001b[12Gline\\u001b[1B\\n'),
  printed('colours', '\\u001b[38;5;196mred\\u001b[0m \\u001b[1mbold\\u001b[22m '),
  printed('the same line', 'warning: unused variable `x` in src/ledger.rs\\n'),
  attack('an image', 50 * MEGABYTE, (bytes) => around(picture(times('iVBORw0KGgoAAAANSUhEUgAA', bytes))), {
    ...isQuick,
    ...roomy,
  }),
  attack('an image in lines', 25 * MEGABYTE, (bytes) =>
    around(picture(times(`${'QUJD'.repeat(19)}\\n`, bytes))),
  ),
  attack('images', 25 * MEGABYTE, (bytes) => {
    const image = '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}'
    return around(userWith(listOf(image, bytes)))
  }),
  attack("a tool's description", 25 * MEGABYTE, (bytes) => {
    const described = times('Reads a file. ', bytes)
    return behind(json`"tools":[{"type":"function","function":{"name":"f","description":"${described}"}}]`)
  }),
  attack(
    'a response format',
    25 * MEGABYTE,
    (bytes) => {
      const schema = json`{"enum":${listOf('"a value of many"', bytes)}}`
      return before(
        json`"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${schema}}}`,
      )
    },
    isQuick,
  ),
  attack('white space beside the messages', 20 * MEGABYTE, (bytes) =>
    behind(json`"x":${times(' \n', bytes)}0`),
  ),
  attack('white space between messages', 20 * MEGABYTE, (bytes) =>
    around(json`{"role":"user","content":"a"}${times('\t\n', bytes)}`),
  ),
  attack('white space in a message', 20 * MEGABYTE, (bytes) =>
    around(json`{"role":"user",${times('\t\n', bytes)}"content":"a"}`),
  ),
  exactly('white space, brotli', 31 * MEGABYTE, (bytes) => behind(json`"x":${times(' ', bytes)}0`), {
    ...isQuick,
    coding: 'br',
  }),
  exactly('depth, brotli', 31 * MEGABYTE, (bytes) => behind(json`"x":${times('[', bytes)}`), {
    coding: 'br',
  }),
  exactly('one letter, zstd', 31 * MEGABYTE, (bytes) => around(said('user', times('a', bytes))), {
    coding: 'zstd',
  }),
]
