import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelServer } from '../../../src/activity/tracing/model-server.ts'
import { beginRequestSpan } from '../../../src/activity/tracing/request-span.ts'
import { summarySpan } from '../../../src/activity/tracing/summary-span.ts'
import { root } from '../../docs/pages.ts'
import { beganMs, endOf, reportOf } from './told-request.ts'

test('docs/observability.md names every attribute and event', async () => {
  const page = await readFile(join(root, 'docs/observability.md'), 'utf8')
  const server = modelServer('https://api.openai.com/v1')
  const { size, ...report } = reportOf({ status: 500, reason: 'original' })
  const bound = size === null ? null : { ...size, isBound: true, isSentBound: true }
  const request = beginRequestSpan({ ...report, size: bound }, server)(endOf())
  const summary = summarySpan(
    { conversation: 'c0ffee', model: 'm', upstream: 'default', startedAtMs: beganMs, endedAtMs: beganMs },
    {
      kind: 'written',
      text: '',
      tokens: 1,
      calls: 1,
      promptTokens: 1,
      completionTokens: 1,
      cachedTokens: 0,
      sentTokens: 1,
      learntWindowTokens: null,
    },
    server,
  )
  const names = [...Object.keys(request.attributes), ...Object.keys(summary.attributes)]
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  expect(request.events.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})
