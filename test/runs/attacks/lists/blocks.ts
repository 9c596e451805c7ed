import {
  alternating,
  around,
  ask,
  attackIn,
  behind,
  commas,
  json,
  listOf,
  many,
  prose,
  PROSE,
  times,
  type Attack,
  type Chat,
  type Given,
  type Json,
  moreAndLast,
} from '../attack.ts'

// What messages are made of comes before the lists, which are made of it as this module is loaded.

const { attack, exactly, manyMessages, within, deepIn } = attackIn('messages: ', { path: 'messages' })

const user = (...blocks: readonly Json[]): Json => json`{"role":"user","content":[${commas(blocks)}]}`

const assistant = (...blocks: readonly Json[]): Json =>
  json`{"role":"assistant","content":[${commas(blocks)}]}`

const signed = (signature: Json = 'EqQB', thinking: Json = ''): Json =>
  json`{"type":"thinking","thinking":"${thinking}","signature":"${signature}"}`

const toolUse = (index: number, input: Json = '{}'): Json =>
  json`{"type":"tool_use","id":"toolu_${String(index)}","name":"f","input":${input}}`

const resultOf = (index: number, content: Json = '"Done."'): Json =>
  json`{"type":"tool_result","tool_use_id":"toolu_${String(index)}","content":${content}}`

const saying = (text: Json): Json => json`{"type":"text","text":"${text}"}`

/** So many blocks in one message, nearly as many as are read. */
function manyBlocks(name: string, message: typeof user, ...given: Given<(index: number) => Json>): Attack {
  const [more, block] = moreAndLast(given)
  const bytes = 16_000 * Buffer.from(block(1)).length
  return exactly(name, bytes, more, () => around(message(...many(16_000, block))))
}

/** Of the messages of a conversation 50,000 are read, and of one message's parts as many. */
const COUNT = 48_000

const archiving = { profile: 'archiving' } as const
const asking = (): Json => ask
const longCall = (index: number): Json => toolUse(index, `{"text":"${PROSE.repeat(10).slice(0, 450)}"}`)
const calling = (index: number): Json => assistant(toolUse(index))
/** The call in the message before. */
const answering = (index: number): Json => user(resultOf(index - 1))
const thinking = (): Json => assistant(signed(), saying('Yes.'))
const changingTools = (index: number): Json =>
  `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","tool_name":"t${index}"}}]}`

const IMAGE = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}'
const MARKED = '"cache_control":{"type":"ephemeral"}'
const PAGE = PROSE.repeat(20)

/**
 * Very many messages and blocks of the Messages API. Blocks stand in their message: what reads them looks for what they stand
 * in, for the reply that they are of, and for the call that a result answers.
 */
export const blocks: readonly Attack[] = [
  manyMessages('messages with one call or result each', COUNT, alternating(calling, answering)),
  manyMessages('replies of thoughts and words', COUNT, alternating(thinking, asking)),
  manyMessages('replies behind replies', COUNT, thinking),
  manyMessages('users behind users', COUNT, asking),
  manyMessages('system messages', COUNT, () => '{"role":"system","content":"Be brief."}'),
  manyMessages('tools that come and go', COUNT, alternating(changingTools, asking, calling, answering)),
  manyMessages(
    'tools that come and go, with summaries',
    COUNT / 4,
    archiving,
    alternating(changingTools, asking, thinking),
  ),
  manyMessages(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    archiving,
    alternating(asking, () => assistant(signed(), saying(PROSE.repeat(8)))),
  ),
  manyMessages(
    'turns, each marked for the cache',
    COUNT,
    alternating(() => user(`{"type":"text","text":"a",${MARKED}}`), thinking),
  ),
  manyMessages('compactions of the server', COUNT, () => assistant('{"type":"compaction","content":"a"}')),
  manyMessages('results without calls', COUNT, answering),
  manyMessages(
    'results of one id',
    COUNT,
    alternating(
      () => assistant(toolUse(0)),
      () => user(resultOf(0, '"a"')),
    ),
  ),
  manyMessages('messages without blocks', COUNT, () => user()),
  manyMessages('messages with a key twice', COUNT, () => '{"role":"user","role":"user","content":"a"}'),
  manyMessages('tiny messages', COUNT, () => '{"role":"user","content":"a"}'),
  manyBlocks('a reply of calls', assistant, (index) => toolUse(index)),
  manyBlocks('a reply of long calls', assistant, longCall),
  // More than are read; it held the loop for up to 123 ms.
  exactly('a reply of more long calls', 12.5e6, () => around(assistant(...many(24_000, longCall)))),
  manyBlocks('a reply of thoughts', assistant, { isQuick: true }, () => signed()),
  manyBlocks('a reply of words', assistant, () => saying('a')),
  manyBlocks('a reply of an unknown kind', assistant, () => '{"type":"telepathy"}'),
  manyBlocks('a reply of searches', assistant, (index) =>
    index % 2 === 0
      ? `{"type":"server_tool_use","id":"s${index}","name":"web_search","input":{}}`
      : `{"type":"web_search_tool_result","tool_use_id":"s${index - 1}","content":[]}`,
  ),
  manyBlocks('results in one message', user, (index) => resultOf(index)),
  exactly('a round of very many calls, answered in the reverse order', COUNT * 50, () => {
    const calls = many(9_000, (index) => toolUse(index))
    const results = many(9_000, (index) => resultOf(8_999 - index, '"a"'))
    return { messages: [ask, assistant(...calls), user(...results), ask] }
  }),
  exactly('rounds of many calls, the newest with a text behind its results', COUNT * 50, () => {
    const rounds = many(100, (round) => [
      assistant(...many(100, (index) => toolUse(round * 100 + index))),
      user(...many(100, (index) => resultOf(round * 100 + index)), saying('And?')),
    ])
    return { messages: [ask, ...rounds.flat()] }
  }),
]

