import { describe, expect, test } from 'vitest'
import { profileOf, historyOf } from '../../support/subject.ts'
import {
  assistant,
  isRecap,
  prose,
  round,
  rounds,
  send,
  sendGrowing,
  user,
  type SendOptions,
  type Sent,
} from '../sending.ts'
import { times } from '../../support/times.ts'

const task = user('The task.')

const said = (index: number): string => `Step ${index}: I look at part ${index} now.`

/** What is sent at the first request that makes a compaction, of a conversation that grows by these pieces. */
function firstCompaction(pieces: readonly object[][], options: SendOptions): Sent {
  for (let count = 1; count <= pieces.length; count += 1) {
    const sent = send([task, ...pieces.slice(0, count).flat()], options)
    if (sent.compaction !== null) return sent
  }
  throw new Error('no compaction was made')
}

const passesOver = (messages: readonly object[], profile: object) =>
  send([task, ...messages, ...rounds('a', 6, 20)], {
    budgetTokens: 9000,
    profile: profileOf({ fold: { at: 0.99 }, ...profile }),
  }).passes

const roundPieces = times(30, (index) => round(`b${index}`, prose(`b${index}`, 300)))

describe('a compaction', () => {
  test('goes no further than its target asks, over the oldest messages first', () => {
    const profile = profileOf({ fold: { at: 0.99 } })
    const { compaction, contents, tokens, passes } = firstCompaction(roundPieces, {
      budgetTokens: 10_000,
      profile,
    })
    expect(compaction).toMatchObject({ reason: 'trigger', fold: null, clips: [] })
    expect(passes).toEqual(['clear'])
    const cleared = contents.map((content) => content.startsWith('[cleared: '))
    const last = cleared.lastIndexOf(true)
    expect(cleared.slice(2, last + 1).every((isCleared, index) => index % 2 === 1 || isCleared)).toBe(true)
    expect(tokens).toBeLessThanOrEqual(5010)
    // One result less would not have been enough.
    expect(tokens + 300).toBeGreaterThan(5010)
  })

  test('folds no more than its target asks', () => {
    const talk = times(60, (index) => [assistant(prose(`a${index}`, 160)), user(prose(`q${index}`, 40))])
    const { compaction, tokens } = firstCompaction(talk, { budgetTokens: 13_000 })
    expect(compaction?.fold).not.toBeNull()
    expect(tokens).toBeLessThanOrEqual(6530)
    // The recap is planned with its cap; one more turn would have been too much.
    expect(tokens).toBeGreaterThan(6530 - 1024 - 2 * 208)
  })

  test('takes the cheapest pass that is enough, and leaves alone what a pass that is off would do', () => {
    const log = 'compiling\r'.repeat(400) + 'compiled'
    const logs = times(6, (index) => round(`l${index}`, log, 'make')).flat()
    expect(passesOver(logs, {})).toEqual(['render'])
    expect(passesOver(rounds('f', 3, 2500), { clear: { enabled: false } })).toEqual(['preview'])
    expect(passesOver(logs, { render: { enabled: false }, clear: { keep_results: 1 } })).toEqual(['clear'])
  })

  // A fold was made as soon as results were cleared, so that a recap could tell what they had said: it cost the agent its
  // own words.
  test('folds nothing that the agent said or called while clearing results is enough', () => {
    const pieces = times(60, (index) => {
      const [call, result] = round(`b${index}`, prose(`b${index}`, 300))
      return [{ ...call, content: said(index) }, result]
    })
    const requests = sendGrowing([task, ...pieces.flat()], { budgetTokens: 12_000 })
    const compacted = requests.filter(({ isCompacted }) => isCompacted)
    expect(compacted.length).toBeGreaterThan(2)
    for (const { passes, messages, contents } of compacted) {
      expect(passes).toEqual(['clear'])
      const own = messages.flatMap(({ role }, index) => (role === 'assistant' ? [contents[index]] : []))
      expect(own).toEqual(times(own.length, said))
    }
    expect(compacted.at(-1)?.messages.length).toBeGreaterThan(80)
  })

  test('folds once the agent’s own words are too much', () => {
    const pieces = times(40, (index) => {
      const [call, result] = round(`b${index}`, prose(`b${index}`, 60))
      return [{ ...call, content: prose(`thought ${index}`, 300) }, result]
    })
    const { passes, contents } = firstCompaction(pieces, { budgetTokens: 10_000 })
    expect(passes).toContain('fold')
    expect(contents.find(isRecap)).toContain('\nWhat was said and done, oldest first:\n- thought')
  })

  test('keeps of the newest messages what takes no more than half of the room', () => {
    const conversation = [task, ...rounds('a', 30, 400)]
    const profile = profileOf({ keep: { recent_messages: 40 }, clear: { keep_results: 0 } })
    const { compaction } = send(conversation, { budgetTokens: 8000, profile, forced: true })
    const { sizes } = historyOf(conversation)
    const from = Math.max(compaction?.fold?.frontier ?? 0, 1 + (compaction?.cleared.at(-1) ?? -1))
    const kept = sizes.slice(from).reduce((sum, size) => sum + size, 0)
    // Half of the conversation, of some 12,300 tokens in a room of 8,000 what there is room for.
    expect(kept).toBeLessThanOrEqual(4000 + 350)
    expect(kept).toBeGreaterThan(800)
  })
})

