import { describe, expect, onTestFinished, test } from 'vitest'
import { startSummaryModel, type SummaryModelOptions, type SummaryQuality } from './summary-model.ts'

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
