import { expect, test } from 'vitest'
import * as living from '../../support/messages/living.ts'
import { behind, diceOf, replyOf } from '../../support/responses/living.ts'
import * as messages from '../messages/stand.ts'
import * as responses from '../responses/stand.ts'

// Whatever model and client do, no request is refused and no thoughts are lost on the way.

const ROUNDS = 18
const mark = { cache_control: { type: 'ephemeral' } }
const careful = { type: 'text', text: 'You are careful.' }

// An imitator's template is found out by its first refusal, which the client does not see.
test.each([
  { seed: 1, profile: {}, refusals: 0 },
  { seed: 2, profile: { trigger: 0.7, repair: true, template: 'strict' }, refusals: 0 },
  { seed: 3, profile: { clear: { enabled: false }, recall: { enabled: true } }, refusals: 0 },
  { seed: 5, profile: {}, imitator: { template: 'strict' as const }, refusals: 1 },
])('in messages: %o', async ({ seed, profile, imitator, refusals }) => {
  const roll = diceOf(seed * 7_919)
  let made = 0
  const stand = await messages.openStand({
    windowTokens: 4_000 + roll(3_000),
    profile,
    reply: () => ({ content: living.replyOf(roll, (made += 1)) }),
    ...(imitator && { imitator }),
  })
  const isClaudeCode = imitator === undefined && seed % 2 === 1
  const writing = { marksNewest: isClaudeCode, shortensTexts: seed !== 1 }
  const marked = { ...careful, ...mark }
  const system = isClaudeCode ? [marked, marked] : [careful]
  const history = [{ role: 'user', blocks: [JSON.stringify({ type: 'text', text: 'Begin.' })] }]
  let compacted = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const sent = living.messageTexts(history, writing).map((text): unknown => JSON.parse(text))
    const body = { messages: sent, stream: roll(2) === 0, system, tools: [messages.readTool] }
    const answer = await messages.post(stand, body)
    expect([round, answer.status]).toEqual([round, 200])
    if (answer.headers.get('x-foldgate-action') === 'compacted') compacted += 1
    const blocks = messages.contentOf(answer)
    const followed = living.behind(blocks, roll, round, imitator !== undefined)
    for (const { role, blocks: said } of [{ role: 'assistant', blocks }, ...followed])
      history.push({ role, blocks: said.map((block) => JSON.stringify(block)) })
  }
  expect(messages.troubleOf(stand)).toHaveLength(refusals)
  expect(compacted).toBeGreaterThan(4)
})

// Items of an unknown type kept a name that the server looked up, and behind a compaction of the server's own rounds were
// counted twice: both came to light here.
test.each([
  [1, {}],
  [2, { template: 'strict' }],
  [3, { trigger: 0.7, target: 0.5, repair: true }],
  [4, { clear: { enabled: false }, recall: { enabled: true } }],
])('in responses: seed %i, %o', async (seed, profile) => {
  const roll = diceOf(seed * 7_919)
  let made = 0
  const stand = await responses.openStand({
    windowTokens: 4_000 + roll(3_000),
    profile,
    reply: () => ({ output: replyOf(roll, (made += 1)) }),
  })
  const tools = [responses.readTool]
  const input: responses.Item[] = [
    { type: 'message', role: 'developer', content: 'You are careful.' },
    responses.user('Begin.'),
  ]
  let compacted = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const answer = await responses.post(stand, { input, stream: roll(2) === 0, tools })
    expect([round, answer.status, ...responses.troubleOf(stand)]).toEqual([round, 200])
    if (answer.headers.get('x-foldgate-action') === 'compacted') compacted += 1
    const output = responses.outputOf(answer)
    input.push(...output, ...behind(output, roll, round))
    if (round !== 12) continue
    const own = await responses.post(stand, { input: [...input, { type: 'compaction_trigger' }], tools })
    expect([own.status, ...responses.troubleOf(stand)]).toEqual([200])
    input.push(...responses.outputOf(own), responses.user('Go on.'))
  }
  expect(compacted).toBeGreaterThan(4)
})
