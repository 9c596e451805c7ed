import { expect, test } from 'vitest'
import { usageRowSchema } from '../../../src/activity/journal/rows.ts'
import { begunRow, endedRow } from '../../../src/activity/journal/usage-row.ts'
import { endOf, reportOf } from '../tracing/told-request.ts'

const noCosts = { sent: null, whole: null }

test('a request’s row says what came, what was sent and what became of it, and is read back as it was', () => {
  const begun = begunRow(reportOf({ addedMs: 20.123456 }), 'here')
  const row = endedRow(begun, endOf(), { sent: 0.25, whole: 0.5 })
  expect(row).toMatchObject({
    process: 'here',
    conversation: 'c0ffee',
    messages_received: 120,
    messages_sent: 40,
    tokens_received: 90_000,
    tokens_sent: 50_000,
    tokens_are_bounds: false,
    pressure: 0.9,
    sent_pressure: 0.5,
    passes: ['render', 'fold'],
    compaction: 'trigger',
    answered_by: 'gpt-5-2026-08-07',
    prompt_tokens: 50_100,
    cached_tokens: 40_000,
    completion_tokens: 700,
    prompt_cost: 0.25,
    whole_prompt_cost: 0.5,
    added_ms: 20.123,
    total_ms: 2_500,
  })
  expect(usageRowSchema.parse(JSON.parse(JSON.stringify(row)))).toEqual(row)
})

test('one that was never measured, or broke off, has nulls where nothing is known', () => {
  const begun = begunRow(reportOf({ size: null, compactions: [], status: null, conversation: null }), 'here')
  const row = endedRow(begun, endOf({ outcome: 'client-gone', usage: null, answeredBy: null }), noCosts)
  expect(row).toMatchObject({
    outcome: 'client-gone',
    conversation: null,
    status: null,
    compaction: null,
    window_tokens: null,
    tokens_received: null,
    prompt_tokens: null,
    prompt_cost: null,
    answered_by: null,
  })
  expect(usageRowSchema.parse(JSON.parse(JSON.stringify(row)))).toEqual(row)
})

test('the model that answered is named where it is another, and no longer than a name is', () => {
  const begun = begunRow(reportOf({ model: 'gpt-5' }), 'here')
  expect(endedRow(begun, endOf({ answeredBy: 'gpt-5' }), noCosts).answered_by).toBeNull()
  const row = endedRow(begun, endOf({ answeredBy: 'x'.repeat(100_000) }), noCosts)
  expect(usageRowSchema.parse(row).answered_by).toHaveLength(512)
})
