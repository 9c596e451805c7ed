import {
  alternating,
  around,
  ask,
  attackIn,
  before,
  behind,
  json,
  listOf,
  many,
  nested,
  prose,
  PROSE,
  times,
  type Attack,
  type Chat,
  type Json,
} from '../attack.ts'

// What inputs are made of comes before the lists, which are made of it as this module is loaded.

const { attack, manyMessages, within, deepIn } = attackIn('responses: ', { path: 'responses' })

export const thought = (index: number, encrypted: Json = 'gAAAAAB'): Json =>
  json`{"type":"reasoning","id":"rs_${String(index)}","summary":[],"encrypted_content":"${encrypted}"}`

export const said = (index: number, text = 'Yes.'): string =>
  `{"type":"message","role":"assistant","id":"msg_${index}","content":[{"type":"output_text","text":"${text}"}]}`

export const call = (index: number, more = ''): string =>
  `{"type":"function_call","id":"fc_${index}","call_id":"c${index}","name":"f","arguments":"{}"${more}}`

const outputOf = (index: number, value: Json = '"Done."'): Json =>
  json`{"type":"function_call_output","call_id":"c${String(index)}","output":${value}}`

const addedTools = (index: number): string =>
  `{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"t${index}"}]}`

const PNG = 'data:image/png;base64,iVBORw0KGgo='

const screenshot = (index: number): string =>
  `{"type":"computer_call","call_id":"c${index}","action":{"type":"screenshot"}}`

const shot = (index: number): string =>
  `{"type":"computer_call_output","call_id":"c${index - 1}","output":{"type":"computer_screenshot","image_url":"${PNG}"}}`

const unknown = (index: number): string => `{"type":"telepathy","id":"x_${index}"}`
const shortThought = (index: number): Json => thought(index)
const asking = (): Json => ask
const saying = (index: number): Json => said(index)
const calling = (index: number): Json => call(index)
/** Of the call before it. */
const answer = (index: number): Json => outputOf(index - 1)

/** Of the messages of a conversation 50,000 are read. */
const COUNT = 48_000

const compact = { path: 'responses/compact' } as const
const archiving = { profile: 'archiving' } as const
const turns = alternating(asking, shortThought, saying)

/**
 * Very many items of the Responses API. What reads them walks over replies of any number of items, looks for the thoughts
 * before one, for the call of an output, and for what holds for all that follows: whoever does so for each takes the square.
 */
export const items: readonly Attack[] = [
  manyMessages('a reply of calls under ids', COUNT, calling),
  manyMessages('a reply of calls under ids, behind a thought', COUNT, (index) =>
    index === 0 ? thought(index) : call(index),
  ),
  manyMessages('a reply of items of an unknown type', COUNT, unknown),
  manyMessages('unknown items between replies', COUNT, alternating(unknown, saying)),
  manyMessages(
    'calls of programs and their outputs',
    COUNT,
    alternating((index) => call(index, ',"caller":{"type":"program"}'), answer),
  ),
  manyMessages('thoughts, each with a message', COUNT, alternating(shortThought, saying)),
  manyMessages('turns with thoughts', COUNT, turns),
  manyMessages('turns with thoughts, to be compacted', COUNT / 2, compact, turns),
  manyMessages(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    archiving,
    alternating(asking, shortThought, (index) => said(index, PROSE.repeat(8))),
  ),
  manyMessages('outputs of one id', COUNT, (index) => (index < COUNT / 2 ? call(0) : outputOf(0))),
  manyMessages('outputs in the reverse order of their calls', COUNT, (index) =>
    index < COUNT / 2 ? call(index) : outputOf(COUNT - 1 - index),
  ),
  manyMessages('outputs without calls', COUNT, (index) => outputOf(index)),
  manyMessages(
    'compactions of the server',
    COUNT,
    () => '{"type":"compaction","encrypted_content":"gAAAAAB"}',
  ),
  manyMessages(
    'updates of the configuration',
    COUNT,
    { isQuick: true },
    () => '{"type":"configuration_update","reasoning":{"effort":"low"}}',
  ),
  manyMessages('additional tools', COUNT, addedTools),
  manyMessages('additional tools between turns', COUNT, alternating(addedTools, asking, addedTools, saying)),
  manyMessages(
    'additional tools, with summaries',
    COUNT / 4,
    archiving,
    alternating(addedTools, asking, saying),
  ),
  manyMessages('screenshots', COUNT / 2, alternating(screenshot, shot)),
  manyMessages('items without a type', COUNT, (index) => `{"id":null,"n":${index}}`),
  manyMessages('items with a key twice', COUNT, () => '{"type":"message","role":"user","role":"user"}'),
  manyMessages('tiny items', COUNT, () => '{"role":"user","content":"a"}'),
]

