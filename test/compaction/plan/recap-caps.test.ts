import { describe, expect, test } from 'vitest'
import { countThirds, policyOf } from '../../support/subject.ts'
import { assistant, prose, round, send, sendGrowing, system, user } from '../sending.ts'

const recapOpening = '<conversation-recap>'

/** The contents of the recaps that each compaction of a growing conversation writes. */
function recapsOfCompactions(conversation: readonly object[], budgetTokens: number): string[][] {
  return sendGrowing(conversation, { budgetTokens, policy: policyOf(defaults) })
    .filter(({ isCompacted }) => isCompacted)
    .map(({ contents }) => contents.filter((content) => content.startsWith(recapOpening)))
}

/** A result of so many lines, of which no two are alike. */
function listing(prefix: string, step: number, lineCount: number): string {
  const lines = Array.from(
    { length: lineCount },
    (_, line) => `line ${line} of ${prefix}_${step}_${line}.ts is new`,
  )
  return lines.join('\n')
}

const defaults = {
  trigger: 1,
  target: 0.7,
  keep: { recent_messages: 4 },
  recap: { max_tokens: 8192 },
  clear: { enabled: false },
  preview: { threshold_tokens: 100_000 },
}

describe('the room of recaps', () => {
  // A reminder that a client repeats in every turn was given room for each of its copies, and names filled it.
  test('holds a system message that is repeated once', () => {
    const reminder = system(prose('Remember the rules', 100))
    const talk = Array.from({ length: 60 }, (_, index) => [
      reminder,
      ...round(`a${index}`, prose(`result_${index}.ts in src/part_${index}`, 200)),
    ])
    const policy = policyOf({ recap: { max_tokens: 500 }, clear: { enabled: false } })
    const { contents } = send([user('The task.'), ...talk.flat()], { budgetTokens: 12_000, policy })
    const recap = contents.find((content) => content.startsWith(recapOpening)) ?? ''
    expect(recap.split('Remember the rules')).toHaveLength(2)
    expect(countThirds(recap)).toBeLessThanOrEqual(500 + 110)
  })

  // It went up and down with the tail of each compaction, and lost the provider's cache each time.
  test.each([8_000, 18_000])(
    'leaves the recap before the latest user message as it is while a turn goes on (%d tokens)',
    (budgetTokens) => {
      const lineCounts = Array.from({ length: 80 }, (_, index) => 2 + ((index * index * 37) % 101))
      const conversation = [
        user('The task.'),
        ...Array.from({ length: 30 }, (_, index) => round(`a${index}`, listing('a', index, 30))).flat(),
        assistant('Done.'),
        user('Go on.'),
        ...lineCounts.flatMap((count, index) => round(`b${index}`, listing('b', index, count))),
      ]
      const inSameTurn = recapsOfCompactions(conversation, budgetTokens).filter(
        (recaps) => recaps.length === 2,
      )
      expect(inSameTurn.length).toBeGreaterThan(4)
      const before = inSameTurn.map(([first]) => first)
      const changes = before.filter((recap, index) => index > 0 && recap !== before[index - 1])
      expect(changes.length).toBeLessThanOrEqual(2)
    },
  )
})
