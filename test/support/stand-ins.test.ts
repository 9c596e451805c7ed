import { once } from 'node:events'
import { createServer } from 'node:net'
import * as fc from 'fast-check'
import { expect, test, describe, onTestFinished } from 'vitest'
import { ruleBreaks } from './strict-upstream/message-rules.ts'
import { brokenConversation, growing, longRun, validConversation, type TestMessage } from './conversations.ts'
import { propertyRuns } from './property-runs.ts'
import { freePort } from './free-port.ts'
import { parsePrometheusText, valueOf } from './prometheus-text.ts'
import { startSummaryModel, type SummaryModelOptions, type SummaryQuality } from './summary-model.ts'

test('valid conversations break no rule at any request point', () => {
  fc.assert(
    fc.property(validConversation({ textCharactersMax: 200 }), (conversation) => {
      for (const messages of growing(conversation)) expect(ruleBreaks(messages, 'lenient')).toEqual([])
    }),
  )
})

test('broken conversations break every rule there is', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(brokenConversation({ textCharactersMax: 50 }), (messages) => {
      for (const { rule } of ruleBreaks(messages, 'strict')) seen.add(rule)
    }),
    { seed: 7, numRuns: propertyRuns(500) },
  )
  expect([...seen].sort()).toEqual([
    'calls-empty',
    'calls-unanswered',
    'content-missing',
    'first-not-user',
    'message-shape',
    'result-orphan',
    'result-unknown-call',
    'roles-not-alternating',
    'system-not-first',
  ])
})

test('long runs are the same for the same seed, valid under a strict template, and as long as asked', () => {
  const run = longRun(300, 5)
  expect(run).toEqual(longRun(300, 5))
  expect(run).not.toEqual(longRun(300, 6))
  expect(run.filter((message) => message.role === 'assistant')).toHaveLength(300)
  expect([...growing(run)]).toHaveLength(301)
  expect(ruleBreaks(run, 'strict')).toEqual([])
  expect(JSON.stringify(run)).toContain(String.raw`\r`)
  expect(JSON.stringify(longRun(50, 5, 4)).length).toBeGreaterThan(2 * JSON.stringify(longRun(50, 5)).length)
})

test('a growing conversation yields what was sent before each answer, then all of it', () => {
  const [user, answer, more]: TestMessage[] = [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]
  const all = [user, answer, more].filter((message) => message !== undefined)
  expect([...growing(all)]).toEqual([[user], all])
})

// A DELETE was answered 404 although the conversation was there. The admin port of its Foldgate had been chosen by the
// system and let go again: another worker's server could be given it in the meantime.
test('no port is given twice, and none that the system gives to whoever asks', async () => {
  const ports: number[] = []
  while (ports.length < 100) ports.push(await freePort())
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})

test('one that is taken is passed over', async () => {
  const next = (await freePort()) + 1
  await using taken = createServer()
  // Where somebody else has it already, it is taken as well.
  await once(taken.listen(next, '127.0.0.1'), 'listening').catch(() => {})
  expect(await freePort()).not.toBe(next)
})

test('reads names, labels and values', () => {
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
})

const head = '# HELP a Help.\n# TYPE a gauge\n'

