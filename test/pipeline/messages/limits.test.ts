import { expect, test } from 'vitest'
import { isJsonObject, parseJsonText } from '../../../src/json/json-value.ts'
import { events, json, type Script } from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { contentOf, openBefore, openStand, post, readTool, roundsOf, troubleOf, user } from './stand.ts'

const fine = json({
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [{ type: 'text', text: 'Fine.' }],
  usage: { input_tokens: 10, output_tokens: 1 },
  stop_reason: 'end_turn',
})

const window = { tokens: 8_000, output_reserve: 500 }

const reply = () => ({ content: [{ type: 'text' as const, text: 'Well.' }] })

test('a limit that would fit is not lowered, nor one that the profile leaves to the client', async () => {
  const body = { max_tokens: 7_000, messages: [user('Begin.'), ...roundsOf(2)] }
  const at = await openStand({ windowTokens: 8_000, outputReserveChecked: true, profile: { window }, reply })
  await post(at, body)
  const small = { max_tokens: 7_000, messages: [user('Begin anew.')] }
  expect((await post(at, small)).headers.get('x-foldgate-action')).toBe('relayed')
  expect(at.upstream.requests.at(-1)?.body.toString()).toContain('"max_tokens":7000')
  const lowered = await post(at, body)
  expect(lowered.headers.get('x-foldgate-action')).toBe('relayed;reason=output-limit')

  const kept = await openBefore(at.upstream, { window, overflow: { clamp_output: 'never' } })
  at.upstream.forget()
  for (let count = 0; count < 2; count += 1) await post(kept, body)
  for (const request of at.upstream.requests) expect(request.body.toString()).toContain('"max_tokens":7000')
})

const promptTokens = 10_000
const windowTokens = 16_000

/** Counts the limit beside the prompt, as Anthropic's models up to Claude 4 do. */
const counting: Script = (request) => {
  const { max_tokens: limit } = JSON.parse(request.body.toString())
  const message = `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${limit} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`
  const error = { type: 'invalid_request_error', message }
  const isTooMuch = promptTokens + Number(limit) > windowTokens
  return isTooMuch ? json({ type: 'error', error, request_id: 'req_1' }, 400) : fine
}

// The prompt had fitted, and a fold took most of it away.
test('a limit that is too high beside a prompt that fits is lowered, and the prompt goes as it was', async () => {
  await using at = await standWith(counting)
  const messages = [user('Go on.'), ...roundsOf(15)]
  const body = { model: 'm', max_tokens: 7_000, tools: [readTool], messages }
  const answer = await post({ foldgate: at }, body)
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
  expect(at.upstream.requests.map((request) => request.body.toString())).toEqual(
    [7_000, windowTokens - promptTokens].map((limit) => JSON.stringify({ ...body, max_tokens: limit })),
  )
})

// A server that wanted the prompt and the longest reply to fit together refused a request, which was sent again with a shorter
// reply. Of that the client had given most to thinking, and what was left was less: the server refused it for good.
test('where a reply is made shorter, thinking is given less of it', async () => {
  const at = await openStand({
    windowTokens: 8_000,
    outputReserveChecked: true,
    binding: 'none',
    reply: () => ({ content: [{ type: 'text', text: 'Well.' }] }),
  })
  const answer = await post(at, {
    max_tokens: 7_000,
    thinking: { type: 'enabled', budget_tokens: 6_000 },
    messages: [user(`Read: ${'the quick brown fox '.repeat(700)}`)],
  })
  const body = parseJsonText(at.upstream.requests.at(-1)?.body.toString() ?? '')
  const { max_tokens: limit, thinking } = isJsonObject(body) ? body : {}
  expect(answer.status).toBe(200)
  expect(troubleOf(at).map((each) => isJsonObject(each) && each['reason'])).toEqual(['window'])
  expect(Number(limit)).toBeLessThan(6_000)
  expect(thinking).toEqual({ type: 'enabled', budget_tokens: Number(limit) - 1_000 })
})

const error = { type: 'invalid_request_error', message: 'prompt is too long: 430000 tokens > 400000 maximum' }
const refused = json({ type: 'error', error }, 400)

/** The window that a request is treated by. */
async function windowOf(at: Stand, model: string, ...betas: readonly string[]): Promise<string | null> {
  const headers = betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }
  const answer = await post({ foldgate: at }, { model, messages: [user('Begin.')] }, headers)
  expect(answer.status).toBe(200)
  return answer.headers.get('x-foldgate-window')
}

