import { expect, test } from 'vitest'
import type { ShownMessage } from '../../../src/activity/conversations/held-content.ts'
import { messageRuns } from '../../../src/admin/page/message-runs.ts'
import { agentMessages, messageWith } from './made-up.ts'

function folded(index: number): ShownMessage {
  return messageWith({ index, treatment: 'folded', sentTokens: 0 })
}

function summaryOf(start: number, end: number): ShownMessage {
  return messageWith({ index: null, treatment: 'summary', receivedTokens: 0, standsFor: { start, end } })
}

/** A run in short: what it is and which messages it holds. */
function inShort(messages: readonly ShownMessage[]) {
  return messageRuns(messages).map((run) =>
    run.kind === 'single' ? run.message.index : [run.kind, ...run.messages.map(({ index }) => index)],
  )
}

test('what was folded stands beside what stands for it, wherever the two are listed', () => {
  const runs = [['folded', 1, 2, 3]]
  expect(inShort([summaryOf(1, 4), folded(1), folded(2), folded(3)])).toEqual(runs)
  expect(inShort([folded(1), folded(2), folded(3), summaryOf(1, 4)])).toEqual(runs)
})

test('two summaries have their own messages each, around the question between them', () => {
  const question = messageWith({ index: 3, pinned: 'latest-user' })
  const messages = [summaryOf(1, 3), folded(1), folded(2), question, summaryOf(4, 6), folded(4), folded(5)]
  expect(inShort(messages)).toEqual([['folded', 1, 2], 3, ['folded', 4, 5]])
})

test('a pinned message within the range of a summary stays by itself', () => {
  const task = messageWith({ index: 2, pinned: 'task' })
  expect(inShort([summaryOf(1, 4), folded(1), task, folded(3)])).toEqual([['folded', 1, 3], 2])
})

test('a folded message that nothing stands for is not lost', () => {
  expect(inShort([folded(7)])).toEqual([7])
})

test('a summary whose messages came earlier is not lost', () => {
  expect(inShort([summaryOf(1, 4), messageWith({ index: 4 })])).toEqual([['folded'], 4])
})

test('long stretches of kept messages are one, short ones are not, and what one looks for is never in one', () => {
  const kept = Array.from({ length: 9 }, (_, index) =>
    messageWith({ index, pinned: index === 0 ? 'system' : index === 5 ? 'latest-user' : null }),
  )
  expect(inShort(kept)).toEqual([0, ['kept', 1, 2, 3, 4], 5, 6, 7, 8])
})

test('every message is in exactly one place', () => {
  const messages = agentMessages()
  const shown = messageRuns(messages).flatMap((run) =>
    run.kind === 'single'
      ? [run.message]
      : run.kind === 'kept'
        ? run.messages
        : [run.standIn, ...run.messages],
  )
  expect(shown).toHaveLength(messages.length)
  expect(new Set(shown)).toEqual(new Set(messages))
})
