import { NoAnswerError, within } from '../stores/within.ts'

/** Does work when all that came before it is done; rejects if that takes too long. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Does one thing after the other, so that a folder that hangs holds one thread and no more. Work that has not begun by its
 * deadline is not done at all; while something has been under way for that long, everything else is refused at once.
 */
export function createOneAtATime({ deadlineMs }: { readonly deadlineMs: number }): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  let isStuck = false

  return async function inTurn(work) {
    if (isStuck) throw late()
    let isGivenUp = false
    let stuck: NodeJS.Timeout | undefined
    const result = last.then(() => {
      if (isGivenUp) throw late()
      // Counted from its beginning: work that had to wait for other work may be late although nothing hangs.
      stuck = setTimeout(() => {
        isStuck = true
      }, deadlineMs)
      return work()
    })
    const settle = (): void => {
      clearTimeout(stuck)
      isStuck = false
    }
    last = result.then(settle, settle)
    return within(deadlineMs, result, () => {
      isGivenUp = true
      return late()
    })
  }
}

// --- internal ---

function late(): NoAnswerError {
  return new NoAnswerError('the folder did not answer in time')
}
