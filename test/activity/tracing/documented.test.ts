import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelServer } from '../../../src/activity/tracing/model-server.ts'
import { requestSpan, summarySpan } from '../../../src/activity/tracing/spans.ts'
import { root } from '../../docs/pages.ts'
import { beganMs, endOf, reportOf } from '../told-request.ts'

test('docs/observability.md names every attribute and event', async () => {
  const page = await readFile(join(root, 'docs/observability.md'), 'utf8')
  const server = modelServer('https://api.openai.com/v1')
  const report = reportOf({ status: 500, reason: 'original', tokens_are_bounds: true }, { isSentBound: true })
  const request = requestSpan(report, endOf(), server)
  const summary = summarySpan(
    { conversation: 'c0ffee', model: 'm', upstream: 'default', milliseconds: 0 },
    {
      kind: 'written',
      text: '',
      tokens: 1,
      calls: 1,
      promptTokens: 1,
      completionTokens: 1,
      cachedTokens: 0,
      cacheWrittenTokens: 0,
      sentTokens: 1,
      learntWindowTokens: null,
    },
    beganMs,
    server,
  )
  const names = [...Object.keys(request.attributes), ...Object.keys(summary.attributes)]
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  expect(request.events.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})
