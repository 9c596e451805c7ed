import {
  alternating,
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

// What inputs are made of comes before the lists, which are made of it as this module is loaded.

const responses = (name: string, bytes: number, chat: Attack['chat'], more: Partial<Attack> = {}): Attack =>
  attack(`responses: ${name}`, bytes, chat, { path: 'responses', ...more })

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

const unknown = (index: number): string => `{"type":"telepathy","id":"x_${index}"}`
const shortThought = (index: number): Json => thought(index)
const asking = (): Json => ask
const saying = (index: number): Json => said(index)
/** Of the call before it. */
const answer = (index: number): Json => outputOf(index - 1)

/** Of the messages of a conversation 50,000 are read. */
const COUNT = 48_000

/** So many items, nearly as many as are read: a smaller one would stay below what it is to come near to. */
function manyItems(name: string, count: number, item: (index: number) => Json, more: Partial<Attack> = {}) {
  const bytes = count * Buffer.from(item(1)).length
  const chat = (): Chat => ({ messages: [ask, ...many(count, item), ask] })
  return responses(name, bytes, chat, { isExact: true, ...more })
}

const turns = alternating(asking, shortThought, saying)

/**
 * Very many items of the Responses API. What reads them walks over replies of any number of items, looks for the thoughts
 * before one, for the call of an output, and for what holds for all that follows: whoever does so for each takes the square.
 */
export const items: readonly Attack[] = [
  manyItems('a reply of calls under ids', COUNT, (index) => call(index)),
  manyItems('a reply of calls under ids, behind a thought', COUNT, (index) =>
    index === 0 ? thought(index) : call(index),
  ),
  manyItems('a reply of items of an unknown type', COUNT, unknown),
  manyItems('unknown items between replies', COUNT, alternating(unknown, saying)),
  manyItems(
    'calls of programs and their outputs',
    COUNT,
    alternating((index) => call(index, ',"caller":{"type":"program"}'), answer),
  ),
  manyItems('thoughts, each with a message', COUNT, alternating(shortThought, saying)),
  manyItems('turns with thoughts', COUNT, turns),
  manyItems('turns with thoughts, to be compacted', COUNT / 2, turns, { path: 'responses/compact' }),
  manyItems(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    alternating(asking, shortThought, (index) => said(index, PROSE.repeat(8))),
    { profile: 'archiving' },
  ),
  manyItems('outputs of one id', COUNT, (index) => (index < COUNT / 2 ? call(0) : outputOf(0))),
  manyItems('outputs in the reverse order of their calls', COUNT, (index) =>
    index < COUNT / 2 ? call(index) : outputOf(COUNT - 1 - index),
  ),
  manyItems('outputs without calls', COUNT, (index) => outputOf(index)),
  manyItems('compactions of the server', COUNT, () => '{"type":"compaction","encrypted_content":"gAAAAAB"}'),
  manyItems(
    'updates of the configuration',
    COUNT,
    () => '{"type":"configuration_update","reasoning":{"effort":"low"}}',
    { isQuick: true },
  ),
  manyItems('additional tools', COUNT, addedTools),
  manyItems('additional tools between turns', COUNT, alternating(addedTools, asking, addedTools, saying)),
  manyItems('additional tools, with summaries', COUNT / 4, alternating(addedTools, asking, saying), {
    profile: 'archiving',
  }),
  manyItems(
    'screenshots',
    COUNT / 2,
    alternating(
      (index) => `{"type":"computer_call","call_id":"c${index}","action":{"type":"screenshot"}}`,
      (index) =>
        `{"type":"computer_call_output","call_id":"c${index - 1}","output":{"type":"computer_screenshot","image_url":"${PNG}"}}`,
    ),
  ),
  manyItems('items without a type', COUNT, (index) => `{"id":null,"n":${index}}`),
  manyItems('items with a key twice', COUNT, () => '{"type":"message","role":"user","role":"user"}'),
  manyItems('tiny items', COUNT, () => '{"role":"user","content":"a"}'),
]

/** A call with an output between turns. */
const aroundOutput = (output: Json): Chat => around(call(1), outputOf(1, output))

const text = (characters: Json): Chat => ({ messages: [], insteadOfMessages: json`"${characters}"` })

/** So many elements in a list, nearly as many as are read of one message. */
function within(name: string, count: number, element: string, chat: (list: Json) => Chat): Attack {
  const bytes = count * (element.length + 1)
  return responses(name, bytes, () => chat(listOf(element, bytes)), { isExact: true })
}

const parts = (name: string, count: number, part: string): Attack => within(name, count, part, aroundOutput)

const deepIn = (where: string, chat: (value: Json) => Chat): Attack =>
  responses(`depth in ${where}`, 60_000, (bytes) => chat(nested(bytes)), { isExact: true })

const LONG = PROSE.repeat(10)

/** What single items of the Responses API hold: texts, parts and pictures where no message has any, and depth. */
export const itemContents: readonly Attack[] = [
  responses(
    'encrypted thoughts of megabytes',
    60 * MEGABYTE,
    (bytes) => {
      const encrypted = times('gAAAAAB', bytes / 30)
      return around(...many(30, (index) => [thought(index, encrypted), said(index)]).flat())
    },
    { room: 'roomy', isQuick: true },
  ),
  responses('a text as the input', 31 * MEGABYTE, (bytes) => text(times(PROSE, bytes)), { isQuick: true }),
  responses('lone surrogates as the input', 20 * MEGABYTE, (bytes) => text(times('\\ud800', bytes))),
  responses('instructions', 31 * MEGABYTE, (bytes) => behind(json`"instructions":"${times(PROSE, bytes)}"`)),
  responses('instructions in items', 20 * MEGABYTE, (bytes) =>
    behind(json`"instructions":${listOf('{"role":"system","content":"Be brief."}', bytes)}`),
  ),
  responses('an output', 30 * MEGABYTE, (bytes) => aroundOutput(json`"${times(PROSE, bytes)}"`)),
  responses('an output in the newest round, escaped', 30 * MEGABYTE, (bytes) => ({
    messages: [ask, call(1), outputOf(1, json`"${times('\\u00e9\\ud83d\\ude00', bytes)}"`)],
  })),
  responses(
    'a long output, to be compacted',
    20 * MEGABYTE,
    (bytes) => around(call(1), outputOf(1, json`"${times(PROSE, bytes)}"`), '{"type":"compaction_trigger"}'),
    { path: 'responses/compact' },
  ),
  parts('an output in parts', 16_000, '{"type":"input_text","text":"Done."}'),
  parts('an output in long parts', 16_000, `{"type":"input_text","text":"${LONG}"}`),
  parts('what a shell printed', 16_000, `{"stdout":"${LONG}","stderr":""}`),
  parts('images in an output', 16_000, `{"type":"input_image","image_url":"${PNG}"}`),
  parts('empty parts of an output', 49_000, '{}'),
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
  deepIn('an item of an unknown type', (value) => around(json`{"type":"x","y":${value}}`)),
  deepIn('an output', aroundOutput),
  deepIn('an action', (value) => around(json`{"type":"shell_call","call_id":"c","action":${value}}`)),
  deepIn('a text format', (value) => behind(json`"text":{"format":${value}}`)),
  within(
    'items of an unknown type, as deep as is read',
    600,
    `{"type":"x","y":${nested(980).toString()}}`,
    (list) => ({ messages: [], insteadOfMessages: list }),
  ),
  responses(
    'tools in namespaces',
    9 * MEGABYTE,
    (bytes) => {
      const functions = listOf('{"type":"function","name":"f"}', 3_000).toString()
      return before(json`"tools":${listOf(`{"type":"namespace","name":"n","tools":${functions}}`, bytes)}`)
    },
    { profile: 'joining' },
  ),
]
