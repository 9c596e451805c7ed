import {
  around,
  ask,
  attackIn,
  before,
  behind,
  json,
  listOf,
  many,
  moreAndLast,
  nested,
  prose,
  times,
  type Attack,
  type Chat,
  type Given,
  type Json,
} from '../attack.ts'

// What bodies are made of comes before the lists, which are made of it as this module is loaded.

const { attack, exactly, deepIn } = attackIn('')

const quick = { isQuick: true }
const roomy = { room: 'roomy' } as const
const quickAndRoomy = { ...quick, ...roomy }

const userWith = (content: Json): Json => json`{"role":"user","content":${content}}`
const said = (role: string, text: Json): Json => json`{"role":"${role}","content":"${text}"}`
const keyed = (members: Json): Json => json`{"role":"user","content":"a",${members}}`
const withCalls = (calls: Json): Json => json`{"role":"assistant","content":null,"tool_calls":${calls}}`
const call = (id: Json, name: Json = 'run', args: Json = '{}'): Json =>
  withCalls(json`[{"id":"${id}","type":"function","function":{"name":"${name}","arguments":"${args}"}}]`)
const result = (id: Json, content: Json = 'Done.'): Json =>
  json`{"role":"tool","content":"${content}","tool_call_id":"${id}"}`
const picture = (base64: Json): Json =>
  userWith(json`[{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64}"}}]`)
const textPart = '{"type":"text","text":"a"}'
const emptyCall = '{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}'
const toolWith = (parameters: Json): Json =>
  json`"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`
const tool = '{"type":"function","function":{"name":"a"}}'
const tiny = (bytes: number): Chat => ({
  messages: [json`${times('{"role":"user","content":"a"},', bytes)}${ask}`],
})

const members = (bytes: number): string =>
  many(bytes / 13, (index) => `"k${String(index).padStart(8, '0')}":0`).join(',')

function ordinary(index: number): Json {
  const text = `Number ${index}: the file ledger.ts reads rows, checks sums and writes what is new. `
  return said(index % 2 === 0 ? 'user' : 'assistant', text.repeat(17))
}

/** Few bytes each, very many of them: what is built of each costs twenty times as much. */
export const counts: readonly Attack[] = [
  exactly('objects in an unknown field, gzip', 12e6, { ...quick, coding: 'gzip' }, (bytes) =>
    behind(json`"x":${listOf('{}', bytes)}`),
  ),
  attack('objects in an unknown field, unpacked', 31e6, (bytes) => before(json`"x":${listOf('{}', bytes)}`)),
  attack('top-level keys', 25e6, quick, (bytes) => behind(members(bytes))),
  attack('keys of one message', 25e6, (bytes) => around(keyed(members(bytes)))),
  attack('parts of one message', 40e6, quickAndRoomy, (bytes) => around(userWith(listOf(textPart, bytes)))),
  attack('empty parts of one message', 4.5e6, (bytes) => around(userWith(listOf('{}', bytes)))),
  attack('empty tool calls of one message', 4.5e6, (bytes) => around(withCalls(listOf('{}', bytes)))),
  attack('tool calls of one message', 30e6, (bytes) => around(withCalls(listOf(emptyCall, bytes)))),
  attack('tiny messages', 44e6, quickAndRoomy, tiny),
  attack('messages that are empty objects', 4.5e6, (bytes) => ({ messages: listOf('{}', bytes) })),
  attack('messages of ordinary size', 56e6, roomy, (bytes) => ({ messages: many(bytes / 1_400, ordinary) })),
  attack('tools', 31e6, (bytes) => before(json`"tools":${listOf(tool, bytes)}`)),
]

function round(index: number, bytes: number): Json {
  const calls = call(`call_${index}`)
  const text = `Run ${index} passed. ${'line of a log '.repeat(Math.ceil(bytes / 14))}`
  return json`${calls},${result(`call_${index}`, text.slice(0, Math.max(20, bytes - calls.length - 70)))}`
}

const longPart = `{"type":"text","text":"${'reads rows. '.repeat(80)}"}`
const blankImage = `{"type":"image_url","image_url":"data:image/png;base64,${' '.repeat(4_200)}"}`
const deepest = nested(980).toString()