/** A round with this result between turns. */
const aroundResult = (content: Json): Chat => around(assistant(toolUse(1)), user(resultOf(1, content)))

const aroundUser = (content: Json): Chat => around(json`{"role":"user","content":${content}}`)
const aroundAssistant = (content: Json): Chat => around(json`{"role":"assistant","content":${content}}`)

/** What single blocks of the Messages API hold: signatures, results, documents, depth; and what stands beside the messages. */
export const blockContents: readonly Attack[] = [
  attack('signatures of megabytes', 60e6, { room: 'roomy', isQuick: true }, (bytes) => {
    const reply = assistant(signed(times('EqQBCkgIARAB', bytes / 30)), saying('Yes.'))
    return around(...many(30, () => [reply, ask]).flat())
  }),
  attack('a thought to read', 30e6, (bytes) =>
    around(assistant(signed('EqQB', prose(bytes)), saying('Yes.'))),
  ),
  attack('secret thoughts', 30e6, (bytes) =>
    around(assistant(json`{"type":"redacted_thinking","data":"${times('EqQB', bytes)}"}`, saying('Yes.'))),
  ),
  attack('a system prompt', 31e6, (bytes) => behind(json`"system":"${prose(bytes)}"`)),
  attack('a system prompt in blocks, each marked for the cache', 20e6, (bytes) =>
    behind(json`"system":${listOf(`{"type":"text","text":"Be brief.",${MARKED}}`, bytes)}`),
  ),
  attack('a system prompt like marks for the cache', 30e6, (bytes) =>
    behind(json`"metadata":{"x":[${times('{"cache_control":1},', bytes)}0]}`),
  ),
  attack('tools of long schemas', 25e6, (bytes) => {
    const schema = json`{"type":"object","description":"${prose(bytes)}"}`
    return behind(json`"tools":[{"name":"f","input_schema":${schema},${MARKED}}]`)
  }),
  attack('a result', 30e6, (bytes) => aroundResult(json`"${prose(bytes)}"`)),
  attack('a result in the newest round, escaped', 30e6, (bytes) => {
    const result = resultOf(1, json`"${times('\\u00e9\\ud83d\\ude00', bytes)}"`)
    return { messages: [ask, assistant(toolUse(1)), user(result)] }
  }),
  attack('the input of a call', 30e6, (bytes) =>
    around(assistant(toolUse(1, json`{"text":"${prose(bytes)}"}`)), user(resultOf(1))),
  ),
  within('a result in parts', 16_000, '{"type":"text","text":"Done."}', aroundResult),
  within('a result in long parts', 16_000, `{"type":"text","text":"${PROSE.repeat(10)}"}`, aroundResult),
  within('images in a result', 12_000, IMAGE, aroundResult),
  within('tools that a search has found', 16_000, '{"type":"tool_reference","tool_name":"f"}', aroundResult),
  within('images in a message', 12_000, IMAGE, aroundUser),
  within(
    'documents in a message',
    8_000,
    `{"type":"document","title":"a","source":{"type":"text","media_type":"text/plain","data":"${PAGE}"}}`,
    aroundUser,
  ),
  within(
    'what searches have found',
    6_000,
    `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u","encrypted_content":"${'Eo8'.repeat(300)}"}]}`,
    aroundAssistant,
  ),
  within(
    'what code has printed',
    6_000,
    `{"type":"code_execution_tool_result","tool_use_id":"s","content":{"type":"code_execution_result","stdout":"${PAGE}","stderr":""}}`,
    aroundAssistant,
  ),
  deepIn('a block of an unknown kind', (deep) => around(assistant(json`{"type":"x","y":${deep}}`))),
  deepIn('the input of a call', (deep) => around(assistant(toolUse(1, deep)))),
  deepIn('a result', (deep) => around(user(resultOf(1, deep)))),
  deepIn('a block that a user shows', (deep) => around(user(json`{"type":"x","y":${deep}}`))),
  attack('blocks in blocks', 20e6, (bytes) =>
    around(
      json`{"role":"user","content":${times('[{"content":', 600)}1${times('}]', 100)}}`,
      json`{"role":"user","content":${listOf('{"type":"text","text":"a"}', bytes)}}`,
    ),
  ),
]
