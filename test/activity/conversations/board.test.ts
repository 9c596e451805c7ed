import { describe, expect, test } from 'vitest'
import { createBoard, type Board } from '../../../src/activity/conversations/board.ts'
import { atSecond, idOf, usageRow } from '../rows.ts'

function ids(board: Board): readonly string[] {
  return board.cards().map(({ id }) => id)
}

describe('the list', () => {
  test('has the latest conversation first, whoever is looked at, and equal ones by their id', () => {
    const board = createBoard()
    for (const number of [3, 1, 2]) {
      board.add(usageRow({ conversation: idOf(number), time: atSecond(number === 1 ? 9 : 1) }), true)
    }
    expect(ids(board)).toEqual([idOf(1), idOf(2), idOf(3)])
    board.card(idOf(3))
    board.rows(idOf(3))
    expect(ids(board)).toEqual([idOf(1), idOf(2), idOf(3)])
    board.begin(usageRow({ conversation: idOf(3), time: atSecond(10) }))
    expect(ids(board)).toEqual([idOf(3), idOf(1), idOf(2)])
  })

  test('has no requests of which nobody knows the conversation', () => {
    const board = createBoard()
    board.begin(usageRow({ conversation: null }))
    board.add(usageRow({ conversation: null }), true)
    expect(board.cards()).toEqual([])
  })

  test('says of each what its latest request was like, and what all of them come to', () => {
    const board = createBoard()
    const first = { time: atSecond(1), label: 'the label', beyond_window: true, compaction: 'trigger' }
    board.add(usageRow(first), true)
    board.add(usageRow({ time: atSecond(2), beyond_window: false, model: 'another', parent: idOf(7) }), true)
    expect(board.card(idOf(1))).toMatchObject({
      requests: 2,
      compactions: 1,
      beyond_window: 1,
      first_seen: atSecond(1),
      last_seen: atSecond(2),
      model: 'another',
      parent: idOf(7),
      // A label holds until there is another.
      label: 'the label',
      answering: false,
    })
    expect(board.card(idOf(2))).toBeNull()
    expect(board.rows(idOf(2))).toEqual([])
  })
})

describe('a request that is being answered', () => {
  test('shows at once, and until the last of them has ended', () => {
    const board = createBoard()
    const rows = [usageRow({ time: atSecond(1) }), usageRow({ time: atSecond(2) })] as const
    board.begin(rows[0])
    board.begin(rows[1])
    expect(board.card(idOf(1))).toMatchObject({ answering: true, requests: 0, last_seen: atSecond(2) })
    board.add(rows[1], true)
    expect(board.card(idOf(1))).toMatchObject({ answering: true, requests: 1 })
    board.add(rows[0], true)
    expect(board.card(idOf(1))).toMatchObject({ answering: false, requests: 2, last_seen: atSecond(2) })
  })

  test('is not taken for ended by those of other processes', () => {
    const board = createBoard()
    board.begin(usageRow({ time: atSecond(1) }))
    board.add(usageRow({ process: 'there' }), false)
    expect(board.card(idOf(1))).toMatchObject({ answering: true, requests: 1 })
  })

  test('and ends when its conversation is forgotten already is none too many', () => {
    const board = createBoard()
    const row = usageRow()
    board.begin(row)
    expect(board.forget(idOf(1))).toBe(true)
    board.add(row, true)
    board.begin(row)
    expect(board.card(idOf(1))).toMatchObject({ answering: true })
  })
})

describe('rows of other processes', () => {
  test('come late and find their place', () => {
    const board = createBoard()
    board.add(usageRow({ time: atSecond(5), model: 'late' }), true)
    board.add(usageRow({ time: atSecond(1), model: 'early' }), false)
    board.add(usageRow({ time: atSecond(3), model: 'between' }), false)
    expect(board.rows(idOf(1)).map(({ model }) => model)).toEqual(['early', 'between', 'late'])
    expect(board.card(idOf(1))).toMatchObject({
      model: 'late',
      first_seen: atSecond(1),
      last_seen: atSecond(5),
    })
  })

  test('of one time keep their order', () => {
    const board = createBoard()
    for (const model of ['a', 'b', 'c']) board.add(usageRow({ time: atSecond(5), model }), true)
    board.add(usageRow({ time: atSecond(1), model: 'early' }), false)
    expect(board.rows(idOf(1)).map(({ model }) => model)).toEqual(['early', 'a', 'b', 'c'])
  })
})

describe('what is kept has a bound', () => {
  test('a thousand conversations, of which the longest unseen go', () => {
    const board = createBoard()
    for (let number = 0; number < 1_010; number += 1) {
      board.add(usageRow({ conversation: idOf(number), time: atSecond(number) }), true)
    }
    expect(board.cards()).toHaveLength(1_000)
    expect(board.card(idOf(9))).toBeNull()
    expect(board.card(idOf(10))).not.toBeNull()
  })

  test('five hundred rows of one, the latest; its counts go on', () => {
    const board = createBoard()
    for (let number = 0; number < 700; number += 1) board.add(usageRow({ time: atSecond(number) }), true)
    const rows = board.rows(idOf(1))
    expect(rows.length).toBeLessThanOrEqual(500)
    expect(rows.length).toBeGreaterThanOrEqual(450)
    expect(rows.at(-1)?.time).toBe(atSecond(699))
    expect(board.card(idOf(1))).toMatchObject({ requests: 700, first_seen: atSecond(0) })
  })

  // The cache does not ask again for the size of a value that it holds already: each conversation counted as one row, and
  // a thousand of five hundred rows were a quarter of a gigabyte.
  test('twenty thousand rows of all together', () => {
    const board = createBoard()
    for (let number = 0; number < 60; number += 1) {
      for (let second = 0; second < 400; second += 1) {
        board.add(usageRow({ conversation: idOf(number), time: atSecond(second) }), true)
      }
    }
    const held = board.cards().reduce((sum, { id }) => sum + board.rows(id).length, 0)
    expect(held).toBeLessThanOrEqual(20_000)
    expect(held).toBeGreaterThan(19_000)
    expect(board.card(idOf(59))).toMatchObject({ requests: 400 })
  })
})
