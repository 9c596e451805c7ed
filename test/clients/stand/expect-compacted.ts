import { expect } from 'vitest'
import { ROUNDS, WINDOW_TOKENS, type Files } from './agent-stand.ts'

/** An upstream of either dialect, as far as it is asked. */
export type Seen = { readonly upstream: { readonly requests: readonly SeenRequest[] } }

type SeenRequest = {
  readonly path: string
  readonly rejected: object | null
  readonly promptTokens: number
  readonly body: { readonly includes: (text: string) => boolean }
}

/** How the requests were made. */
export type Made = {
  /** Default: plain. */
  readonly form?: 'plain' | 'streamed'
  /** Where the upstream got them. Default: where chat completions are. */
  readonly path?: string
}

/**
 * So many requests were made, none was refused, each fitted the window, and Foldgate had to do something for it. Returns
 * what the matrix says of it.
 */
export function expectCompacted(
  at: Seen,
  requests: number,
  { form = 'plain', path = '/v1/chat/completions' }: Made = {},
): string {
  const seen = at.upstream.requests
  expect(seen.map(({ rejected }) => rejected)).toEqual(Array(requests).fill(null))
  expect([...new Set(seen.map((request) => request.path))]).toEqual([path])
  for (const { promptTokens } of seen) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
  expect(seen.every(({ body }) => body.includes('"stream":true') === (form === 'streamed'))).toBe(true)
  expect(seen.at(-1)?.body.includes('<conversation-recap>')).toBe(true)
  return String(requests)
}

/** The agent read each file of so many turns, more than the window holds, and all of it as `expectCompacted` says. */
export function expectTurns(at: Seen & Files, turns: number, made: Made = {}): string {
  expect(new Set(at.read).size).toBe(turns * ROUNDS)
  expect(at.returnedTokens()).toBeGreaterThan(WINDOW_TOKENS)
  return expectCompacted(at, turns * (ROUNDS + 1), made)
}
