import { describe, expect, test } from 'vitest'
import {
  conversationList,
  type ConversationQuery,
  findConversations,
  listAddress,
} from '../../../src/admin/page/conversation-list.ts'
import { times } from '../../support/times.ts'
import { cardWith, now, visibleText } from './made-up.ts'

const agent = (id: string, more: object = {}) =>
  cardWith({ id, parent: null, label: null, client: 'claude-cli/2.1', requests: 12, compactions: 3, ...more })
const single = (id: string, more: object = {}) =>
  agent(id, { client: 'OpenAI/Python 1.0', requests: 1, compactions: 0, answering: false, ...more })

// Two hundred single calls and four agents: the first agent stood in row 86 of a page nine thousand pixels high.
const busy = [
  ...times(200, (number) =>
    single(`single-${number}`, { last_seen: new Date(now.getTime() - number * 1_000).toISOString() }),
  ),
  ...times(4, (number) =>
    agent(`agent-${number}`, { last_seen: new Date(now.getTime() - 7_200_000 - number).toISOString() }),
  ),
]

const ids = (query: ConversationQuery, cards = busy) =>
  findConversations(cards, query, now).trees.map(({ root }) => root.id)

describe('the list of conversations', () => {
  test('has agents first, and single requests as one line of their client', () => {
    const { trees, single: lines, count } = findConversations(busy, {}, now)
    expect([trees.length, count]).toEqual([4, 4])
    expect([...lines].map(([client, cards]) => [client, cards.length])).toEqual([['OpenAI Python 1.0', 200]])
    expect(visibleText(conversationList(busy, {}, now).toString())).toMatch(
      /Single requests .*OpenAI Python 1\.0 200/s,
    )
  })

  test('has what was compacted before what was not, and the latest first if that is asked for', () => {
    const cards = [
      agent('new', { compactions: 0, last_seen: now.toISOString() }),
      agent('old', { last_seen: '2026-01-01T00:00:00Z' }),
    ]
    expect(ids({}, cards)).toEqual(['old', 'new'])
    expect(ids({ order: 'latest' }, cards)).toEqual(['new', 'old'])
  })

  test('comes in pages of fifty, and a page that is not there is the last', () => {
    expect(ids({ show: 'all', page: '2' })).toHaveLength(50)
    expect(ids({ show: 'all', page: '99' })).toHaveLength(4)
    expect(ids({ show: 'all', page: 'none' })).toEqual(ids({ show: 'all' }))
    const text = visibleText(conversationList(busy, { show: 'all', page: '2' }, now).toString())
    expect(text).toMatch(/page 2 of 5, 204 conversations before next/)
  })

  test.each([
    [{ q: 'CLAUDE agent-2' }, ['agent-2']],
    [{ client: 'Claude Code 2.1', model: 'no such' }, []],
    [{ since: '1h' }, []],
    [{ since: '1d', q: 'agent' }, ['agent-0', 'agent-1', 'agent-2', 'agent-3']],
    [{ action: 'compacted', profile: 'nobody' }, []],
    [{ unknown: 'word', since: 'never' }, ['agent-0', 'agent-1', 'agent-2', 'agent-3']],
  ] satisfies [ConversationQuery, string[]][])('answers %j', (query, expected) => {
    expect(ids(query)).toEqual(expected)
  })

  test('finds a conversation by one of its branches, and what failed by its latest request', () => {
    const cards = [
      agent('root'),
      agent('branch', { parent: 'root', label: 'explorer' }),
      agent('bad', { status: 500 }),
    ]
    expect(ids({ q: 'explorer' }, cards)).toEqual(['root'])
    expect(ids({ action: 'failed' }, cards)).toEqual(['bad'])
  })

  test('finds single requests of a client without a name, and no others', () => {
    const cards = [single('named'), single('nameless', { client: null })]
    const link =
      /href="([^"]*)"[^>]*>\s*a client without a name/.exec(
        conversationList(cards, {}, now).toString(),
      )?.[1] ?? ''
    const asked = Object.fromEntries(new URL(link.replaceAll('&amp;', '&'), 'http://x').searchParams)
    expect(ids(asked, cards)).toEqual(['nameless'])
  })

  test('keeps what else is asked for in its links, and lets nobody write into the page', () => {
    expect(listAddress({ q: 'a&b', page: '3' }, { client: 'x' })).toBe('/?q=a%26b&client=x')
    expect(listAddress({ client: 'x' }, { client: '' })).toBe('/')
    const page = conversationList(busy, { q: '"><script>alert(1)</script>' }, now).toString()
    expect(page).not.toContain('<script>')
  })
})