/** A call with an output between turns. */
const aroundOutput = (output: Json): Chat => around(call(1), outputOf(1, output))

const LONG = PROSE.repeat(10)

/** What single items of the Responses API hold: texts, parts and pictures where no message has any, and depth. */
export const itemContents: readonly Attack[] = [
  attack('encrypted thoughts of megabytes', 60e6, { room: 'roomy', isQuick: true }, (bytes) => {
    const encrypted = times('gAAAAAB', bytes / 30)
    return around(...many(30, (index) => [thought(index, encrypted), said(index)]).flat())
  }),
  attack('a text as the input', 31e6, { isQuick: true }, (bytes) => ({ messages: json`"${prose(bytes)}"` })),
  attack('lone surrogates as the input', 20e6, (bytes) => ({
    messages: json`"${times('\\ud800', bytes)}"`,
  })),
  attack('instructions', 31e6, (bytes) => behind(json`"instructions":"${prose(bytes)}"`)),
  attack('instructions in items', 20e6, (bytes) =>
    behind(json`"instructions":${listOf('{"role":"system","content":"Be brief."}', bytes)}`),
  ),
  attack('an output', 30e6, (bytes) => aroundOutput(json`"${prose(bytes)}"`)),
  attack('an output in the newest round, escaped', 30e6, (bytes) => ({
    messages: [ask, call(1), outputOf(1, json`"${times('\\u00e9\\ud83d\\ude00', bytes)}"`)],
  })),
  attack('a long output, to be compacted', 20e6, compact, (bytes) =>
    around(call(1), outputOf(1, json`"${prose(bytes)}"`), '{"type":"compaction_trigger"}'),
  ),
  within('an output in parts', 16_000, '{"type":"input_text","text":"Done."}', aroundOutput),
  within('an output in long parts', 16_000, `{"type":"input_text","text":"${LONG}"}`, aroundOutput),
  within('what a shell printed', 16_000, `{"stdout":"${LONG}","stderr":""}`, aroundOutput),
  within('images in an output', 16_000, `{"type":"input_image","image_url":"${PNG}"}`, aroundOutput),
  within('empty parts of an output', 49_000, '{}', aroundOutput),
  within('what code has drawn', 16_000, `{"type":"image","url":"${PNG}"}`, (list) =>
    around(json`{"type":"code_interpreter_call","id":"ci_1","code":"plot()","outputs":${list}}`),
  ),
  within('a summary of thoughts', 16_000, `{"type":"summary_text","text":"${LONG}"}`, (list) =>
    around(json`{"type":"reasoning","summary":${list}}`, said(1)),
  ),
  within('thoughts in plain text', 16_000, `{"type":"reasoning_text","text":"${LONG}"}`, (list) =>
    around(json`{"type":"reasoning","summary":[],"content":${list}}`, said(1)),
  ),
  within('commands of a shell call', 12_000, `"${PROSE.repeat(14)}"`, (list) =>
    around(
      json`{"type":"shell_call","call_id":"c1","action":{"commands":${list}}}`,
      '{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"Done.","stderr":""}]}',
    ),
  ),
  within(
    'what a server has listed',
    8_000,
    `{"name":"f","input_schema":{"about":"${PROSE.repeat(25)}"}}`,
    (list) => around(json`{"type":"mcp_list_tools","id":"mcpl_1","server_label":"s","tools":${list}}`),
  ),
  deepIn('an item of an unknown type', (deep) => around(json`{"type":"x","y":${deep}}`)),
  deepIn('an output', aroundOutput),
  deepIn('an action', (deep) => around(json`{"type":"shell_call","call_id":"c","action":${deep}}`)),
  deepIn('a text format', (deep) => behind(json`"text":{"format":${deep}}`)),
  within(
    'items of an unknown type, as deep as is read',
    600,
    `{"type":"x","y":${nested(980).toString()}}`,
    (list) => ({ messages: list }),
  ),
  attack('tools in namespaces', 9e6, { profile: 'joining' }, (bytes) => {
    const functions = listOf('{"type":"function","name":"f"}', 3_000).toString()
    return before(json`"tools":${listOf(`{"type":"namespace","name":"n","tools":${functions}}`, bytes)}`)
  }),
]
