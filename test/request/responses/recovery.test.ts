import { describe, expect, test } from 'vitest'
import type { Overflow } from '../../support/responses/responses-upstream.ts'
import { openStand, post, roundsOf, user } from './stand.ts'

const shapes: readonly (readonly [string, Overflow])[] = [
  ['a 400', { shape: 'status' }],
  ['a stream that fails at once', { shape: 'stream' }],
  ['the same behind an error event as OpenAI nests it', { shape: 'stream', errorEvent: 'nested' }],
  ['the same behind a flat one', { shape: 'stream', errorEvent: 'flat' }],
  ['a code of a relay’s own', { shape: 'status', code: 'context_too_large' }],
  [
    'OpenRouter’s, with the truth beside it',
    { shape: 'status', code: 'invalid_prompt', errorType: 'context_length_exceeded' },
  ],
]

/** About 6,000 tokens. */
const input = [user('Read every part.'), ...roundsOf(10)]

/** A window that is too large is believed until the upstream says otherwise. */
const believed = { window: { tokens: 10_000 } }

describe.each([
  ['plain', false],
  ['streamed', true],
])('an overflow is recovered within the request, %s', (_, stream) => {
  test.each(shapes)('%s', async (_name, overflow) => {
    const stand = await openStand({
      windowTokens: 4_000,
      overflow,
      profile: believed,
      reply: () => ({ output: [{ type: 'message', text: 'All is well.' }] }),
    })
    const { status, headers, text } = await post(stand, { input, stream, max_output_tokens: 500 })
    expect([status, headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
    expect(text).toContain('All is well.')
    expect(text).not.toMatch(/response\.failed|"error":\{/)
    const { requests } = stand.upstream
    expect(requests[0]?.rejected?.reason).toBe('window')
    expect(requests.at(-1)?.rejected).toBeNull()
  })

  test('where nothing helps the client gets the upstream’s own error', async () => {
    const stand = await openStand({
      windowTokens: 10,
      overflow: { shape: 'stream', errorEvent: 'nested' },
      profile: believed,
      reply: () => ({ output: [] }),
    })
    const { status, text } = await post(stand, { input, stream })
    expect(status).toBe(stream ? 200 : 400)
    expect(text).toContain('Your input exceeds the context window of this model.')
  })
})
