import { describe, expect, test } from 'vitest'
import { openDice } from '../../../src/commands/demo/dice.ts'
import { completion, overflow } from '../../support/fake-upstream.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import type { SummaryQuality } from '../../support/summary-model.ts'
import { isPending, long, summariesIn, turnsUntil, turnWhere, type Turn } from './growing-agent.ts'
import { openStore, summaryStand } from './summary-stand.ts'

const qualities: readonly SummaryQuality[] = [
  'good',
  'good',
  'good',
  'good',
  'disconnect',
  500,
  'empty',
  'tool-call',
  'only-reasoning',
  'truncated',
  'gibberish',
  'overflow',
  'echo',
]

const wishes = [null, null, null, null, null, null, 'force', 'truncate', 'summarize', 'off'] as const

// The strict upstream judges: what breaks a rule or does not fit it refuses, and a second attempt would show.
test.each([2, 3])(
  'a run in which anything may happen failing models, wishes, restarts, replicas and retries: every request is answered at the first attempt (seed %i)',
  async (seed) => {
    const dice = openDice(seed)
    const store = openStore()
    await using stand = await summaryStand({
      store,
      model: {
        quality: () => qualities[dice.below(qualities.length)] ?? 'good',
        delayMs: () => dice.below(4) * 15,
      },
      profile: {
        clear: { enabled: seed % 2 === 0 },
        recap: { beside_summaries: seed > 2 },
        summary: { wait_ms: 40 },
      },
    })
    const agent = stand.agent({ roundTokens: 700 })
    let { url } = stand
    for (let turn = 0; turn < 22; turn += 1) {
      const wish = wishes[dice.below(wishes.length)] ?? null
      const headers = wish === null || turn > 18 ? {} : { 'x-foldgate-compact': wish }
      // Told to leave it alone, Foldgate has an overflow to recover from.
      const isOff = wish === 'off' && turn <= 18
      if (dice.below(8) === 0) url = (await stand.replica()).url
      const { status, attempts, received } = await agent.turn({ url, headers })
      expect(status).toBe(200)
      if (!isOff) expect(attempts).toBe(1)
      if (dice.below(3) === 0) {
        const again = await agent.again({ url })
        expect(again.status).toBe(200)
        if (!isOff && wish !== 'truncate') expect(isBeginning(received, again.received)).toBe(true)
      }
      if (dice.below(2) === 0) await stand.quiet()
    }
    const log = stand.foldgate.log.join('\n')
    expect(log).not.toMatch(/"level":"error"|InvariantError/)
    expect(log).not.toMatch(/BLD-|src\/f\d|key-of-a-test/)
  },
)

const isStanding = (turn: Turn): boolean => summariesIn(turn).length > 0

describe('a compaction for another reason than its size', () => {
  test('x-foldgate-compact: force takes the summary that is there', async () => {
    await using stand = await summaryStand()
    const agent = stand.agent(long)
    await turnsUntil(agent, isPending, { pause: stand.quiet })
    const forced = await agent.turn({ headers: { 'x-foldgate-compact': 'force' } })
    expect(forced).toMatchObject({ status: 200, action: 'compacted', summary: 'ready' })
    expect(summariesIn(forced)).toHaveLength(1)
    expect(stand.model.calls).toHaveLength(1)
    const next = await agent.turn()
    expect(isBeginning(forced.received, next.received)).toBe(true)
  })

  test('recovery from an overflow keeps the summary that stands', async () => {
    let isTooLarge = false
    await using stand = await summaryStand({
      script: (request) => (isTooLarge && request.body.length > 16_000 ? overflow(4000) : completion('fine')),
    })
    const agent = stand.agent(long)
    const standing = summariesIn(await turnWhere(agent, isStanding, { pause: stand.quiet }))
    isTooLarge = true
    const recovered = await agent.turn()
    expect(recovered).toMatchObject({ status: 200, action: 'recovered', summary: 'ready' })
    expect(recovered.attempts).toBeGreaterThan(1)
    expect(summariesIn(recovered)).toEqual(standing)
    const again = await agent.again()
    expect(again.received).toEqual(recovered.received)
  })
})
