import { expect, test } from 'vitest'
import type { Compaction } from '../../src/compaction/compaction.ts'
import { createMadeCache } from '../../src/compaction/made-cache.ts'
import { compactedUnder } from '../support/compacted.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

/**
 * So that a first sight takes no minute, only 32 recaps of a walk through the past were once weighed as they are. A coding
 * agent with fifty compactions behind it then was compacted elsewhere after its records had gone (P6).
 */
test('behind forty compactions the past is derived without records as it went with them', () => {
  const policy = policyOf()
  const messages: object[] = [{ role: 'user', content: 'Go through the queue, part by part.' }]
  const made = new Set<string>()
  const cache = createMadeCache({ charsMax: 10_000_000 })
  let newest = null as Compaction | null
  for (let round = 1; made.size < 42; round += 1) {
    messages.push(...roundOf(round))
    newest = compactedUnder(subjectOf(messages), {
      policy,
      budgetTokens: 1_600,
      newest,
      seenUntil: newest?.point ?? 0,
      cache,
    }).compaction
    if (newest !== null) made.add(JSON.stringify(newest))
  }
  const subject = subjectOf(messages)
  const warm = compactedUnder(subject, { policy, budgetTokens: 1_600, newest, seenUntil: messages.length })
  const cold = compactedUnder(subject, { policy, budgetTokens: 1_600 })
  expect(viewTexts(subject, cold.view)).toEqual(viewTexts(subject, warm.view))
})

function roundOf(round: number): object[] {
  const id = `call_${round}`
  const call = { name: 'read_file', arguments: JSON.stringify({ path: `src/queue/part${round}.ts` }) }
  const lines = Array.from(
    { length: (round * 7) % 40 },
    (_, line) => `export const part${round}x${line} = ${line}`,
  )
  return [
    {
      role: 'assistant',
      content: `Part ${round} next.`,
      tool_calls: [{ id, type: 'function', function: call }],
    },
    { role: 'tool', tool_call_id: id, content: lines.join('\n') },
  ]
}
