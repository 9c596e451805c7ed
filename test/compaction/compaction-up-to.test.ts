import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { compact } from '../support/compacted.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import {
  compactionUpTo,
  FOLD_VERSION,
  readCompaction,
  writeCompaction,
  type Compaction,
} from '../../src/compaction/compaction.ts'
import { finish } from '../../src/conversation/source.ts'
import { conversation } from '../support/arbitrary-conversation.ts'
import { policyOf, subjectOf } from '../support/subject.ts'
import { propertyRuns } from '../support/property-runs.ts'

const policies = fc.constantFrom(
  policyOf({ render: { at: 0.3 }, preview: { at: 0.3, threshold_tokens: 100 } }),
  policyOf({ clear: { keep_results: 1 } }),
  policyOf({ keep: { task: false }, limit: { turns: 3 } }),
)

/** The texts of the messages before `point` that stand in the view of a compaction, by their index. */
function textsBefore(
  messages: readonly object[],
  policy: ReturnType<typeof policyOf>,
  compaction: Compaction,
  point: number,
): ReadonlyMap<number, string> {
  const subject = subjectOf(messages)
  const cache = createMadeCache({ charsMax: 10_000_000 })
  const view = finish(viewUnder(subject, cache, { policy, compaction, strict: false }))
  const texts = new Map<number, string>()
  for (const { index, item } of view.messages) {
    if (index === null || index >= point) continue
    const message = subject.messages[index]
    const kept = message === undefined ? '' : subject.source.text(message.start, message.end)
    texts.set(index, item.kind === 'made' ? item.json : kept)
  }
  return texts
}

test('what lies before the point is treated as it was, whatever follows there now, and nothing behind it is', () => {
  let followed = 0
  fc.assert(
    fc.property(
      conversation,
      policies,
      fc.integer({ min: 1_500, max: 9_000 }),
      (messages, policy, budgetTokens) => {
        const room = { budgetTokens, aroundTokens: 40 }
        const subject = subjectOf(messages)
        const { compaction } = finish(
          compact(subject, createMadeCache({ charsMax: 10_000_000 }), {
            policy,
            newest: null,
            seenUntil: null,
            sharedUntil: null,
            room,
            differenceTokens: 0,
            strict: false,
            forced: true,
            prepared: null,
          }),
        )
        fc.pre(compaction !== null)
        const { systemCount, requestPoints } = subject.structure
        for (const point of requestPoints) {
          if (point <= systemCount) continue
          const within = compactionUpTo(compaction, point)
          if (within === null || within === compaction) continue
          followed += 1
          expect(within.point).toBe(point)
          expect(compactionUpTo(within, point)).toBe(within)
          expect(readCompaction(writeCompaction(within, systemCount), systemCount)).toEqual(within)
          const otherwise = [
            ...messages.slice(0, point),
            { role: 'assistant', content: 'Otherwise.' },
            { role: 'user', content: 'Go on, please.' },
          ]
          const before = textsBefore(messages, policy, compaction, point)
          expect(textsBefore(otherwise, policy, within, point)).toEqual(before)
          // Without what follows the treatment is the same: it rests on nothing there.
          expect(textsBefore(messages.slice(0, point), policy, within, point)).toEqual(before)
        }
      },
    ),
    { numRuns: propertyRuns(40) },
  )
  // What is never tried is not shown.
  expect(followed).toBeGreaterThan(40)
})

describe('a compaction', () => {
  const compaction: Compaction = {
    version: FOLD_VERSION,
    reason: 'trigger',
    point: 20,
    task: 1,
    latestUser: 18,
    reach: { render: 16, preview: 8, clear: 0 },
    fold: {
      frontier: 10,
      kept: [],
      restated: [],
      beforeTokensMax: 500,
      afterTokensMax: 0,
      systemTokensMax: 0,
      summaries: [],
      recapsBeside: false,
    },
    clips: [
      { kind: 'content', index: 12, of: 'kept', tokensMax: 100 },
      { kind: 'content', index: 17, of: 'kept', tokensMax: 100 },
    ],
    thoughts: [11, 16],
  }

  test('that lies before the point as a whole is the same', () => {
    expect(compactionUpTo(compaction, 20)).toBe(compaction)
    expect(compactionUpTo(compaction, 25)).toBe(compaction)
  })

  test('reaches and clips up to the point only', () => {
    expect(compactionUpTo(compaction, 14)).toEqual({
      ...compaction,
      point: 14,
      latestUser: -1,
      reach: { render: 14, preview: 8, clear: 0 },
      clips: [{ kind: 'content', index: 12, of: 'kept', tokensMax: 100 }],
      thoughts: [11],
    })
  })

  test('that folded what lies behind the point, or pinned it as the task, is no compaction of the conversation', () => {
    expect(compactionUpTo(compaction, 10)).not.toBeNull()
    expect(compactionUpTo(compaction, 9)).toBeNull()
    expect(compactionUpTo({ ...compaction, fold: null, task: 14 }, 14)).toBeNull()
  })

  test('of which nothing lies before the point is none', () => {
    const clipsOnly = { ...compaction, fold: null, reach: { render: 0, preview: 0, clear: 0 } }
    expect(compactionUpTo(clipsOnly, 12)).toBeNull()
    expect(compactionUpTo(clipsOnly, 13)?.clips).toHaveLength(1)
  })
})
