import { ask, type Attack, type Json } from '../attack.ts'
import {
  manyBlocks,
  manyMessages,
  messageOf,
  messagesAttack,
  resultOf,
  saying,
  signed,
  toolUse,
} from './messages.ts'
import { PROSE } from './responses.ts'

/** Of the messages of a conversation 50,000 are read, and of one message's parts as many. */
const COUNT = 48_000

/**
 * Very many messages and blocks of the Messages API. Blocks stand in their message: what reads them looks for what they stand
 * in, for the reply that they are of, and for the call that a result answers.
 */
export const blocks: readonly Attack[] = [
  manyMessages('messages with one call or result each', COUNT, alternating(calling, answering)),
  manyMessages(
    'replies of thoughts and words',
    COUNT,
    alternating(thinking, () => ask),
  ),
  manyMessages('replies behind replies', COUNT, thinking),
  manyMessages('users behind users', COUNT, () => ask),
  manyMessages('system messages', COUNT, () => '{"role":"system","content":"Be brief."}'),
  manyMessages(
    'tools that come and go',
    COUNT,
    alternating(changingTools, () => ask, calling, answering),
  ),
  manyMessages(
    'tools that come and go, with summaries',
    COUNT / 4,
    alternating(changingTools, () => ask, thinking),
    { profile: 'archiving' },
  ),
  manyMessages(
    'turns with thoughts, with summaries, recall and an archive',
    COUNT / 4,
    alternating(
      () => ask,
      () => messageOf('assistant', signed('EqQB'), saying(PROSE.repeat(8))),
    ),
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
  manyBlocks('a reply of calls', 16_000, 'assistant', (index) => toolUse(index)),
  manyBlocks('a reply of thoughts', 16_000, 'assistant', () => signed('EqQB'), { isQuick: true }),
  manyBlocks('a reply of words', 16_000, 'assistant', () => saying('a')),
  manyBlocks('a reply of an unknown kind', 16_000, 'assistant', () => '{"type":"telepathy"}'),
  manyBlocks('a reply of searches', 16_000, 'assistant', (index) =>
    index % 2 === 0
      ? `{"type":"server_tool_use","id":"s${index}","name":"web_search","input":{}}`
      : `{"type":"web_search_tool_result","tool_use_id":"s${index - 1}","content":[]}`,
  ),
  manyBlocks('results in one message', 16_000, 'user', (index) => resultOf(index, '"Done."')),
  messagesAttack(
    'a round of very many calls, answered in the reverse order',
    COUNT * 50,
    () => ({
      messages: [
        ask,
        messageOf('assistant', ...Array.from({ length: 9_000 }, (_, index) => toolUse(index))),
        messageOf('user', ...Array.from({ length: 9_000 }, (_, index) => resultOf(8_999 - index, '"a"'))),
        ask,
      ],
    }),
    { isExact: true },
  ),
  messagesAttack(
    'rounds of many calls, the newest with a text behind its results',
    COUNT * 50,
    () => ({
      messages: [
        ask,
        ...Array.from({ length: 100 }, (_, round) => [
          messageOf('assistant', ...indexes.map((index) => toolUse(round * 100 + index))),
          messageOf(
            'user',
            ...indexes.map((index) => resultOf(round * 100 + index, '"Done."')),
            saying('And?'),
          ),
        ]).flat(),
      ],
    }),
    { isExact: true },
  ),
]

// --- internal ---

const indexes = Array.from({ length: 100 }, (_, index) => index)

/** One after the other, over and over. */
function alternating(...kinds: readonly ((index: number) => Json)[]): (index: number) => Json {
  return (index) => kinds[index % kinds.length]?.(index) ?? ask
}

function calling(index: number): Json {
  return messageOf('assistant', toolUse(index))
}

/** The call in the message before. */
function answering(index: number): Json {
  return messageOf('user', resultOf(index - 1, '"Done."'))
}

function thinking(): Json {
  return messageOf('assistant', signed('EqQB'), saying('Yes.'))
}

function changingTools(index: number): Json {
  return `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","tool_name":"t${index}"}}]}`
}
