import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/conversation/json-value.ts'
import { behind, replyOf, messageTexts } from '../../support/messages/living.ts'
import { diceOf } from '../../support/responses/living.ts'
import { contentOf, openStand, post, readTool, troubleOf } from './stand.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const careful = { type: 'text', text: 'You are careful.' }

// An imitator's template is found out by its first refusal, which the client does not see.
test.each([
  { seed: 1, profile: {}, refusals: 0 },
  { seed: 2, profile: { trigger: 0.7, repair: true, template: 'strict' }, refusals: 0 },
  { seed: 3, profile: { clear: { enabled: false }, recall: { enabled: true } }, refusals: 0 },
  { seed: 5, profile: {}, imitator: { template: 'strict' as const }, refusals: 1 },
])(
  'whatever model and client do, no request is refused and no thinking lost on the way: %o',
  async ({ seed, profile, imitator, refusals }) => {
    const roll = diceOf(seed * 7_919)
    let made = 0
    const stand = await openStand({
      windowTokens: 4_000 + roll(5_000),
      profile,
      reply: () => ({ content: replyOf(roll, (made += 1)) }),
      ...(imitator && { imitator }),
    })
    const isClaudeCode = imitator === undefined && seed % 2 === 1
    const writing = { marksNewest: isClaudeCode, shortensTexts: seed !== 1 }
    const system = isClaudeCode
      ? [
          { ...careful, ...mark },
          { ...careful, ...mark },
        ]
      : [careful]
    const history = [{ role: 'user', blocks: [JSON.stringify({ type: 'text', text: 'Begin.' })] }]
    let compacted = 0
    for (let round = 0; round < 30; round += 1) {
      const messages = messageTexts(history, writing).map((text): unknown => JSON.parse(text))
      const answer = await post(stand, { messages, stream: roll(2) === 0, system, tools: [readTool] })
      expect([round, answer.status]).toEqual([round, 200])
      if (answer.headers.get('x-foldgate-action') === 'compacted') compacted += 1
      const blocks: readonly JsonObject[] = contentOf(answer)
      const followed = behind(blocks, roll, round, imitator !== undefined)
      for (const { role, blocks: said } of [{ role: 'assistant', blocks }, ...followed])
        history.push({ role, blocks: said.map((block) => JSON.stringify(block)) })
    }
    expect(troubleOf(stand)).toHaveLength(refusals)
    expect(compacted).toBeGreaterThan(5)
  },
)
