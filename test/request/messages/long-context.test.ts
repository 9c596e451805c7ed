import { expect, test } from 'vitest'
import { json, type Script } from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { post, user } from './stand.ts'

const usage = { input_tokens: 10, output_tokens: 1 }
const content = [{ type: 'text', text: 'Fine.' }]
const fine = json({
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content,
  usage,
  stop_reason: 'end_turn',
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

// A client that had asked for the window of a million tokens, by the flag of its beta, was compacted for 200,000.
test.each<[string, readonly string[], string]>([
  ['claude-sonnet-4-5', [], '200000;source=table'],
  ['claude-sonnet-4-5', ['claude-code-20250219'], '200000;source=table'],
  ['claude-sonnet-4-5', longContext, '1000000;source=table'],
  ['claude-sonnet-4-5-20250929', longContext, '1000000;source=table'],
  ['claude-sonnet-4-20250514', longContext, '1000000;source=table'],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', longContext, '1000000;source=table'],
  ['claude-sonnet-4-5[1m]', longContext, '1000000;source=table'],
  ['claude-haiku-4-5', longContext, '200000;source=table'],
])('the beta of a long context counts for the models that have it: %s, %j', async (model, betas, window) => {
  await using at = await standWith(fine)
  expect(await windowOf(at, model, ...betas)).toBe(window)
  // By its answer the model has another name, which has the window without the beta.
  expect(await windowOf(at, model, ...betas)).toBe(window)
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
