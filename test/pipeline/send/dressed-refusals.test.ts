import { describe, expect, test } from 'vitest'
import { longRun } from '../../support/conversations.ts'
import { completion, events, json, windowedAt, type Script } from '../../support/fake-upstream.ts'
import { chatOf } from '../../support/post-chat.ts'
import { openPlays, smallWindow, strictTemplate, twoWishes } from './plays.ts'

const play = openPlays({ window: { tokens: 'auto', ratio: 1 } })

/** Some 20,000 tokens, and a few rounds more. */
const request = chatOf(longRun(36, 1))
const later = chatOf(longRun(38, 1))

/** Refuses what is beyond a window in its own words. */
const refusingAt = (windowTokens: number, refusal: Script): Script =>
  windowedAt(windowTokens, () => completion('fine'), refusal)

const says = (message: string, more: object = {}) => ({ error: { message, type: 'upstream_error', ...more } })

// The story: gateways put an id, advice or a status around what a server said, or that into a string of their own. Of 113
// known refusals 89 were read right then; the others went to the client, whose conversation was over.
describe('a refusal as gateways pass it on is recovered, and the window that it states is learnt', () => {
  const inner = { type: 'invalid_request_error', message: 'prompt is too long: 9000 tokens > 6000 maximum' }
  test.each<[string, number, number, object]>([
    [
      'with a request id behind it',
      400,
      6000,
      says('prompt is too long: 9252 tokens > 6000 maximum (request id: 20260923101112345678901234567890)', {
        param: '',
        code: 'bad_response_status_code',
      }),
    ],
    [
      'in a string under a key that nobody listed',
      400,
      6000,
      {
        error_code: 'BAD_REQUEST',
        message: JSON.stringify({ external_model_provider: 'x', external_model_error: { error: inner } }),
      },
    ],
    [
      'in the prose of a 502, two gateways deep',
      502,
      6000,
      says(
        `error, status code: 400, status: 400 Bad Request, body: ${JSON.stringify({ detail: JSON.stringify({ error: inner }) })}`,
      ),
    ],
    [
      'with a status in angle brackets before it',
      400,
      7000,
      says(
        '<400> InternalError.Algo.InvalidParameter: Total message token length exceed model limit (7000 tokens).',
      ),
    ],
  ])('%s', async (_, status, windowTokens, body) => {
    const at = play(refusingAt(windowTokens, json(body, status)))
    const first = await at.post(request)
    expect([first.status, first.action]).toEqual([200, 'recovered'])
    const next = await at.post(later)
    expect(next.header('x-foldgate-window')).toBe(`${windowTokens};source=learnt`)
    expect(next.action).toBe('compacted')
  })

  test('without a number: recovered, and nothing is made of its id', async () => {
    const message =
      'Total tokens of image and text exceed max message tokens. Request id: 0217724139474350000'
    const at = play(refusingAt(6000, json(says(message, { code: 'InvalidParameter' }), 400)))
    expect((await at.post(request)).action).toBe('recovered')
    const tokens = Number(/^\d+/.exec((await at.post(later)).header('x-foldgate-window') ?? '')?.[0])
    expect(tokens).toBeGreaterThan(6000)
  })
})

