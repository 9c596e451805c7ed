import { once } from 'node:events'
import { createServer } from 'node:net'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenConversation, growing, longRun, validConversation } from './conversations.ts'
import { freePort } from './free-port.ts'
import { parsePrometheusText, valueOf } from './prometheus-text.ts'
import { forAll, propertyRuns } from './property-runs.ts'
import { ruleBreaks } from './strict-upstream/message-rules.ts'

// What stands in for clients, models and readers has to be what it says, or tests hold by mistake.

test('valid conversations break no rule at any request point, broken ones break every rule there is', () => {
  forAll(100, validConversation({ textCharactersMax: 200 }), (conversation) => {
    for (const messages of growing(conversation)) expect(ruleBreaks(messages, 'lenient')).toEqual([])
  })
  const seen = new Set<string>()
  fc.assert(
    fc.property(brokenConversation({ textCharactersMax: 50 }), (messages) => {
      for (const { rule } of ruleBreaks(messages, 'strict')) seen.add(rule)
    }),
    { seed: 7, numRuns: propertyRuns(500) },
  )
  const rules =
    'calls-empty calls-unanswered content-missing first-not-user message-shape result-orphan result-unknown-call roles-not-alternating system-not-first'
  expect([...seen].sort()).toEqual(rules.split(' '))
})

test('long runs are the same for the same seed, valid under a strict template, and as long as asked', () => {
  const run = longRun(100, 5)
  expect(run).toEqual(longRun(100, 5))
  expect(run).not.toEqual(longRun(100, 6))
  expect([...growing(run)]).toHaveLength(101)
  expect(ruleBreaks(run, 'strict')).toEqual([])
})

// A DELETE was answered 404 although the conversation was there. The admin port of its Foldgate had been chosen by the
// system and let go again: another worker's server could be given it in the meantime.
test('no free port is given twice, none that the system gives to whoever asks, and none that is taken', async () => {
  const ports: number[] = []
  while (ports.length < 50) ports.push(await freePort())
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.max(...ports)).toBeLessThan(32_768)
  const next = (await freePort()) + 1
  await using taken = createServer()
  // Where somebody else has it already, it is taken as well.
  await once(taken.listen(next, '127.0.0.1'), 'listening').catch(() => {})
  expect(await freePort()).not.toBe(next)
})

test('Prometheus’ text is read, and what breaks its rules is refused', () => {
  const families = parsePrometheusText(
    '# HELP a_total Says \\\\ and\\n more.\n# TYPE a_total counter\na_total{x="1,\\"2\\"}",y="\\\\\\n"} 3\na_total 1e-7\n',
  )
  expect(families.get('a_total')).toEqual({
    type: 'counter',
    help: 'Says \\ and\n more.',
    samples: [
      { name: 'a_total', labels: { x: '1,"2"}', y: '\\\n' }, value: 3 },
      { name: 'a_total', labels: {}, value: 1e-7 },
    ],
  })
  expect(valueOf(families, 'a_total')).toBe(1e-7)
  expect(valueOf(families, 'a_total', { x: '1' })).toBeNull()
  const head = '# HELP a Help.\n# TYPE a gauge\n'
  for (const [text, trouble] of [
    [`${head}a 1`, 'The last line'],
    ['a 1\n', 'Not where its metric is'],
    [`${head}b 1\n`, 'Not where its metric is'],
    [`${head}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`, 'Twice'],
    [`${head}a{x="""} 1\n`, 'No labels'],
    [`${head}a undefined\n`, 'No value'],
    [`${head}${head}`, 'Two helps'],
  ] as const)
    expect(() => parsePrometheusText(text)).toThrow(trouble)
})