/** As much as the limits by default allow, so that all of it is read: past them a body is not, and costs little. */
export const limits: readonly Attack[] = [
  exactly('nearly as many elements as are read', 2.9e6, (bytes) => behind(json`"x":${listOf('{}', bytes)}`)),
  exactly('nearly as many keys as are read, long ones', 30e6, (bytes) =>
    behind(...many(9_900, (index) => `"${String(index).padStart(Math.floor(bytes / 9_900) - 5, 'k')}":0`)),
  ),
  exactly('nearly as many messages as are read, tiny ones', 49_000 * 30, tiny),
  exactly('nearly as many messages as are read, of results', 30e6, (bytes) => {
    const rounds = many(24_000, (index) => round(index, Math.floor(bytes / 24_000)))
    return { messages: [said('user', 'Run them all.'), ...rounds, ask] }
  }),
  exactly('nearly as many parts as are read, tiny ones', 16_000 * 26, (bytes) =>
    around(userWith(listOf(textPart, bytes))),
  ),
  exactly('nearly as many parts as are read, long ones', 16_000 * 985, (bytes) =>
    around(userWith(listOf(longPart, bytes))),
  ),
  exactly('nearly as many calls as are read', 8_000 * 69, (bytes) =>
    around(withCalls(listOf(emptyCall, bytes))),
  ),
  exactly('numbers as tools, gzip', 0.99e6, { ...quick, coding: 'gzip' }, (bytes) =>
    before(json`"tools":${listOf('1', bytes)}`),
  ),
  exactly('a schema of very many properties', 0.9e6, (bytes) => {
    const properties = many(bytes / 12, (index) => `"p${index}":{}`).join(',')
    return before(toolWith(json`{"properties":{${properties}}}`))
  }),
  exactly('as many keys of a message as parts are read', 49_000 * 11, (bytes) =>
    around(keyed(many(bytes / 11, (index) => `"\\/${index}":0`).join(','))),
  ),
  exactly('as many empty parts as are read', 49_000 * 3, (bytes) => around(userWith(listOf('{}', bytes)))),
  exactly('images of spaces', 500 * 4_270, quick, (bytes) => around(userWith(listOf(blankImage, bytes)))),
  exactly('long strings in an unknown field of a long message', 15e6, { coding: 'gzip' }, (bytes) => {
    const strings = listOf(`"${'s'.repeat(40_000)}"`, bytes)
    return around(json`{"role":"user","content":"${'word '.repeat(40_000)}","x":${strings}}`)
  }),
  exactly('nearly as many tools as are read', 240_000 * 43, (bytes) =>
    before(json`"tools":${listOf(tool, bytes)}`),
  ),
  exactly('nearly as deep as is read, again and again', 1.9e6, (bytes) => ({
    ...around(keyed(json`"x":${listOf(deepest, bytes / 20)}`)),
    before: [json`"x":${listOf(deepest, bytes)}`],
  })),
]

/** Nesting: a reader that calls itself takes time by the square, or all of the stack. */
export const depth: readonly Attack[] = [
  deepIn('an unknown field', (deep) => behind(json`"x":${deep}`)),
  deepIn('tools', (deep) => behind(json`"tools":${deep}`)),
  deepIn('a response format', (deep) => before(json`"response_format":${deep}`)),
  deepIn('a message', (deep) => around(keyed(json`"x":${deep}`))),
  deepIn('content', (deep) => around(userWith(deep))),
  deepIn('a part', (deep) => around(userWith(json`[{"type":"text","text":"a","x":${deep}}]`))),
  deepIn('tool calls', (deep) => around(json`{"role":"assistant","tool_calls":${deep}}`)),
  deepIn('the messages', (deep) => ({ messages: deep })),
  exactly('depth without an end in an unknown field', 60_000, quick, (bytes) =>
    behind(json`"x":${times('[', bytes)}`),
  ),
  attack('depth of 30 MB in an unknown field', 30e6, (bytes) => behind(json`"x":${nested(bytes)}`)),
  attack('objects in objects in a message', 20e6, (bytes) =>
    around(keyed(json`"x":${times('{"a":', (bytes * 5) / 6)}0${times('}', bytes / 6)}`)),
  ),
  attack('a deep schema of a tool', 20e6, (bytes) => {
    const closing = 2 * (bytes / 37)
    const opened = times('{"type":"object","properties":{"a":', bytes - closing)
    return before(toolWith(json`${opened}{}${times('}}', closing)}`))
  }),
]

const textOf = (name: string, of: string, more: Partial<Attack> = {}): Attack =>
  attack(`a text of ${name}`, 20e6, more, (bytes) => around(said('user', times(of, bytes))))

const reply = (key: string, value: Json): Chat =>
  around(json`{"role":"assistant","content":"Yes.","${key}":${value}}`)

/** One text, or few, of tens of megabytes: whatever reads it in one go holds the loop. */
export const longTexts: readonly Attack[] = [
  attack('a text of prose', 60e6, roomy, (bytes) => around(said('user', prose(bytes)))),
  textOf('one letter', 'a'),
  textOf('spaces', ' '),
  textOf('digits', '0123456789'),
  textOf('emoji', '👩‍👩‍👧‍👦'),
  textOf('line ends', '\\n'),
  textOf('backslashes', '\\\\'),
  textOf('quotation marks', '\\"', quick),
  textOf('escaped zeros', '\\u0000'),
  textOf('lone surrogates', '\\ud800'),
  attack('prose in the newest message', 31e6, (bytes) => ({ messages: [said('user', prose(bytes))] })),
  attack('prose in a system message', 31e6, (bytes) => ({ messages: [said('system', prose(bytes)), ask] })),
  attack('prose with summaries, recall and an archive', 20e6, { ...quick, profile: 'archiving' }, (bytes) =>
    around(said('user', prose(bytes))),
  ),
  attack('thoughts in reasoning_content', 60e6, quickAndRoomy, (bytes) =>
    reply('reasoning_content', json`"${prose(bytes)}"`),
  ),
  attack('thoughts in reasoning_details', 60e6, roomy, (bytes) =>
    reply('reasoning_details', json`[{"type":"reasoning.text","text":"${prose(bytes)}"}]`),
  ),
  attack('thoughts in thinking_blocks', 60e6, roomy, (bytes) =>
    reply('thinking_blocks', json`[{"type":"thinking","signature":"s","thinking":"${prose(bytes)}"}]`),
  ),
  attack('a refusal', 10e6, (bytes) => reply('refusal', json`"${prose(bytes)}"`)),
]