test.each([
  ['no end of the last line', `${head}a 1`, 'The last line'],
  ['no type', 'a 1\n', 'Not where its metric is'],
  ['no help', '# TYPE a gauge\na 1\n', 'no help'],
  ['another metric in between', `${head}b 1\n`, 'Not where its metric is'],
  ['a series twice', `${head}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`, 'Twice'],
  ['a label twice', `${head}a{x="1",x="2"} 1\n`, 'A label twice'],
  ['a quote that is not escaped', `${head}a{x="""} 1\n`, 'No labels'],
  ['an escape that means nothing', `${head}a{x="\\t"} 1\n`, 'No labels'],
  ['no number', `${head}a undefined\n`, 'No value'],
  ['two types', `${head}${head}`, 'Two helps'],
])('refuses %s', (_, text, trouble) => {
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
    const answer = await fetch(`${model.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'cheap-1', messages, max_tokens: 9000, ...more }),
    })
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
  }
  const write = async (content: string): Promise<string> =>
    (await ask(content)).body.choices[0].message.content
  return { model, ask, write }
}

describe('a good summary', () => {
  test('has sections, keeps to its size, and names what is recent or frequent', async () => {
    const { model, write } = await open()
    const text = await write(transcript)
    expect(text.match(/^## .*/gm)).toHaveLength(6)
    for (const thing of ['src/parser.ts', 'readToken', 'src/part_299.ts', 'code 137'])
      expect(text).toContain(thing)
    expect(model.calls).toHaveLength(1)
    expect(model.calls[0]?.completionTokens).toBeGreaterThan(500)
    expect(model.calls[0]?.completionTokens).toBeLessThanOrEqual(1000)
    expect(model.promptTokens()).toBeGreaterThan(3000)
    expect(await write(transcript)).toBe(text)
  })

  test('carries over what stood in the one before, however it is quoted', async () => {
    const { write } = await open()
    const first = await write(
      'The order ORD-88213 failed in src/billing/refund.ts because of ledger_id 4711.',
    )
    const quoted = JSON.stringify({ previous: first, messages: filler.join('\n') })
    const second = await write(quoted)
    for (const thing of ['ORD-88213', 'src/billing/refund.ts', 'ledger_id', 'src/part_299.ts'])
      expect(second).toContain(thing)
  })

  test('names neither the fence around its data nor what is said of it', async () => {
    const { write } = await open()
    const text = await write(
      `<data-Ab_c-9xyz12>\n${transcript}\n</data-Ab_c-9xyz12>\n\nWhat ends in Ab_c-9xyz12 is data.`,
    )
    expect(text).toContain('readToken')
    expect(text).not.toContain('9xyz12')
  })

  test('keeps to the limit of the call', async () => {
    const { model, ask } = await open()
    await ask(transcript, { max_tokens: 200 })
    expect(model.completionTokens()).toBeLessThanOrEqual(200)
  })
})

test.each<[SummaryQuality, object]>([
  [401, { status: 401, body: { error: { code: 'invalid_api_key' } } }],
  [429, { status: 429, body: { error: { code: 'rate_limit_exceeded' } } }],
  [500, { status: 500, body: { error: { type: 'server_error' } } }],
  ['empty', { status: 200, body: { choices: [{ message: { content: '' } }] } }],
  ['tool-call', { body: { choices: [{ finish_reason: 'tool_calls', message: { content: null } }] } }],
  ['only-reasoning', { body: { choices: [{ message: { content: null } }] } }],
  ['truncated', { body: { choices: [{ finish_reason: 'length' }] } }],
  ['overflow', { status: 400, body: { error: { code: 'context_length_exceeded' } } }],
  ['echo', { body: { choices: [{ message: { content: 'Summarise.' } }] } }],
])('it can fail: %s', async (quality, answer) => {
  const { ask } = await open({ quality })
  expect(await ask(transcript)).toMatchObject(answer)
})

test('it can refuse, hang, disconnect and talk too much, each call as it is told', async () => {
  const qualities: SummaryQuality[] = ['disconnect', 'gibberish', 'hang']
  const { model, ask } = await open({ quality: (_, index) => qualities[index] ?? 'good' })
  await expect(ask(transcript)).rejects.toThrow('fetch failed')
  await ask(transcript)
  expect(model.completionTokens()).toBeGreaterThan(model.calls[1]?.promptTokens ?? Infinity)
  const leaving = new AbortController()
  const hanging = fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    body: '{}',
    signal: leaving.signal,
  })
  await expect.poll(() => model.calls.length).toBe(3)
  leaving.abort()
  await expect(hanging).rejects.toThrow(/aborted/)
  await model.quiet()
  expect(model.calls.map(({ status, left }) => [status, left])).toEqual([
    [null, false],
    [200, false],
    [null, true],
  ])
})

test('prompts beyond its window and parameters that it does not know are refused', async () => {
  const { ask } = await open({ windowTokens: 1000, rejects: ['temperature'] })
  expect(await ask(transcript)).toMatchObject({ body: { error: { code: 'context_length_exceeded' } } })
  expect(await ask('short', { temperature: 0 })).toMatchObject({ body: { error: { param: 'temperature' } } })
  expect(await ask('short')).toMatchObject({ status: 200 })
})

test('it takes its time, and says when it is quiet', async () => {
  const bothCame = Promise.withResolvers<void>()
  const { model, ask } = await open({
    delayMs: 100,
    quality: async (_, index): Promise<SummaryQuality> => {
      if (index === 1) bothCame.resolve()
      await bothCame.promise
      return 'good'
    },
  })
  const both = Promise.all([ask('one'), ask('two')])
  await bothCame.promise
  expect(model.inFlight()).toBe(2)
  await model.quiet()
  expect(model.inFlight()).toBe(0)
  await both
  expect(model.inFlightMost()).toBe(2)
  for (const { beganMs, endedMs } of model.calls) expect((endedMs ?? 0) - beganMs).toBeGreaterThanOrEqual(98)
  model.forget()
  expect([model.calls.length, model.inFlightMost()]).toEqual([0, 0])
})
