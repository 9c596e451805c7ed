import { expect, test } from 'vitest'
import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { readTool, roundsOf, user } from './stand.ts'

const windowTokens = 16_000
const promptTokens = 10_000

/** Counts the limit beside the prompt, as Anthropic's models up to Claude 4 do. */
const counting = fakeUpstream((request, outgoing, incoming) => {
  const { max_tokens: limit } = JSON.parse(request.body.toString())
  const message = `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${limit} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`
  const isTooMuch = promptTokens + Number(limit) > windowTokens
  const refused = { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }
  const content = [{ type: 'text', text: 'Done.' }]
  const answered = { type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }
  return json(isTooMuch ? refused : answered, isTooMuch ? 400 : 200)(request, outgoing, incoming)
})

// The prompt had fitted, and a fold took most of it away.
test('a limit that is too high beside a prompt that fits is lowered, and the prompt goes as it was', async () => {
  await using upstream = await counting
  const foldgate = await startFoldgate({ upstream: upstream.url })
  const body = {
    model: 'm',
    max_tokens: 7_000,
    tools: [readTool],
    messages: [user('Go on.'), ...roundsOf(15)],
  }
  const answer = await fetch(`${foldgate.url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key' },
    body: JSON.stringify(body),
  })
  await answer.text()
  await foldgate.close()
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
  expect(upstream.requests.map((request) => request.body.toString())).toEqual(
    [7_000, windowTokens - promptTokens].map((limit) => JSON.stringify({ ...body, max_tokens: limit })),
  )
})
