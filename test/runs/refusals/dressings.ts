import fc from 'fast-check'
import type { WholeAnswer } from '../../../src/overflow/classify.ts'

/** What a server says of a request, and what that is. */
export type PlainRefusal = {
  readonly name: string
  readonly message: string
  readonly isOverflow: boolean
  /** What the message states; null where it states none. */
  readonly windowTokens: number | null
}

export type DressedRefusal = { readonly of: PlainRefusal; readonly answer: WholeAnswer }

/**
 * Refusals as gateways pass them on: with something before, behind and around the message, each drawn by a seed. What is
 * put there says nothing of the prompt, and some of it is full of numbers.
 */
export function dressedRefusals(
  refusals: readonly PlainRefusal[],
  seed: number,
  count: number,
): readonly DressedRefusal[] {
  const drawn = fc.record({
    of: fc.constantFrom(...refusals),
    lead: part(leads),
    tail: part(tails),
    wrapper: fc.constantFrom(...wrappers),
  })
  return fc.sample(drawn, { seed, numRuns: count }).map(({ of, lead, tail, wrapper }) => ({
    of,
    answer: wrapper(`${lead}${of.message}${tail}`),
  }))
}

// --- internal ---

type Part = (number: (digits: number) => string) => string

/** One of the parts with numbers of its own in it, or none in one of four. */
function part(parts: readonly Part[]): fc.Arbitrary<string> {
  const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 64, maxLength: 64 })
  const filled = fc.tuple(fc.constantFrom(...parts), digits).map(([fill, drawn]) => {
    let at = 0
    return fill((length) => {
      const [first = 0, ...others] = drawn.slice(at, at + length)
      at += length
      return `${Math.max(1, first)}${others.join('')}`
    })
  })
  return fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 3, arbitrary: filled })
}

const tails: readonly Part[] = [
  (n) => ` (request id: 20260923${n(24)})`,
  (n) => ` Request id: 0217${n(15)}`,
  (n) => ` trace_id=${n(4)}af${n(6)}`,
  (n) => ` (after ${n(1)} retries)`,
  (n) => ` [trace: 00-${n(8)}f92f${n(4)}-00f0${n(6)}-01]`,
  (n) => ` (HTTP 400, provider: acme, node 10.0.${n(2)}.12:${n(4)})`,
  () => ' Received Model Group=small\nAvailable Model Group Fallbacks=None',
  (n) => ` LiteLLM Retried: ${n(1)} times, LiteLLM Max Retries: ${n(1)}`,
  (n) => ` at 2026-11-20T10:11:${n(2)}.${n(3)}Z`,
  (n) => ` (cost $0.${n(4)})`,
  () =>
    ' For image inputs, the number of image tokens depends on the number of images, and possibly their size.',
  () => ' Attached files, documents, audio and video count as well.',
  () => ' Consider upgrading your plan, or choose a model with more room.',
  () => ' If the server runs out of GPU memory, start it with a smaller value.',
  (n) => ` This includes ${n(4)} billable characters.`,
  (n) => ` See https://docs.test/errors/${n(4)}#limits for more.`,
  () => ' Please contact support@example.test if this goes on.',
  () => ' Tool definitions and the system prompt are part of it.',
  (n) => ` Retried ${n(1)} times in ${n(2)}.${n(1)} seconds.`,
  (n) => ` (code: ${n(4)}, type: upstream_error)`,
  (n) => `\nrequest_id: req_${n(12)}, model: acme/some-model-${n(2)}b`,
  (n) => ` | elapsed ${n(4)} ms | attempt ${n(1)} of 3`,
]

const leads: readonly Part[] = [
  () => '<400> InternalError.Algo.InvalidParameter: ',
  (n) => `<${n(4)}> `,
  (n) => `[${n(4)}] `,
  () => 'Acme: ',
  (n) => `10.0.${n(2)}.12:${n(4)}: `,
  () => 'litellm.BadRequestError: OpenAIException - ',
  () => '[acme/provider-1] ',
  () => 'Upstream returned 400: ',
  () => 'Error code: 400 - ',
  () => 'Provider returned error: ',
  () => 'error, status code: 400, message: ',
  (n) => `req_${n(10)}: `,
  (n) => `2026-11-20T10:11:${n(2)}Z ERROR `,
  () => 'openai error (400 Bad Request): ',
  (n) => `channel ${n(3)} (acme): `,
]

const json = (body: unknown, status = 400): WholeAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
})

const inner = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } })

const wrappers: readonly ((message: string) => WholeAnswer)[] = [
  (message) =>
    json({ error: { message, type: 'upstream_error', param: '', code: 'bad_response_status_code' } }),
  (message) => json({ error: { message, type: null, param: null, code: null } }),
  (message) => json({ error: message }),
  (message) =>
    json({
      error_code: 'BAD_REQUEST',
      message: JSON.stringify({
        external_model_provider: 'acme',
        external_model_error: { type: 'error', error: { type: 'invalid_request_error', message } },
      }),
    }),
  (message) => json({ detail: inner(message) }, 422),
  (message) =>
    json({ error: { message: 'Provider returned error', code: 400, metadata: { raw: inner(message) } } }),
  (message) =>
    json(
      { error: { message: `error, status code: 400, status: 400 Bad Request, body: ${inner(message)}` } },
      502,
    ),
  (message) =>
    json({ error: { message: 'Upstream failed', upstream: { response: { body: inner(message) } } } }),
  (message) =>
    json({ message: `Request failed with status code 400: ${JSON.stringify({ reason: inner(message) })}` }),
  (message) => ({ status: 400, contentType: 'text/plain', body: message }),
  (message) => json({ success: false, errors: [{ code: 7000, message }], result: null }),
]