const longContext = ['claude-code-20250219', ' context-1m-2025-08-07']

const windows: readonly (readonly [string, readonly string[], number])[] = [
  ['claude-sonnet-4-5', [], 200_000],
  ['claude-sonnet-4-5', ['claude-code-20250219'], 200_000],
  ['claude-sonnet-4-5', longContext, 1_000_000],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', longContext, 1_000_000],
  ['claude-sonnet-4-5[1m]', longContext, 1_000_000],
  ['claude-haiku-4-5', longContext, 200_000],
]

// A client that had asked for the window of a million tokens, by the flag of its beta, was compacted for 200,000.
test('the beta of a long context counts for the models that have it', async () => {
  await using at = await standWith(fine)
  // By its first answer the model has another name, which has the window without the beta.
  for (const [model, betas, tokens] of [...windows, ...windows])
    expect([model, betas, await windowOf(at, model, ...betas)]).toEqual([
      model,
      betas,
      `${tokens};source=table`,
    ])
})

const stating = (figures: object): Script => json({ data: [{ id: 'claude-sonnet-4-5', ...figures }] })

test('a list of models that has its window without the beta says nothing of it, but what is loaded does', async () => {
  const listed = { onQuestion: stating({ max_input_tokens: 180_000 }) }
  await using at = await standWith(fine, listed)
  expect(await windowOf(at, 'claude-sonnet-4-5')).toBe('180000;source=server')
  expect(await windowOf(at, 'claude-sonnet-4-5', ...longContext)).toBe('1000000;source=table')

  await using local = await standWith(fine, { onQuestion: stating({ max_model_len: 32_000 }) })
  expect(await windowOf(local, 'claude-sonnet-4-5', ...longContext)).toBe('32000;source=server')
})

test('what is learnt with the beta holds with it alone', async () => {
  await using at = await standWith([refused, fine])
  const long = 'the quick brown fox jumps over the dog '.repeat(12_000)
  const turns = Array.from({ length: 4 }, (_, index) => [
    user(`${index} ${long}`),
    { role: 'assistant', content: 'Read.' },
  ]).flat()
  const body = { model: 'claude-sonnet-4-5', messages: [...turns, user('Go on.')] }
  await post({ foldgate: at }, body, { 'anthropic-beta': longContext.join(',') })
  expect(await windowOf(at, 'claude-sonnet-4-5', ...longContext)).toBe('400000;source=learnt')
  expect(await windowOf(at, 'claude-sonnet-4-5')).toBe('200000;source=table')
})

const event = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

const used = { input_tokens: 9_000, output_tokens: 0 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'local', content: [], usage: used }
const started = event('message_start', { message: { ...message, stop_reason: null } })
const ended = [
  event('message_delta', { delta: { stop_reason: 'model_context_window_exceeded' }, usage: used }),
  event('message_stop', {}),
]
const tooLong = { type: 'invalid_request_error', message: 'prompt is too long' }

// A server that imitates Anthropic ran a model of Claude's name with a small window, and said so inside a 200. What the table has of
// the name made that seem impossible: the first such answer reached the client as it was.
test.each<[string, boolean, Script]>([
  ['an error as the first event', true, events([event('error', { error: tooLong })])],
  ['an error behind the beginning of a message', true, events([started, event('error', { error: tooLong })])],
  ['a stream that ends with nothing at the window', true, events([started, ...ended])],
  ['an error inside a plain answer', false, json({ type: 'error', error: tooLong })],
  [
    'a plain answer that is empty at the window',
    false,
    json({ ...message, stop_reason: 'model_context_window_exceeded' }),
  ],
])('%s is recovered, far below a window that only the table has', async (_name, stream, refusal) => {
  await using at = await standWith([refusal, fine])
  const messages = [user('Begin.'), ...roundsOf(12)]
  const body = { model: 'claude-haiku-4-5', stream, messages }
  const answer = await post({ foldgate: at }, body)
  expect(answer.headers.get('x-foldgate-action')).toBe('recovered')
  const others = await post({ foldgate: at }, body, { 'x-api-key': 'of-another' })
  expect(others.headers.get('x-foldgate-window')).toBe('200000;source=table')
  expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Fine.' }])
  const [first, second] = at.upstream.requests
  expect(second?.body.length).toBeLessThan((first?.body.length ?? 0) * 0.8)
})
