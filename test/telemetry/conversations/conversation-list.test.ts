import { describe, expect, test } from 'vitest'
import {
  type ConversationList,
  createConversationList,
} from '../../../src/telemetry/conversations/conversation-list.ts'
import { createUnreadTally } from '../../../src/telemetry/conversations/totals.ts'
import { atSecond, idOf, usageRow } from '../rows.ts'

const ids = (list: ConversationList): readonly string[] => list.cards().map(({ id }) => id)

describe('the list', () => {
  test('has the latest conversation first, whoever is looked at, and equal ones by their id', () => {
    const list = createConversationList()
    for (const number of [3, 1, 2]) {
      list.add(usageRow({ conversation: idOf(number), time: atSecond(number === 1 ? 9 : 1) }), true)
    }
    expect(ids(list)).toEqual([idOf(1), idOf(2), idOf(3)])
    list.card(idOf(3))
    list.rows(idOf(3))
    expect(ids(list)).toEqual([idOf(1), idOf(2), idOf(3)])
    list.begin(usageRow({ conversation: idOf(3), time: atSecond(10) }))
    expect(ids(list)).toEqual([idOf(3), idOf(1), idOf(2)])
  })
})

describe('a request that is being answered', () => {
  test('shows at once, and until the last of them has ended', () => {
    const list = createConversationList()
    const rows = [usageRow({ time: atSecond(1) }), usageRow({ time: atSecond(2) })] as const
    list.begin(rows[0])
    list.begin(rows[1])
    expect(list.card(idOf(1))).toMatchObject({ answering: true, requests: 0, last_seen: atSecond(2) })
    list.add(rows[1], true)
    expect(list.card(idOf(1))).toMatchObject({ answering: true, requests: 1 })
    list.add(rows[0], true)
    expect(list.card(idOf(1))).toMatchObject({ answering: false, requests: 2, last_seen: atSecond(2) })
  })

  test('is not taken for ended by those of other processes', () => {
    const list = createConversationList()
    list.begin(usageRow({ time: atSecond(1) }))
    list.add(usageRow({ process: 'there' }), false)
    expect(list.card(idOf(1))).toMatchObject({ answering: true, requests: 1 })
  })

  test('and ends when its conversation is forgotten already is none too many', () => {
    const list = createConversationList()
    const row = usageRow()
    list.begin(row)
    expect(list.forget(idOf(1))).toBe(true)
    list.add(row, true)
    list.begin(row)
    expect(list.card(idOf(1))).toMatchObject({ answering: true })
  })
})

describe('rows of other processes', () => {
  test('come late and find their place; those of one time keep their order', () => {
    const list = createConversationList()
    list.add(usageRow({ time: atSecond(5), model: 'late' }), true)
    list.add(usageRow({ time: atSecond(1), model: 'early' }), false)
    list.add(usageRow({ time: atSecond(3), model: 'between' }), false)
    expect(list.rows(idOf(1)).map(({ model }) => model)).toEqual(['early', 'between', 'late'])
    const seen = { first_seen: atSecond(1), last_seen: atSecond(5) }
    expect(list.card(idOf(1))).toMatchObject({ model: 'late', ...seen })
    for (const model of ['a', 'b', 'c']) list.add(usageRow({ time: atSecond(5), model }), true)
    list.add(usageRow({ time: atSecond(2), model: 'second' }), false)
    const models = ['early', 'second', 'between', 'late', 'a', 'b', 'c']
    expect(list.rows(idOf(1)).map(({ model }) => model)).toEqual(models)
  })
})

describe('what is kept has a bound', () => {
  test('a thousand conversations, of which the longest unseen go', () => {
    const list = createConversationList()
    const row = usageRow()
    for (let number = 0; number < 1_010; number += 1)
      list.add({ ...row, conversation: idOf(number), time: atSecond(number) }, true)
    expect(list.cards()).toHaveLength(1_000)
    expect(list.card(idOf(9))).toBeNull()
    expect(list.card(idOf(10))).not.toBeNull()
  })

  test('five hundred rows of one, the latest; its counts go on', () => {
    const list = createConversationList()
    for (let number = 0; number < 700; number += 1) list.add(usageRow({ time: atSecond(number) }), true)
    const rows = list.rows(idOf(1))
    expect(rows.length).toBeLessThanOrEqual(500)
    expect(rows.length).toBeGreaterThanOrEqual(450)
    expect(rows.at(-1)?.time).toBe(atSecond(699))
    expect(list.card(idOf(1))).toMatchObject({ requests: 700, first_seen: atSecond(0) })
  })

  // The cache does not ask again for the size of a value that it holds already: each conversation counted as one row, and
  // a thousand of five hundred rows were a quarter of a gigabyte.
  test('twenty thousand rows of all together', () => {
    const list = createConversationList()
    const row = usageRow()
    for (let number = 0; number < 60; number += 1) {
      for (let second = 0; second < 400; second += 1) list.add({ ...row, conversation: idOf(number) }, true)
    }
    const held = list.cards().reduce((sum, { id }) => sum + list.rows(id).length, 0)
    expect(held).toBeLessThanOrEqual(20_000)
    expect(held).toBeGreaterThan(19_000)
    expect(list.card(idOf(59))).toMatchObject({ requests: 400 })
  })
})

const unread = (client: string, second: number) =>
  usageRow({ conversation: null, reason: 'stateful', client, time: atSecond(second) })

test('requests of a kind are one row with their number, and the latest of them tells its time', () => {
  const tally = createUnreadTally()
  for (const second of [1, 9, 4]) tally.addRow(unread('a', second))
  tally.addRow(unread('b', 5))
  expect(tally.cards()).toMatchObject([
    { client: 'a', requests: 3, last_seen: atSecond(9) },
    { client: 'b', requests: 1, last_seen: atSecond(5) },
  ])
})

test('a client that calls itself otherwise each time takes a hundred rows at most', () => {
  const tally = createUnreadTally()
  for (let number = 0; number < 500; number += 1) tally.addRow(unread(`client-${number}`, number % 60))
  expect(tally.cards()).toHaveLength(100)
})
