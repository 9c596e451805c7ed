import { describe, expect, test } from 'vitest'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion, json, overflow } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand, type ReportStand } from './report-stand.ts'

const run = longRun(60, 2)
const model = { model: 'gpt-4o' }

/** Tells of one request. */
async function beyond(at: ReportStand, messages: readonly TestMessage[], more: object = model) {
  await postChat(at.url, chatOf(messages, more))
  const row = await at.row()
  const counted = (await at.metrics()).sum('foldgate_requests_beyond_window_total')
  expect(counted).toBe(row.beyond_window === true ? 1 : 0)
  return row
}

describe('whether a request would have been refused as it came', () => {
  test('no: it was sent as it came, and answered', async () => {
    await using at = await reportStand(completion('fine'), { profile: { window: { tokens: 16_000 } } })
    expect(await beyond(at, run.slice(0, 2))).toMatchObject({ beyond_window: false, action: 'relayed' })
  })

  test('no: it was compacted long before the window was full', async () => {
    await using at = await reportStand(completion('fine'), {
      profile: { window: { tokens: 100_000 }, trigger: 0.2, target: 0.1 },
    })
    expect(await beyond(at, run)).toMatchObject({ beyond_window: false, action: 'compacted' })
  })

  test('yes: it was compacted and is larger than the window', async () => {
    await using at = await reportStand(completion('fine'), { profile: { window: { tokens: 16_000 } } })
    expect(await beyond(at, run)).toMatchObject({ beyond_window: true, action: 'compacted' })
  })

  test('yes: only the output that it asks for takes it beyond the window, where both share it', async () => {
    const profile = { window: { tokens: 60_000 }, trigger: 0.2, target: 0.1 }
    await using whole = await reportStand(completion('fine'), { profile })
    const { tokens_received: tokens } = await beyond(whole, run, { ...model, max_tokens: 100 })
    expect(tokens).toBeLessThan(50_000)
    await using at = await reportStand(completion('fine'), { profile })
    const row = await beyond(at, run, { ...model, max_tokens: 60_000 - (tokens ?? 0) + 500 })
    expect(row).toMatchObject({ beyond_window: true, action: 'compacted' })
  })

  test('yes: the upstream refused it, whole, and then took less of it', async () => {
    await using at = await reportStand([overflow(8_192, 12_500), completion('fine')])
    expect(await beyond(at, longRun(14, 2), {})).toMatchObject({ beyond_window: true, action: 'recovered' })
  })

  test('yes: whatever was taken away, the upstream went on refusing it', async () => {
    await using at = await reportStand(overflow(500))
    expect(await beyond(at, longRun(14, 2), {})).toMatchObject({ beyond_window: true, status: 400 })
  })

  test('not known: it was compacted for a window that is a guess', async () => {
    await using at = await reportStand(completion('fine'), { profile: { trigger: 0.1, target: 0.05 } })
    expect(await beyond(at, run, {})).toMatchObject({
      beyond_window: null,
      action: 'compacted',
      window_source: 'default',
    })
  })

  test('not known: it was sent as it came, and refused for something else', async () => {
    const limited = json({ error: { message: 'Rate limit reached' } }, 429)
    await using at = await reportStand(limited, { profile: { window: { tokens: 16_000 } } })
    expect(await beyond(at, run.slice(0, 2))).toMatchObject({ beyond_window: null, status: 429 })
  })
})
