import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../../src/log/log.ts'
import { openTracing } from '../../../src/activity/tracing/tracing.ts'
import { longRun } from '../../support/conversations.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { environment, otlpReceiver } from './otlp-receiver.ts'
import { eventually } from '../../support/eventually.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'

/** A Foldgate that traces to a collector of the test's own. */
async function traced() {
  const receiver = await otlpReceiver()
  const upstream = await fakeUpstream(completion('fine', { prompt_tokens: 900, completion_tokens: 3 }))
  const tracing = await openTracing({
    env: environment({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    }),
    upstreams: new Map([['default', { url: upstream.url }]]),
    version: '9.8.7',
    log: createLog({ level: 'silent', write: () => {}, pretty: false, now: () => new Date(0) }),
    write: () => {},
  })
  const profile = { window: { tokens: 4_000 } }
  const foldgate = await startFoldgate({ upstream: upstream.url, profile, tracing })
  onTestFinished(foldgate.close)
  return { receiver, upstream, foldgate }
}

async function ask(url: string, messages: readonly object[]): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-planted-key',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify({ model: 'gpt-4o', messages }),
  })
}

test('a request through a running Foldgate is a span in its client’s trace, with what was done', async () => {
  const { receiver, upstream, foldgate } = await traced()
  const run = longRun(30, 7)
  const answer = await ask(foldgate.url, [
    { role: 'system', content: 'You help. PLANTED-SECRET' },
    ...run.slice(1),
  ])
  expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
  await answer.text()
  const span = await eventually(() => {
    const [first] = receiver.spans()
    if (first === undefined) throw new Error('no span has arrived')
    return first
  })
  expect(span).toMatchObject({ name: 'chat gpt-4o', traceId: trace })
  const told = JSON.stringify(span)
  expect(told).toContain('"foldgate.action"')
  expect(told).toContain('compacted')
  expect(told).toContain(answer.headers.get('x-foldgate-conversation') ?? 'no conversation')
  expect(told).not.toMatch(/PLANTED-SECRET|sk-planted-key/)
  // The client's own header goes on as it came.
  expect(upstream.requests[0]?.headers['traceparent']).toBe(`00-${trace}-00f067aa0ba902b7-01`)
})
