import { expect } from 'vitest'
import type { StrictUpstream } from '../../../src/demo/strict-upstream.ts'
import { WINDOW_TOKENS } from './agent-stand.ts'

/**
 * So many requests were made, none was refused, each fitted the window, was asked for in that form,
 * and Foldgate had to do something for it. Returns what the matrix says of it.
 */
export function expectCompacted(
  at: { readonly upstream: StrictUpstream },
  requests: number,
  form: 'plain' | 'streamed' = 'plain',
): string {
  const seen = at.upstream.requests.filter(({ path }) => path.includes('/chat/completions'))
  expect(seen.map(({ rejected }) => rejected)).toEqual(Array(requests).fill(null))
  for (const { promptTokens } of seen) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
  expect(seen.every(({ body }) => body.includes('"stream":true') === (form === 'streamed'))).toBe(true)
  expect(seen.at(-1)?.body.includes('<conversation-recap>')).toBe(true)
  return String(requests)
}
