import { describe, expect, test } from 'vitest'
import { refusesUsage, usageRefusalIn } from '../../../src/request/send/usage-refusals.ts'

const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } })

describe('a refusal of the field that asks for usage', () => {
  test.each<[string, string]>([
    ['OpenAI', error("Unknown parameter: 'stream_options'.", { param: 'stream_options' })],
    ['an error that names it elsewhere', error('Bad request.', { param: 'stream_options.include_usage' })],
    ['Azure, older versions', error('Unrecognized request argument supplied: stream_options')],
    ['xAI, Databricks', error('Argument not supported on this model: stream_options')],
    ['Groq', error("property 'stream_options' is unsupported")],
    ['Gemini', error('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.')],
    ['Go', error('json: unknown field "stream_options"')],
    ['Python, with a 500', "create() got an unexpected keyword argument 'stream_options'"],
    ['a sentence of its own', error('Streaming options (stream options) are for paying customers.')],
  ])('that names it: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('named')
  })

  const forbidden = { type: 'extra_forbidden', loc: ['body', 'stream_options'], input: {} }
  test.each<[string, string]>([
    [
      'Mistral',
      JSON.stringify({
        message: { detail: [{ ...forbidden, msg: 'Extra inputs are not permitted' }] },
        object: 'error',
      }),
    ],
    ['pydantic 1', JSON.stringify({ detail: [{ ...forbidden, msg: 'extra fields not permitted' }] })],
    ['JSON Schema', error('body must NOT have additional properties')],
    ['Zod', error('Unrecognized key(s) in object')],
    ['NestJS', JSON.stringify({ statusCode: 400, message: ['property x should not exist'] })],
    ['LiteLLM', error('UnsupportedParamsError: m does not support these unsupported parameters')],
    ['a field that is not allowed', error('The field is not allowed here.')],
  ])('that only knows of a field it does not know: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('unknown-field')
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['nothing to go by', error('I cannot make sense of this.')],
    ['an order', error('Conversation roles must alternate user/assistant/user/assistant/...')],
    ['a content type', error('Content type image_url is not supported by this model.')],
    // The field stands only in the client's own request, which some servers quote.
    ['a quotation', JSON.stringify({ detail: [{ msg: 'Field required', input: { stream_options: {} } }] })],
  ])('is not: %s', (_name, body) => {
    expect(usageRefusalIn(body)).toBe('opaque')
  })
})

test.each<[string, boolean]>([
  ['https://api.mistral.ai', true],
  ['https://codestral.mistral.ai:8443', true],
  ['https://mistral.ai.example.com', false],
  ['https://notmistral.ai', false],
  ['http://127.0.0.1:8000', false],
])('%s is known to refuse to be asked: %s', (origin, isKnown) => {
  expect(refusesUsage(new URL(origin).hostname)).toBe(isKnown)
})
