import {
  alternating,
  around,
  ask,
  attack,
  behind,
  commas,
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

// What messages are made of comes before the lists, which are made of it as this module is loaded.

type Role = 'user' | 'assistant'

const messages = (name: string, bytes: number, chat: Attack['chat'], more: Partial<Attack> = {}): Attack =>
  attack(`messages: ${name}`, bytes, chat, { path: 'messages', ...more })

const messageOf = (role: Role, ...blocks: readonly Json[]): Json =>
  json`{"role":"${role}","content":[${commas(blocks)}]}`

const signed = (signature: Json = 'EqQB', thinking: Json = ''): Json =>
  json`{"type":"thinking","thinking":"${thinking}","signature":"${signature}"}`

const toolUse = (index: number, input: Json = '{}'): Json =>
  json`{"type":"tool_use","id":"toolu_${String(index)}","name":"f","input":${input}}`

const resultOf = (index: number, content: Json = '"Done."'): Json =>
  json`{"type":"tool_result","tool_use_id":"toolu_${String(index)}","content":${content}}`

const saying = (text: Json): Json => json`{"type":"text","text":"${text}"}`

/** So many messages, nearly as many as are read. */
function manyMessages(
  name: string,
  count: number,
  message: (index: number) => Json,
  more: Partial<Attack> = {},
): Attack {
  const bytes = count * Buffer.from(message(1)).length
  const chat = (): Chat => ({ messages: [ask, ...many(count, message), ask] })
  return messages(name, bytes, chat, { isExact: true, ...more })
}

/** So many blocks in one message, nearly as many as are read. */
function manyBlocks(name: string, role: Role, block: (index: number) => Json, more: Partial<Attack> = {}) {
  const bytes = 16_000 * Buffer.from(block(1)).length
  const chat = (): Chat => around(messageOf(role, ...many(16_000, block)))
  return messages(name, bytes, chat, { isExact: true, ...more })
}

/** Of the messages of a conversation 50,000 are read, and of one message's parts as many. */
const COUNT = 48_000

const asking = (): Json => ask
const calling = (index: number): Json => messageOf('assistant', toolUse(index))
/** The call in the message before. */
const answering = (index: number): Json => messageOf('user', resultOf(index - 1))
const thinking = (): Json => messageOf('assistant', signed(), saying('Yes.'))
const changingTools = (index: number): Json =>
  `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","tool_name":"t${index}"}}]}`

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
    alternating(changingTools, asking, thinking),
    { profile: 'archiving' },
  ),
  manyMessages(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    alternating(asking, () => messageOf('assistant', signed(), saying(PROSE.repeat(8)))),
    { profile: 'archiving' },
  ),
  manyMessages(
    'turns, each marked for the cache',
    COUNT,
    alternating(
      () => '{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}',
      thinking,
    ),
  ),
  manyMessages('compactions of the server', COUNT, () =>
    messageOf('assistant', '{"type":"compaction","content":"a"}'),
  ),
  manyMessages('results without calls', COUNT, answering),
  manyMessages('results of one id', COUNT, (index) =>
    index % 2 === 0 ? messageOf('assistant', toolUse(0)) : messageOf('user', resultOf(0, '"a"')),
  ),
  manyMessages('messages without blocks', COUNT, () => '{"role":"user","content":[]}'),
  manyMessages('messages with a key twice', COUNT, () => '{"role":"user","role":"user","content":"a"}'),
  manyMessages('tiny messages', COUNT, () => '{"role":"user","content":"a"}'),
  manyBlocks('a reply of calls', 'assistant', (index) => toolUse(index)),
  manyBlocks('a reply of thoughts', 'assistant', () => signed(), { isQuick: true }),
  manyBlocks('a reply of words', 'assistant', () => saying('a')),
  manyBlocks('a reply of an unknown kind', 'assistant', () => '{"type":"telepathy"}'),
  manyBlocks('a reply of searches', 'assistant', (index) =>
    index % 2 === 0
      ? `{"type":"server_tool_use","id":"s${index}","name":"web_search","input":{}}`
      : `{"type":"web_search_tool_result","tool_use_id":"s${index - 1}","content":[]}`,
  ),
  manyBlocks('results in one message', 'user', (index) => resultOf(index)),
  messages(
    'a round of very many calls, answered in the reverse order',
    COUNT * 50,
    () => {
      const calls = many(9_000, (index) => toolUse(index))
      const results = many(9_000, (index) => resultOf(8_999 - index, '"a"'))
      return { messages: [ask, messageOf('assistant', ...calls), messageOf('user', ...results), ask] }
    },
    { isExact: true },
  ),
  messages(
    'rounds of many calls, the newest with a text behind its results',
    COUNT * 50,
    () => {
      const rounds = many(100, (round) => [
        messageOf('assistant', ...many(100, (index) => toolUse(round * 100 + index))),
        messageOf('user', ...many(100, (index) => resultOf(round * 100 + index)), saying('And?')),
      ])
      return { messages: [ask, ...rounds.flat()] }
    },
    { isExact: true },
  ),
]

/** A round with this result between turns. */
const aroundResult = (content: Json): Chat =>
  around(messageOf('assistant', toolUse(1)), messageOf('user', resultOf(1, content)))

