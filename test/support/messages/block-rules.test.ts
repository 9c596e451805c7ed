import { describe, expect, test } from 'vitest'
import { blockBreaks } from './block-rules.ts'
import type { WireBlock } from './wire-block.ts'

const user = (...content: object[]) => ({ role: 'user', content })
const model = (...content: object[]) => ({ role: 'assistant', content })
const text = (said = 'So.') => ({ type: 'text', text: said })
const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
const result = (id: string, more: WireBlock = { content: 'Seen.' }) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...more,
})
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const compaction = (more = {}) => ({ type: 'compaction', content: 'What was said.', ...more })
const system = { role: 'system', content: 'Be brief.' }
const thought = { type: 'thinking', thinking: '', signature: 'Eq' }

function breaksOf(messages: readonly unknown[], allowsPrefill = false) {
  return blockBreaks(messages, { allowsPrefill })
}

function codes(messages: readonly unknown[]) {
  return breaksOf(messages).map(({ errorCode }) => errorCode)
}

test.each([
  [
    'parallel calls, answered in one message in any order',
    [user(text()), model(call('a'), call('b')), user(result('b'), result('a'), text())],
  ],
  ['a reply in two messages', [user(text()), model(thought, text()), model(call('a')), user(result('a'))]],
  [
    'neighbours of one role, and system messages between turns',
    [user(text()), user(text()), system, model(call('a')), user(result('a')), system],
  ],
  ['an answer without content', [user(text()), model(call('a')), user(result('a', {}))]],
  [
    'a search, and one that is still running',
    [user(text()), model(search('s'), found('s'), text()), user(text()), model(search('t'))],
  ],
  [
    'what was compacted, with what follows',
    [model(compaction()), user(text()), model(compaction(), text()), user(text())],
  ],
  ['blocks that nobody knows', [user(text(), { type: 'hologram', light: 'red' })]],
])('takes %s', (_, messages) => {
  expect(breaksOf(messages)).toEqual([])
})

const unanswered = (index: number, ids: string) =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
const orphan = (at: string, id: string) =>
  `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`

describe('refuses', () => {
  test.each<[string, readonly unknown[], readonly string[]]>([
    [
      'calls without results',
      [user(text()), model(call('a'), call('b')), user(text())],
      [unanswered(1, 'a, b')],
    ],
    [
      'calls at the end',
      [user(text()), model(call('a'))],
      [expect.stringContaining('prefill'), unanswered(1, 'a')],
    ],
    [
      'results behind a word',
      [user(text()), model(call('a')), user(text(), result('a'))],
      [unanswered(1, 'a')],
    ],
    [
      'results in two messages',
      [user(text()), model(call('a'), call('b')), user(result('a')), user(result('b'))],
      [unanswered(1, 'b'), orphan('messages.3.content.0', 'b')],
    ],
    [
      'a system message between a call and its result',
      [user(text()), model(call('a')), system, user(result('a'))],
      [unanswered(1, 'a'), orphan('messages.3.content.0', 'a')],
    ],
    ['a result of nothing', [user(result('a'))], [orphan('messages.0.content.0', 'a')]],
    [
      'two results of one call',
      [user(text()), model(call('a')), user(result('a'), result('a'))],
      [
        'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
      ],
    ],
    [
      'an id that was there before',
      [user(text()), model(call('a')), user(result('a')), model(call('a')), user(result('a'))],
      ['messages.3: `tool_use` ids must be unique'],
    ],
    [
      'half of what the server did itself',
      [user(text()), model(search('s'), text()), user(text()), model(found('s'), text()), user(text())],
      [
        'messages.1: `web_search` tool use with id `s` was found without a corresponding `web_search_tool_result` block',
        'messages.3.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: s. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.',
      ],
    ],
    [
      'thinking that leads to nothing',
      [user(text()), model(thought), user(text())],
      ['messages.1: The final block in an assistant message cannot be `thinking`.'],
    ],
    [
      'a beginning that is not a user’s',
      [model(text()), user(text())],
      ['messages: first message must use the "user" role'],
    ],
    [
      'an end that is the model’s',
      [user(text()), model(text()), system],
      [
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      ],
    ],
    ['empty texts', [user(text(''))], ['messages: text content blocks must be non-empty']],
    [
      'blank texts',
      [{ role: 'user', content: ' \n' }],
      ['messages: text content blocks must contain non-whitespace text'],
    ],
    [
      'empty messages',
      [user()],
      [
        'messages.0: all messages must have non-empty content except for the optional final assistant message',
      ],
    ],
    [
      'other roles',
      [{ role: 'tool', content: 'Seen.' }],
      [expect.stringContaining('messages.0.role'), expect.stringContaining('first')],
    ],
    [
      'input that is no object',
      [user(text()), model({ ...call('a'), input: '{}' }), user(result('a'))],
      ['messages.1.content.0.tool_use.input: Input should be a valid dictionary'],
    ],
    [
      'marks on thinking',
      [user(text()), model({ ...thought, cache_control: {} }, text()), user(text())],
      ['messages.1.content.0.thinking.cache_control: Extra inputs are not permitted'],
    ],
    [
      'results that the model gives itself',
      [user(text()), model(call('a'), result('a'), text()), user(result('a'))],
      [expect.stringContaining('blocks can only be in `user` messages'), orphan('messages.1.content.1', 'a')],
    ],
  ])('%s', (_, messages, words) => {
    expect(breaksOf(messages).map(({ message }) => message)).toEqual(words)
  })

  test('a compaction behind something, and a second signed one', () => {
    const signed = compaction({ signature: 'Eq' })
    expect(codes([user(text()), model(text(), compaction()), user(text())])).toEqual([
      'compaction_block_misplaced',
    ])
    expect(codes([user(text()), model(signed), user(text())])).toEqual(['compaction_block_misplaced'])
    expect(codes([model(signed), user(text()), model(signed), user(text())])).toEqual([
      'compaction_block_ambiguous',
    ])
  })

  test('prefill that ends in a blank, where it takes prefill', () => {
    expect(breaksOf([user(text()), model(text('So'))], true)).toEqual([])
    expect(breaksOf([user(text()), model(text('So '))], true)).toMatchObject([{ rule: 'prefill' }])
  })
})