describe('thresholds', () => {
  test('above 1 are tokens of the whole prompt', () => {
    const profile = profileOf({ trigger: 3000, target: 1200 })
    const below = [task, ...rounds('a', 8, 300)]
    expect(send(below, { budgetTokens: 100_000, profile }).compaction).toBeNull()
    const above = [task, ...rounds('a', 10, 300)]
    // A tenth of this budget is more than such a compaction can free.
    const atOnce = { ...profile, min_growth_tokens: 0 }
    expect(send(above, { budgetTokens: 100_000, profile: atOnce }).compaction).toBeNull()
    const smaller = send(above, { budgetTokens: 10_000, profile })
    expect(smaller.compaction?.reason).toBe('trigger')
    // The newest messages keep their third of what there is, and whole rounds: the target gives way to that.
    expect(smaller.tokens).toBeLessThanOrEqual(2000)
  })

  test('as ratios apply to what is not fixed', () => {
    const largeTask = user(prose('task', 6000))
    const profile = profileOf()
    // 75 % of the whole budget is passed with the task alone: what presses is the rest.
    const madeAfter = (count: number) =>
      send([largeTask, ...rounds('a', count, 300)], { budgetTokens: 9000, profile }).compaction
    expect(madeAfter(5)).toBeNull()
    expect(madeAfter(16)).not.toBeNull()
  })

  test('of a pass ahead of the trigger let it run alone, over all that it may', () => {
    const conversation = [task, ...rounds('a', 14, 300)]
    const profile = profileOf({ clear: { at: 0.3 } })
    const { compaction, passes } = send(conversation, { budgetTokens: 10_000, profile })
    expect(passes).toEqual(['clear'])
    expect(compaction?.fold).toBeNull()
    expect(send(conversation, { budgetTokens: 10_000 }).compaction).toBeNull()
  })

  test('of zero treat a result from the first time it is sent, without a compaction', () => {
    const profile = profileOf({ preview: { at: 0 }, render: { at: 0 } })
    const conversation = [task, ...round('a', prose('a', 3000)), ...round('b', 'red\rgreen and some more')]
    const { compaction, passes, messages } = send(conversation, { budgetTokens: 1_000_000, profile })
    expect(compaction).toBeNull()
    expect(passes).toEqual(['render', 'preview'])
    expect(messages[2]?.content).toContain('3004 tokens')
    expect(messages[4]?.content).toBe('green and some more')
  })

  test('above the trigger make a pass wait', () => {
    const profile = profileOf({ fold: { at: 0.95 }, clear: { enabled: false } })
    const turns = times(40, (index) => [user(`q${index}`), assistant(prose('a', 200))])
    const talk = [task, ...turns.flat()]
    expect(send(talk, { budgetTokens: 10_000, profile }).compaction).toBeNull()
    expect(send(talk, { budgetTokens: 10_000 }).compaction).not.toBeNull()
    expect(send(talk, { budgetTokens: 8800, profile }).compaction).not.toBeNull()
  })
})
