import { vi } from 'vitest'

/**
 * Waits until `check` throws no more and gives back what it returns. Patient, as `expect.poll` is here: what comes at
 * once on an idle machine takes seconds on a busy one.
 */
export function eventually<Result>(
  check: () => Result | Promise<Result>,
  options: { readonly interval?: number; readonly timeout?: number } = {},
): Promise<Result> {
  return vi.waitFor(check, { timeout: 30_000, ...options })
}