/** A message of blocks of one kind, as many as fit into so many bytes. */
const listMessage = (role: Role, block: string, bytes: number): Json =>
  json`{"role":"${role}","content":${listOf(block, bytes)}}`

function parts(name: string, count: number, part: string): Attack {
  const bytes = count * (part.length + 1)
  return messages(name, bytes, () => aroundResult(listOf(part, bytes)), { isExact: true })
}

/** So many blocks of one message. */
function within(name: string, count: number, block: string, role: Role): Attack {
  const bytes = count * (block.length + 1)
  return messages(name, bytes, () => around(listMessage(role, block, bytes)), { isExact: true })
}

const deepIn = (where: string, message: (value: Json) => Json): Attack =>
  messages(`depth in ${where}`, 60_000, (bytes) => around(message(nested(bytes))), { isExact: true })

const IMAGE = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}'
const MARKED = '"cache_control":{"type":"ephemeral"}'
const PAGE = PROSE.repeat(20)

/** What single blocks of the Messages API hold: signatures, results, documents, depth; and what stands beside the messages. */
export const blockContents: readonly Attack[] = [
  messages(
    'signatures of megabytes',
    60 * MEGABYTE,
    (bytes) => {
      const reply = messageOf('assistant', signed(times('EqQBCkgIARAB', bytes / 30)), saying('Yes.'))
      return around(...many(30, () => [reply, ask]).flat())
    },
    { room: 'roomy', isQuick: true },
  ),
  messages('a thought to read', 30 * MEGABYTE, (bytes) =>
    around(messageOf('assistant', signed('EqQB', times(PROSE, bytes)), saying('Yes.'))),
  ),
  messages('secret thoughts', 30 * MEGABYTE, (bytes) => {
    const secret = json`{"type":"redacted_thinking","data":"${times('EqQB', bytes)}"}`
    return around(messageOf('assistant', secret, saying('Yes.')))
  }),
  messages('a system prompt', 31 * MEGABYTE, (bytes) => behind(json`"system":"${times(PROSE, bytes)}"`)),
  messages('a system prompt in blocks, each marked for the cache', 20 * MEGABYTE, (bytes) =>
    behind(json`"system":${listOf(`{"type":"text","text":"Be brief.",${MARKED}}`, bytes)}`),
  ),
  messages('a system prompt like marks for the cache', 30 * MEGABYTE, (bytes) =>
    behind(json`"metadata":{"x":[${times('{"cache_control":1},', bytes)}0]}`),
  ),
  messages('tools of long schemas', 25 * MEGABYTE, (bytes) => {
    const schema = json`{"type":"object","description":"${times(PROSE, bytes)}"}`
    return behind(json`"tools":[{"name":"f","input_schema":${schema},${MARKED}}]`)
  }),
  messages('a result', 30 * MEGABYTE, (bytes) => aroundResult(json`"${times(PROSE, bytes)}"`)),
  messages('a result in the newest round, escaped', 30 * MEGABYTE, (bytes) => {
    const result = resultOf(1, json`"${times('\\u00e9\\ud83d\\ude00', bytes)}"`)
    return { messages: [ask, messageOf('assistant', toolUse(1)), messageOf('user', result)] }
  }),
  messages('the input of a call', 30 * MEGABYTE, (bytes) => {
    const call = toolUse(1, json`{"text":"${times(PROSE, bytes)}"}`)
    return around(messageOf('assistant', call), messageOf('user', resultOf(1)))
  }),
  parts('a result in parts', 16_000, '{"type":"text","text":"Done."}'),
  parts('a result in long parts', 16_000, `{"type":"text","text":"${PROSE.repeat(10)}"}`),
  parts('images in a result', 12_000, IMAGE),
  parts('tools that a search has found', 16_000, '{"type":"tool_reference","tool_name":"f"}'),
  within('images in a message', 12_000, IMAGE, 'user'),
  within(
    'documents in a message',
    8_000,
    `{"type":"document","title":"a","source":{"type":"text","media_type":"text/plain","data":"${PAGE}"}}`,
    'user',
  ),
  within(
    'what searches have found',
    6_000,
    `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u","encrypted_content":"${'Eo8'.repeat(300)}"}]}`,
    'assistant',
  ),
  within(
    'what code has printed',
    6_000,
    `{"type":"code_execution_tool_result","tool_use_id":"s","content":{"type":"code_execution_result","stdout":"${PAGE}","stderr":""}}`,
    'assistant',
  ),
  deepIn('a block of an unknown kind', (value) => messageOf('assistant', json`{"type":"x","y":${value}}`)),
  deepIn('the input of a call', (value) => messageOf('assistant', toolUse(1, value))),
  deepIn('a result', (value) => messageOf('user', resultOf(1, value))),
  deepIn('a block that a user shows', (value) => messageOf('user', json`{"type":"x","y":${value}}`)),
  messages('blocks in blocks', 20 * MEGABYTE, (bytes) =>
    around(
      json`{"role":"user","content":${times('[{"content":', 600)}1${times('}]', 100)}}`,
      listMessage('user', '{"type":"text","text":"a"}', bytes),
    ),
  ),
]
