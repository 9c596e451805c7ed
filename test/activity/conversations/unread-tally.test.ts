import { expect, test } from 'vitest'
import { createUnreadTally, unreadOf } from '../../../src/activity/conversations/unread-tally.ts'
import { atSecond, usageRow } from '../rows.ts'

function unread(client: string, second: number) {
  return unreadOf(usageRow({ conversation: null, reason: 'stateful', client, time: atSecond(second) }))
}

test('requests of a kind are one row with their number, and the latest of them tells its time', () => {
  const tally = createUnreadTally()
  for (const second of [1, 9, 4]) tally.add(unread('a', second))
  tally.add(unread('b', 5))
  expect(tally.cards().map(({ client, requests, last_seen }) => [client, requests, last_seen])).toEqual([
    ['a', 3, atSecond(9)],
    ['b', 1, atSecond(5)],
  ])
})

test('a client that calls itself otherwise each time takes a hundred rows at most', () => {
  const tally = createUnreadTally()
  for (let number = 0; number < 500; number += 1) tally.add(unread(`client-${number}`, number % 60))
  expect(tally.cards()).toHaveLength(100)
})
