import { expect, test } from 'vitest'
import { tighten, type Compacted } from '../../src/compaction/compact.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { finish } from '../../src/conversation/source.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

test('a view is never empty, however little room is left', () => {
  // Everything was folded into a recap; the next overflow left no room for one, and nothing was sent at all.
  const subject = subjectOf(
    Array.from({ length: 30 }, (_, number) => ({
      role: 'tool',
      tool_call_id: 'call_1',
      content: `result ${number} `.repeat(40),
    })),
  )
  const cache = createMadeCache({ charsMax: 1_000_000 })
  let previous: Compaction | null = null
  for (const [budgetTokens, smallest] of [
    [120, false],
    [20, true],
  ] as const) {
    const tightened: Compacted | null = finish(
      tighten(subject, cache, {
        policy: policyOf(),
        previous,
        room: { budgetTokens, aroundTokens: 3 },
        keepRecent: 0,
        smallest,
        strict: false,
      }),
    )
    expect(tightened).not.toBeNull()
    expect(tightened === null ? [] : viewTexts(subject, tightened.view)).not.toEqual([])
    previous = tightened?.compaction ?? null
  }
})