const long = (name: string, ...given: Given<(name: Buffer) => Chat>): Attack => {
  const [more, chat] = moreAndLast(given)
  return attack(`a long ${name}`, 10e6, more, (bytes) => chat(times('a-long-name-', bytes)))
}

/** Texts that are short by nature, and so are hashed, compared, kept and logged as wholes. */
export const names: readonly Attack[] = [
  long('model name', (name) => ({ ...around(), model: json`"${name}"` })),
  long('name of a message', (name) => around(keyed(json`"name":"${name}"`))),
  long('role', (name) => around(json`{"content":"a","role":"${name}"}`)),
  long('key of a message', (name) => around(keyed(json`"${name}":0`))),
  long('key beside the messages', (name) => behind(json`"${name}":0`)),
  long('function name', quick, (name) => around(call('call_1', name), result('call_1'))),
  long('call id', (name) => around(call(name, 'f'), result(name))),
  long('tool_call_id that answers nothing', (name) => around(result(name))),
  long('list of arguments', (name) =>
    around(call('call_1', 'f', json`{\\"path\\":\\"${name}\\"}`), result('call_1')),
  ),
  long('type of a part', (name) => around(userWith(json`[{"type":"${name}","text":"a"}]`))),
  attack('a number of many digits beside the messages', 10e6, (bytes) =>
    behind(json`"temperature":${times('1', bytes)}`),
  ),
  attack('a number of many digits in a message', 10e6, quick, (bytes) =>
    around(keyed(json`"x":${times('1', bytes)}`)),
  ),
]

/** As a tool would have printed it. */
const printed = (name: string, text: string, more: Partial<Attack> = roomy): Attack =>
  attack(`terminal output: ${name}`, 35e6, more, (bytes) =>
    around(call('c'), result('c', times(text, bytes)), said('assistant', 'It ran.')),
  )

const tinyImage = '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}'

/** What passes have work with of their own: terminal output, pictures, tools, formats, white space. */
export const contents: readonly Attack[] = [
  printed('progress bars', '\\r[#####     ] 51 % of 1,204 files', quickAndRoomy),
  printed('cursor movement', '\\u001b[2A\\u001b[2K\\u001b[12Gline\\u001b[1B\\n'),
  printed('colours', '\\u001b[38;5;196mred\\u001b[0m \\u001b[1mbold\\u001b[22m '),
  printed('the same line', 'warning: unused variable `x` in src/ledger.rs\\n'),
  attack('an image', 50e6, quickAndRoomy, (bytes) =>
    around(picture(times('iVBORw0KGgoAAAANSUhEUgAA', bytes))),
  ),
  attack('an image in lines', 25e6, (bytes) => around(picture(times(`${'QUJD'.repeat(19)}\\n`, bytes)))),
  attack('images', 25e6, (bytes) => around(userWith(listOf(tinyImage, bytes)))),
  attack("a tool's description", 25e6, (bytes) => {
    const described = times('Reads a file. ', bytes)
    return behind(json`"tools":[{"type":"function","function":{"name":"f","description":"${described}"}}]`)
  }),
  attack('a response format', 25e6, quick, (bytes) => {
    const schema = json`{"enum":${listOf('"a value of many"', bytes)}}`
    return before(
      json`"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":${schema}}}`,
    )
  }),
  attack('white space beside the messages', 20e6, (bytes) => behind(json`"x":${times(' \n', bytes)}0`)),
  attack('white space between messages', 20e6, (bytes) =>
    around(json`{"role":"user","content":"a"}${times('\t\n', bytes)}`),
  ),
  attack('white space in a message', 20e6, (bytes) =>
    around(json`{"role":"user",${times('\t\n', bytes)}"content":"a"}`),
  ),
  exactly('white space, brotli', 31e6, { ...quick, coding: 'br' }, (bytes) =>
    behind(json`"x":${times(' ', bytes)}0`),
  ),
  exactly('depth, brotli', 31e6, { coding: 'br' }, (bytes) => behind(json`"x":${times('[', bytes)}`)),
  exactly('one letter, zstd', 31e6, { coding: 'zstd' }, (bytes) => around(said('user', times('a', bytes)))),
]
