import { expect, test } from 'vitest'
import { openBlockCounter } from '../../../support/messages/block-tokens.ts'
import { entryOrigins } from '../lived/entry-origins.ts'
import { openHistory } from '../lived/history.ts'
import { blockReader, entriesOf, livedEntries, MARK } from './read-block.ts'

// The replay runs outside of the normal tests; this sees to it that it knows blocks again.

const readEntry = blockReader(openBlockCounter((text) => text.length))

const thought = '{"type": "thinking","thinking":"Hm.","signature":"Eq1"}'
const call = (id: string) => `{"type": "tool_use","id":"${id}","name":"find","input":{}}`
const result = (id: string) => `{"type": "tool_result","tool_use_id":"${id}","content":"In the middle."}`
const task = '{"type": "text","text":"Where does it begin?"}'
const history = openHistory(readEntry)
history.take(
  livedEntries([
    { role: 'user', blocks: [task, task], reply: null },
    { role: 'assistant', blocks: [thought, call('a'), call('b')], reply: 1 },
    { role: 'user', blocks: [result('a'), result('b'), task], reply: null },
  ]),
)

const message = (role: string, ...blocks: string[]) => `{"role":"${role}","content":[${blocks.join(',')}]}`
const originsOf = (...messages: string[]) =>
  entryOrigins(history, messages.flatMap(entriesOf), readEntry).map((origin) =>
    'index' in origin ? [origin.kind, origin.index] : origin.kind,
  )

test('blocks are known again where they stand in their messages, whatever marks are on them', () => {
  expect(history.entries.map(({ read }) => read.kind)).toEqual([
    'user',
    'thought',
    'other',
    'other',
    'other',
    'other',
    'user',
  ])
  const marked = `${result('b').slice(0, -1)},${MARK}}`
  expect(
    originsOf(
      message('user', task, task),
      message('assistant', call('a'), call('b')),
      message('user', result('a'), marked, task),
    ),
  ).toEqual([0, 2, 3, 4, 5, 6].map((index) => ['kept', index]))
})

test('what was cut is known by its ids, and what was made or changed around a block is no block of the client’s', () => {
  const cut = result('b').replace('In the middle.', 'In …')
  const recap = '{"type":"text","text":"<conversation-recap>It was sought.</conversation-recap>"}'
  expect(originsOf(message('user', task, task), message('user', recap), message('user', cut))).toEqual([
    ['kept', 0],
    'recap',
    ['derived', 5],
  ])
  expect(originsOf(message('user', '{"type":"text","text":"Go on."}'), message('assistant', task))).toEqual([
    ['derived', 0],
    'stray',
  ])
  // The same block, but the client wrote its message in another way.
  expect(originsOf(`{"role": "assistant","content":[${call('a')}]}`)).toEqual([['derived', 2]])
})
