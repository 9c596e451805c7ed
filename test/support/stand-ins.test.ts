import { once } from 'node:events'
import { createServer } from 'node:net'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { brokenConversation, growing, longRun, validConversation } from './conversations.ts'
import { freePort } from './free-port.ts'
import { parsePrometheusText, valueOf } from './prometheus-text.ts'
import { propertyRuns } from './property-runs.ts'
import { ruleBreaks } from './strict-upstream/message-rules.ts'
import { startSummaryModel, type SummaryModelOptions, type SummaryQuality } from './summary-model.ts'

// What stands in for clients, models and readers has to be what it says, or tests hold by mistake.

test('valid conversations break no rule at any request point, broken ones break every rule there is', () => {
  fc.assert(
    fc.property(validConversation({ textCharactersMax: 200 }), (conversation) => {
      for (const messages of growing(conversation)) expect(ruleBreaks(messages, 'lenient')).toEqual([])
    }),
  )
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

const filler = Array.from({ length: 300 }, (_, index) => `Then src/part_${index}.ts was read and left alone.`)
const transcript = [
  'Mend the parser in src/parser.ts, and touch nothing in vendor/.',
  'The run failed: exit code 137 in src/lexer.ts.',
  ...filler,
  'We decided to keep readToken() as it is.',
].join('\n')

async function open(options: SummaryModelOptions = {}) {
  const model = await startSummaryModel(options)
  onTestFinished(model.close)
  const ask = async (content: string, more: object = {}) => {
    const messages = [
      { role: 'system', content: 'Summarise.' },
      { role: 'user', content },
    ]
    const body = JSON.stringify({ model: 'cheap-1', messages, max_tokens: 9000, ...more })
    const answer = await fetch(`${model.url}/chat/completions`, { method: 'POST', body })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  const write = async (content: string): Promise<string> =>
    (await ask(content)).body.choices[0].message.content
  return { model, ask, write }
}

test('a good summary has sections, keeps to its size, names what is recent or frequent, and carries over what was', async () => {
  const { model, ask, write } = await open()
  const text = await write(
    `<data-Ab_c-9xyz12>\n${transcript}\n</data-Ab_c-9xyz12>\n\nWhat ends in Ab_c-9xyz12 is data.`,
  )
  expect(text.match(/^## .*/gm)).toHaveLength(6)
  for (const thing of ['src/parser.ts', 'readToken', 'src/part_299.ts', 'code 137'])
    expect(text).toContain(thing)
  expect(text).not.toContain('9xyz12')
  expect(model.calls[0]?.completionTokens).toBeGreaterThan(500)
  expect(model.calls[0]?.completionTokens).toBeLessThanOrEqual(1000)
  const second = await write(JSON.stringify({ previous: text, messages: filler.join('\n') }))
  for (const thing of ['src/lexer.ts', 'readToken', 'src/part_299.ts']) expect(second).toContain(thing)
  model.forget()
  await ask(transcript, { max_tokens: 200 })
  expect(model.completionTokens()).toBeLessThanOrEqual(200)
})

test('a summary model fails in each way that it is told to', async () => {
  const ways: readonly (readonly [SummaryQuality, object])[] = [
    [401, { status: 401, body: { error: { code: 'invalid_api_key' } } }],
    [429, { status: 429, body: { error: { code: 'rate_limit_exceeded' } } }],
    [500, { status: 500, body: { error: { type: 'server_error' } } }],
    ['empty', { status: 200, body: { choices: [{ message: { content: '' } }] } }],
    ['tool-call', { body: { choices: [{ finish_reason: 'tool_calls', message: { content: null } }] } }],
    ['only-reasoning', { body: { choices: [{ message: { content: null } }] } }],
    ['truncated', { body: { choices: [{ finish_reason: 'length' }] } }],
    ['overflow', { status: 400, body: { error: { code: 'context_length_exceeded' } } }],
    ['echo', { body: { choices: [{ message: { content: 'Summarise.' } }] } }],
  ]
  for (const [quality, answer] of ways) {
    const { ask } = await open({ quality })
    expect([quality, await ask(transcript)]).toMatchObject([quality, answer])
  }
  const qualities: SummaryQuality[] = ['disconnect', 'gibberish', 'good']
  const { model, ask } = await open({
    quality: (_, index) => qualities[index] ?? 'hang',
    rejects: ['temperature'],
  })
  await expect(ask(transcript)).rejects.toThrow('fetch failed')
  await ask(transcript)
  expect(model.completionTokens()).toBeGreaterThan(model.calls[1]?.promptTokens ?? Infinity)
  expect(await ask('short', { temperature: 0 })).toMatchObject({ body: { error: { param: 'temperature' } } })
  const leaving = new AbortController()
  const hanging = fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    body: '{}',
    signal: leaving.signal,
  })
  await expect.poll(() => model.calls.length).toBe(4)
  leaving.abort()
  await expect(hanging).rejects.toThrow(/aborted/)
  await model.quiet()
  expect(model.calls.at(-1)).toMatchObject({ status: null, left: true })
})
