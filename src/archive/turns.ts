import { NoAnswerError, within } from '../stores/within.ts'

/** Does work when all that came before it is done; rejects where that takes too long. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * One thing after the other, so that a folder that hangs holds one thread and no more. What has not begun by its deadline
 * is not done at all; while something that began is past its own, everything else is refused at once.
 */
export function createTurns({ deadlineMs }: { readonly deadlineMs: number }): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  let isStuck = false

  return async function inTurn(work) {
    if (isStuck) throw late()
    let state: 'waiting' | 'begun' | 'given-up' | 'over' = 'waiting'
    const result = last.then(() => {
      if (state === 'given-up') throw late()
      state = 'begun'
      return work()
    })
    const settle = (): void => {
      state = 'over'
      isStuck = false
    }
    last = result.then(settle, settle)
    return within(deadlineMs, result, () => {
      if (state === 'begun') isStuck = true
      if (state === 'waiting') state = 'given-up'
      return late()
    })
  }
}

// --- internal ---

function late(): NoAnswerError {
  return new NoAnswerError('the folder did not answer in time')
}
