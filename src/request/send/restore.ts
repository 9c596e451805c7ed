import type { Prepared, Send } from '../request.ts'
import { isAnswered, isOurDoing, sendAgain, standing } from './send.ts'

export type RestoreOptions = {
  /** The same view with user messages joined; null where that changes nothing. */
  readonly underStrictPlacement: (prepared: Prepared) => Promise<Prepared | null>
  /** The client's own bytes. */
  readonly asItCame: () => Prepared
  /** Called with what was accepted after a refusal. */
  readonly onWorked: (how: 'strict' | 'original', status: number) => void
}

/**
 * A rewritten request that is refused for what may be our doing is sent again: with user messages joined
 * where the refusal is about roles or order, and as the client's own bytes where that is not it or does
 * not help (P2). Overflow, authentication, rates and content policy are not our doing.
 */
export const restoreOnRefusal =
  (options: RestoreOptions) =>
  (send: Send): Send => {
    // What did not help once in this request does not help a smaller view either.
    const spent = new Set<'strict' | 'original'>()

    return async function sendRestoring(prepared) {
      const first = await send(prepared)
      if (!prepared.isRewritten || !isOurDoing(first)) return first
      let refused = first
      const joined =
        first.classification?.class === 'order' && !spent.has('strict')
          ? await options.underStrictPlacement(prepared)
          : null
      if (joined !== null) {
        const second = await sendAgain(first, () => send(joined))
        if (second === null) return standing(first)
        if (isAnswered(second)) options.onWorked('strict', first.answer.status)
        else spent.add('strict')
        if (!isOurDoing(second)) return { ...second, remedy: 'restored' }
        refused = second
      }
      if (spent.has('original')) return refused
      spent.add('original')
      const last = await sendAgain(refused, () => send(options.asItCame()))
      if (last === null) return standing(refused)
      // Where joining was refused too, this view was at fault: the next one may be welcome. Where the refused
      // request asked for usage, that may have been it: the next one goes without and shows.
      const isViewSuspect = !first.asksUsage || first.classification?.class === 'order'
      if (isAnswered(last) && joined === null && isViewSuspect) {
        options.onWorked('original', first.answer.status)
      }
      return { ...last, remedy: 'restored' }
    }
  }
