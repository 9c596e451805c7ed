import { describe, expect, test } from 'vitest'
import { treesOf } from '../../../src/admin/page/branches.ts'
import { clientWords } from '../../../src/admin/page/client-words.ts'
import { requestWords } from '../../../src/admin/page/request-words.ts'
import { before, cardWith } from './made-up.ts'

function told(action: string, reason: string | null = null, status: number | null = 200) {
  return requestWords({ action, reason, status })
}

/** The ids of each tree, its root first. */
function treeIds(cards: Parameters<typeof treesOf>[0]): readonly (readonly string[])[] {
  return treesOf(cards).map(({ root, branches }) => [root.id, ...branches.map(({ id }) => id)])
}

test.each([
  ['claude-cli/2.1.332 (external, cli)', 'Claude Code 2.1.332'],
  ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)', 'Codex 0.169'],
  ['codex_cli_rs/0.169.1', 'Codex 0.169.1'],
  ['OpenAI/Python 2.8.0', 'OpenAI Python 2.8'],
  ['AsyncOpenAI/Python 1.109.1', 'OpenAI Python 1.109.1'],
  ['OpenAI/JS 7.55.0', 'OpenAI JavaScript 7.55'],
  ['ai-sdk/openai/3.0.1 runtime/node.js/24', 'AI SDK 3.0.1'],
  ['opencode/1.4.2 ai-sdk/provider-utils/4.0.1', 'opencode 1.4.2'],
  ['my-agent/3 (beta)', 'my-agent 3'],
  ['node', 'node'],
  ['/', '/'],
  ['', null],
  [null, null],
])('a client that calls itself %j is %j', (userAgent, words) => {
  expect(clientWords(userAgent)).toBe(words)
})

describe('how a request went', () => {
  test('says of one that was not read what to change', () => {
    const stateful = requestWords({
      action: 'relayed',
      reason: 'stateful',
      status: 200,
      dialect: 'responses',
    })
    expect(stateful.words).toBe('sent unread: its history lies at the server')
    expect(stateful.advice).toContain('store: false')
    expect(stateful.advice).not.toContain('thread')
    expect(requestWords({ action: 'relayed', reason: 'path', status: null, path: '/api/chat' })).toEqual({
      words: 'sent unread: /api/chat is not compacted',
      advice: 'have the client use /chat/completions, /responses or /messages',
      level: 'calm',
    })
  })

  test('is calm where the client got its answer, and failed where it did not', () => {
    expect(
      ['relayed', 'compacted', 'recovered', 'bypassed', 'left'].map((action) => told(action).level),
    ).toEqual(Array.from({ length: 5 }, () => 'calm'))
    expect(told('restored', 'original').level).toBe('stepped-back')
    expect(told('compacted', null, 429)).toMatchObject({
      words: 'compacted; the upstream answered 429',
      level: 'failed',
    })
    expect(told('refused', 'queue_full', 503)).toMatchObject({
      words: 'refused: queue_full',
      level: 'failed',
    })
    expect(told('failed-open', 'reading').level).toBe('failed')
    const broken = requestWords({ action: 'relayed', reason: null, status: 200, outcome: 'broken-off' })
    expect(broken).toMatchObject({ words: 'sent as it came; the answer broke off', level: 'failed' })
  })

  test('that another version wrote is told by its own words', () => {
    expect(told('folded', 'by-hand').words).toBe('folded: by-hand')
    expect(told('relayed', 'by-hand').words).toBe('sent as it came: by-hand')
    expect(told('toString').words).toBe('toString')
  })
})

describe('branches', () => {
  test('stand under their root, also those of branches, and the list goes by whoever was used last', () => {
    const cards = [
      cardWith({ id: 'other', last_seen: before(20) }),
      cardWith({ id: 'root', last_seen: before(90) }),
      cardWith({ id: 'old', parent: 'root', last_seen: before(40) }),
      cardWith({ id: 'new', parent: 'old', last_seen: before(5) }),
    ]
    expect(treeIds(cards)).toEqual([['root', 'new', 'old'], ['other']])
  })

  test('stand alone where their root is no longer kept, and in a circle nobody is lost', () => {
    const circle = [cardWith({ id: 'a', parent: 'b' }), cardWith({ id: 'b', parent: 'a' })]
    expect(treeIds([cardWith({ id: 'c', parent: 'gone' })])).toEqual([['c']])
    expect(treeIds(circle).flat().toSorted()).toEqual(['a', 'b'])
  })
})
