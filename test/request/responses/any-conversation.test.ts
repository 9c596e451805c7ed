import { expect, test } from 'vitest'
import { behind, diceOf, replyOf } from '../../support/responses/living.ts'
import { openStand, outputOf, post, user, type Item, type ResponsesStand } from './stand.ts'

/** What the upstream had to say against a request: nothing, of a good one. */
function objections({ upstream }: ResponsesStand): readonly unknown[] {
  const found = upstream.requests.flatMap(({ rejected, removed }) =>
    [rejected?.message ?? [], removed].flat(),
  )
  upstream.forget()
  return found
}

// Items of an unknown type kept a name that the server looked up, and behind a compaction of the server's own rounds were
// counted twice: both came to light here.
test.each([
  [1, {}],
  [2, { template: 'strict' }],
  [3, { trigger: 0.7, repair: true }],
  [4, { clear: { enabled: false }, recall: { enabled: true } }],
])(
  'whatever model and client do, no request is refused and no reasoning lost on the way: seed %i, %o',
  async (seed, profile) => {
    const roll = diceOf(seed * 7_919)
    let made = 0
    const stand = await openStand({
      windowTokens: 4_000 + roll(5_000),
      profile,
      reply: () => ({ output: replyOf(roll, (made += 1)) }),
    })
    const tools = [
      {
        type: 'function',
        name: 'read',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ]
    const input: Item[] = [
      { type: 'message', role: 'developer', content: 'You are careful.' },
      user('Begin.'),
    ]
    let compacted = 0
    for (let round = 0; round < 30; round += 1) {
      const answer = await post(stand, { input, stream: roll(2) === 0, tools })
      expect([round, answer.status, ...objections(stand)]).toEqual([round, 200])
      if (answer.headers.get('x-foldgate-action') === 'compacted') compacted += 1
      const output = outputOf(answer)
      input.push(...output, ...behind(output, roll, round))
      if (round !== 12) continue
      const own = await post(stand, { input: [...input, { type: 'compaction_trigger' }], tools })
      expect([own.status, ...objections(stand)]).toEqual([200])
      input.push(...outputOf(own), user('Go on.'))
    }
    expect(compacted).toBeGreaterThan(5)
  },
)
