import { NoAnswerError } from './within.ts'

/** Rejects with what `late` makes where `work` takes longer than a deadline; what comes of it then is of no interest. */
export type Deadline = <Result>(work: Promise<Result>, late?: () => Error) => Promise<Result>

/**
 * `within` for work of which there is much, all under one deadline in milliseconds: one timer looks after all of it, since
 * one for each costs more than what a store in memory does.
 */
export function createDeadline(timeMs: number): Deadline {
  /** In the order of their ends. */
  const running = new Set<Running>()
  let timer: NodeJS.Timeout | null = null

  function look(): void {
    timer = null
    const nowMs = performance.now()
    for (const each of running) {
      if (each.endsAtMs > nowMs) {
        timer = setTimeout(look, each.endsAtMs - nowMs)
        return
      }
      running.delete(each)
      // An answer that has come is taken first: timers run before what was received is read.
      setImmediate(() => setImmediate(each.giveUp))
    }
  }

  function begin(each: Running): void {
    if (running.size === 0) timer?.ref()
    running.add(each)
    timer ??= setTimeout(look, timeMs)
  }

  function end(each: Running): void {
    // A process has nothing to wait for any more.
    if (running.delete(each) && running.size === 0) timer?.unref()
  }

  return (work, late = () => new NoAnswerError('no answer within the time')) =>
    new Promise((resolve, reject) => {
      const each = { endsAtMs: performance.now() + timeMs, giveUp: () => reject(late()) }
      begin(each)
      work.then(
        (result) => {
          end(each)
          resolve(result)
        },
        (error: unknown) => {
          end(each)
          reject(error)
        },
      )
    })
}

// --- internal ---

type Running = { readonly endsAtMs: number; readonly giveUp: () => void }
