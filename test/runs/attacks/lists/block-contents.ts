import { around, ask, concat, listOf, MEGABYTE, nested, times, type Attack, type Json } from '../attack.ts'
import {
  aroundResult,
  listMessage,
  messageOf,
  messagesAttack,
  resultOf,
  saying,
  signed,
  toolUse,
} from './messages.ts'
import { PROSE } from './responses.ts'

const IMAGE = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}'

/** What single blocks of the Messages API hold: signatures, results, documents, depth; and what stands beside the messages. */
export const blockContents: readonly Attack[] = [
  messagesAttack(
    'signatures of megabytes',
    60 * MEGABYTE,
    (bytes) => {
      const signature = times('EqQBCkgIARAB', bytes / 30)
      const turn = [messageOf('assistant', signed(signature), saying('Yes.')), ask]
      return around(...Array.from({ length: 30 }, () => turn).flat())
    },
    { room: 'roomy', isQuick: true },
  ),
  messagesAttack('a thought to read', 30 * MEGABYTE, (bytes) =>
    around(messageOf('assistant', signed('EqQB', times(PROSE, bytes)), saying('Yes.'))),
  ),
  messagesAttack('secret thoughts', 30 * MEGABYTE, (bytes) =>
    around(
      messageOf(
        'assistant',
        concat(['{"type":"redacted_thinking","data":"', times('EqQB', bytes), '"}']),
        saying('Yes.'),
      ),
    ),
  ),
  messagesAttack('a system prompt', 31 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [concat(['"system":"', times(PROSE, bytes), '"'])],
  })),
  messagesAttack('a system prompt in blocks, each marked for the cache', 20 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [
      concat([
        '"system":',
        listOf('{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}', bytes),
      ]),
    ],
  })),
  messagesAttack('a system prompt like marks for the cache', 30 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [concat(['"metadata":{"x":[', times('{"cache_control":1},', bytes), '0]}'])],
  })),
  messagesAttack('tools of long schemas', 25 * MEGABYTE, (bytes) => ({
    ...around(),
    before: [
      concat([
        '"tools":[{"name":"f","input_schema":{"type":"object","description":"',
        times(PROSE, bytes),
        '"},"cache_control":{"type":"ephemeral"}}]',
      ]),
    ],
  })),
  messagesAttack('a result', 30 * MEGABYTE, (bytes) => aroundResult(quoted(times(PROSE, bytes)))),
  messagesAttack('a result in the newest round, escaped', 30 * MEGABYTE, (bytes) => ({
    messages: [
      ask,
      messageOf('assistant', toolUse(1)),
      messageOf('user', resultOf(1, quoted(times('\\u00e9\\ud83d\\ude00', bytes)))),
    ],
  })),
  messagesAttack('the input of a call', 30 * MEGABYTE, (bytes) =>
    around(
      messageOf('assistant', toolUse(1, concat(['{"text":', quoted(times(PROSE, bytes)), '}']))),
      messageOf('user', resultOf(1, '"Done."')),
    ),
  ),
  parts('a result in parts', 16_000, '{"type":"text","text":"Done."}'),
  parts('a result in long parts', 16_000, `{"type":"text","text":"${PROSE.repeat(10)}"}`),
  parts('images in a result', 12_000, IMAGE),
  parts('tools that a search has found', 16_000, '{"type":"tool_reference","tool_name":"f"}'),
  within('images in a message', 12_000, IMAGE, 'user'),
  within(
    'documents in a message',
    8_000,
    `{"type":"document","title":"a","source":{"type":"text","media_type":"text/plain","data":"${PROSE.repeat(20)}"}}`,
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
    `{"type":"code_execution_tool_result","tool_use_id":"s","content":{"type":"code_execution_result","stdout":"${PROSE.repeat(20)}","stderr":""}}`,
    'assistant',
  ),
  deep('a block of an unknown kind', (value) =>
    messageOf('assistant', concat(['{"type":"x","y":', value, '}'])),
  ),
  deep('the input of a call', (value) => messageOf('assistant', toolUse(1, value))),
  deep('a result', (value) => messageOf('user', resultOf(1, value))),
  deep('a block that a user shows', (value) => messageOf('user', concat(['{"type":"x","y":', value, '}']))),
  messagesAttack('blocks in blocks', 20 * MEGABYTE, (bytes) =>
    around(
      concat(['{"role":"user","content":', times('[{"content":', 600), '1', times('}]', 100), '}']),
      listMessage('user', '{"type":"text","text":"a"}', bytes),
    ),
  ),
]

// --- internal ---

function quoted(characters: Json): Buffer {
  return concat(['"', characters, '"'])
}

function parts(name: string, count: number, part: string): Attack {
  const bytes = count * (part.length + 1)
  return messagesAttack(name, bytes, () => aroundResult(listOf(part, bytes)), { isExact: true })
}

/** So many blocks of one message. */
function within(name: string, count: number, block: string, role: 'user' | 'assistant'): Attack {
  const bytes = count * (block.length + 1)
  return messagesAttack(name, bytes, () => around(listMessage(role, block, bytes)), { isExact: true })
}

function deep(where: string, message: (value: Json) => Json): Attack {
  return messagesAttack(`depth in ${where}`, 60_000, (bytes) => around(message(nested(bytes))), {
    isExact: true,
  })
}