describe('a refusal that no rule can read is answered by one smaller attempt', () => {
  const odd = says('The payload did not pass stage 3 of 7.')

  test.each([400, 422])(
    'status %i: the client has its answer, and goes on from that view',
    async (status) => {
      const at = play(refusingAt(12_000, json(odd, status)))
      const reply = await at.post(request)
      expect([reply.status, reply.action]).toEqual([200, 'recovered'])
      // By Foldgate's count, in which bars and colours weigh more than in bytes.
      const [, received, sent] = /^(\d+);sent=(\d+)$/.exec(reply.header('x-foldgate-tokens') ?? '') ?? []
      expect(Number(sent)).toBeLessThan(Number(received) / 2)
      const bodies = at.upstream.requests.map(({ body }) => body)
      expect(bodies).toHaveLength(2)
      expect(bodies[1]?.length).toBeLessThan((bodies[0]?.length ?? 0) * 0.6)
      expect((await at.post(later)).status).toBe(200)
    },
  )

  test('nothing is believed of the model until it happened twice', async () => {
    // Half of any of them is well below it, all of it well above.
    const at = play(refusingAt(14_000, json(odd, 400)))
    const windowAt = async (seed: number) =>
      (await at.post(chatOf(longRun(36, seed)))).header('x-foldgate-window')
    expect(await windowAt(1)).toBe('128000;source=default')
    expect(await windowAt(2)).toMatch(/source=learnt/)
    expect(await windowAt(3)).toMatch(/source=learnt/)
  })

  test('where that is refused, too, the client gets the first refusal, and the wording is not tried again', async () => {
    const refusals = [1, 2, 3].map((stage) =>
      json(says(`The payload did not pass stage ${stage} of 7.`), 400),
    )
    const at = play(refusals)
    const reply = await at.post(request)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('stage 1 of 7')
    expect(at.upstream.requests).toHaveLength(2)
    expect((await at.post(request)).text).toContain('stage 3 of 7')
    expect(at.upstream.requests).toHaveLength(3)
  })

  test.each<[string, number, object]>([
    ['a small prompt', 400, odd],
    ['an unknown model', 400, says('The model `m` does not exist', { code: 'model_not_found' })],
    ['a rate', 400, says('Rate limit reached for requests')],
    ['a policy', 400, says('Rejected by our content management policy')],
    ['a balance', 400, says('Insufficient balance')],
    ['an odd field', 422, says('Unknown parameter: colour')],
    ['trouble', 500, says('Internal error')],
    ['a missing page', 404, says('Nothing here.')],
  ])('%s is never tried', async (name, status, body) => {
    const at = play(json(body, status))
    const asked = name === 'a small prompt' ? chatOf(longRun(4, 1)) : request
    expect((await at.post(asked)).status).toBe(status)
    expect(at.upstream.requests).toHaveLength(1)
  })

  test('a 500 that speaks of the context is', async () => {
    const at = play(refusingAt(12_000, json(says('context allocation'), 500)))
    expect((await at.post(request)).action).toBe('recovered')
  })
})

// The story: a template's refusal was answered with 400, 422 and 500 only; mlx-lm says it with 404, others with 424, and
// LM Studio in the first event of a stream. The client got a refusal of what Foldgate had made of its request.
describe('a refusal of the order of messages is answered whatever it came with', () => {
  const words = 'Conversation roles must alternate user/assistant/user/assistant/...'
  test.each([400, 404, 409, 424, 500, 502])('status %i', async (status) => {
    const at = play(strictTemplate(json({ error: words }, status)), smallWindow)
    const first = await at.post(chatOf(twoWishes))
    expect([first.status, first.action]).toEqual([200, 'restored;reason=strict'])
    expect((await at.post(chatOf(twoWishes))).action).toBe('compacted')
    expect(at.upstream.requests).toHaveLength(3)
  })

  test('the first event of a stream with status 200', async () => {
    const refusal = { error: { message: `Error rendering prompt with jinja template: "${words}".` } }
    const delta = { choices: [{ index: 0, delta: { role: 'assistant', content: 'fine' } }] }
    const good = events([`data: ${JSON.stringify(delta)}\n\n`, 'data: [DONE]\n\n'])
    const at = play(
      strictTemplate(events([`event: error\ndata: ${JSON.stringify(refusal)}\n\n`]), good),
      smallWindow,
    )
    const first = await at.post({ ...chatOf(twoWishes), stream: true })
    expect(first.action).toBe('restored;reason=strict')
    expect(first.text).toContain('fine')
    expect(first.text).not.toContain('jinja')
    expect((await at.post({ ...chatOf(twoWishes), stream: true })).action).toBe('compacted')
    expect(at.upstream.requests).toHaveLength(3)
  })
})
