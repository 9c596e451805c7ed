import { expect, test } from 'vitest'
import { createFailures } from '../../src/activity/failures.ts'
import { createReports } from '../../src/activity/reports.ts'
import { unreadAnswer } from '../../src/activity/request-report.ts'
import type { Tracing } from '../../src/activity/tracing/tracing.ts'
import { longRun } from '../support/conversations.ts'
import { completion, silence } from '../support/fake-upstream.ts'
import { reportOf } from './told-request.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { reportStand } from './report/report-stand.ts'

function failing(): never {
  throw new Error('whoever is told has failed')
}

const broken = { summary: () => {}, close: async () => {} }
const atTheBeginning: Tracing = { ...broken, begun: failing, ended: () => {} }
const atTheEnd: Tracing = { ...broken, ended: failing }

// Whoever watches must not harm what is watched (P2).
test.each([
  ['when it begins', atTheBeginning],
  ['when it has ended', atTheEnd],
])('a report that throws %s harms no request', async (_, tracing) => {
  await using at = await reportStand(completion('fine'), {
    tracing,
    profile: { window: { tokens: 16_000 } },
  })
  for (let round = 1; round <= 2; round += 1) {
    const reply = await postChat(at.url, chatOf(longRun(60, 2), { model: 'gpt-4o' }))
    expect([reply.status, reply.action]).toEqual([200, 'compacted'])
    expect(reply.text).toContain('fine')
  }
  const metrics = await at.metrics()
  expect(metrics.sum('foldgate_requests_total', { action: 'compacted' })).toBe(2)
  await expect
    .poll(async () => (await at.metrics()).sum('foldgate_failures_total', { part: 'observation' }))
    .toBe(2)
})

test('and none that is refused, left or bypassed', async () => {
  await using at = await reportStand([completion('fine'), silence], { tracing: atTheBeginning })
  const body = chatOf([{ role: 'user', content: 'hello' }])
  expect((await postChat(at.url, body, { 'x-foldgate-bypass': '1' })).status).toBe(200)
  expect((await postChat(at.url, body, { 'x-foldgate-profile': 'nobody' })).status).toBe(400)
  const leaving = new AbortController()
  const asked = postChat(at.url, body, {}, leaving.signal).catch(() => null)
  await expect.poll(() => at.upstream.requests.length).toBe(2)
  leaving.abort()
  await asked
  await expect
    .poll(async () => (await at.metrics()).sum('foldgate_failures_total', { part: 'observation' }))
    .toBe(3)
})

test('a listener that throws is noted each time, and the others are told', () => {
  const noted: string[] = []
  const told: string[] = []
  const failures = createFailures((part) => void noted.push(part))
  const good = { begun: () => void told.push('begun'), ended: () => void told.push('ended') }
  const reports = createReports([{ begun: failing, ended: failing }, good], () => {}, failures)
  reports.begin(reportOf(), null)
  reports.end(reportOf(), { outcome: 'finished', ...unreadAnswer })
  expect(noted).toEqual(['observation', 'observation'])
  expect(told).toEqual(['begun', 'ended'])
})
