import { expect, onTestFinished, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { longRun } from '../../support/conversations.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { postChat } from '../../support/post-chat.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'

const conversation = longRun(80, 11, 0.6)
const points = conversation.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []))

const reply = () => ({ content: 'Done.' })

/** Sends a conversation that grows to an upstream that counts as we do, and says what that received. */
async function pressed(windowTokens: number, outputTokens: number | null, outputReserveChecked: boolean) {
  const { count } = await loadCounter('o200k_base')
  const options = { windowTokens, template: 'lenient' as const, outputReserveChecked, count, reply }
  const upstream = await startStrictUpstream(options)
  onTestFinished(() => upstream.close())
  const window = { tokens: windowTokens, ratio: 1 }
  const foldgate = await startFoldgate({ upstream: upstream.url, profile: { window } })
  onTestFinished(() => foldgate.close())
  const statuses = new Set<number>()
  const limit = outputTokens === null ? {} : { max_tokens: outputTokens }
  for (const point of points) {
    const body = { model: 'gpt-4o', messages: conversation.slice(0, point), ...limit }
    statuses.add((await postChat(foldgate.url, body)).status)
  }
  const answered = upstream.requests.filter(({ status }) => status === 200)
  return {
    statuses: [...statuses],
    refused: upstream.requests.length - answered.length,
    largestShare: Math.max(...answered.map(({ promptTokens }) => promptTokens)) / windowTokens,
  }
}

// The story: an SDK on 8,192 tokens had prompts of 3,982 at most, since 4,096 were kept for a reply of which nobody knew the
// length; a client that asks for 32,000 whatever the window had half of 32,768.
test.each(
  [8_192, 32_768].flatMap((windowTokens) => [null, 400, 32_000].map((limit) => ({ windowTokens, limit }))),
)(
  'of $windowTokens tokens with a limit of $limit a prompt may take 0.72, and no overflow is lost',
  async ({ windowTokens, limit }) => {
    const { statuses, refused, largestShare } = await pressed(windowTokens, limit, false)
    expect(statuses).toEqual([200])
    expect(refused).toBe(0)
    expect(largestShare).toBeGreaterThanOrEqual(0.72)
  },
)

test.each([8_192, 32_768])(
  'a server that holds a limit of 32,000 against its %i tokens refuses once, and every answer comes',
  async (windowTokens) => {
    const { statuses, refused } = await pressed(windowTokens, 32_000, true)
    expect(statuses).toEqual([200])
    expect(refused).toBeLessThanOrEqual(1)
  },
)
