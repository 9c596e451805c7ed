import { isBeginning } from '../../support/is-beginning.ts'
import type { Exchange } from '../harness/stage.ts'
import type { RequestBody } from '../harness/subject.ts'

/** A promise that was not kept. */
export type Problem = { readonly check: string; readonly detail: string }

/** What came of holding the promises against one request. */
export type Checked<Before = Seen> = {
  readonly problems: readonly Problem[]
  /** Whether what was sent before is no beginning of what was sent now. */
  readonly isCompaction: boolean
  readonly isFixedTooLarge: boolean
  /** Whether the upstream refused the sequence, or the thoughts in it. */
  readonly isRejected: boolean
  /** Replies of which a part was sent. */
  readonly brokenGroups: number
  readonly seen: Before | null
}

/** A request as the next one is compared with it: its messages or, in other APIs, its entries. */
export type Seen = {
  /** The client's newest. */
  readonly newest: string
  readonly sent: readonly string[]
  readonly passes: string
  /** All that is not the client's own. */
  readonly made: string
  /** The client's own that were sent with their own bytes. */
  readonly kept: ReadonlySet<number>
}

/** Whence each received message or entry comes. */
type AnyOrigin = { readonly kind: string; readonly index?: number }

/** Whether it was sent as it came. */
export function isUntouched({ action }: Pick<Exchange, 'action'>): boolean {
  return /^(?:relayed|failed-open|restored;reason=original)/.test(action)
}

/** What is wrong with an answer, whatever was sent for it. */
export function answerProblems(exchange: Exchange<unknown>, isFixedTooLarge: boolean): readonly Problem[] {
  const { action, isReply, status, answer } = exchange
  return [
    ...(action.startsWith('failed-open') ? [{ check: 'P2 failed open', detail: action }] : []),
    ...(isReply || isFixedTooLarge
      ? []
      : [{ check: 'an error reached the client', detail: `${status} ${answer.slice(0, 300)}` }]),
  ]
}

/** What was refused of these attempts for anything but the window. */
export function sequenceProblems(
  judged: readonly { readonly rejected: { readonly reason: string; readonly message: string } | null }[],
  attempts: number,
): readonly Problem[] {
  const rejected = judged.filter((each) => each.rejected !== null && each.rejected.reason !== 'window')
  const words = rejected[0]?.rejected?.message
  const detail = `${rejected.length} of ${attempts} attempts: ${words}`
  return rejected.length === 0 ? [] : [{ check: 'rejected for its sequence', detail }]
}

/** P1 of a request that was rewritten: what stands around its parts, and between them. */
export function aroundProblems(
  sent: Buffer,
  { before, after }: Pick<RequestBody, 'before' | 'after'>,
  rawParts: readonly string[],
  names: string,
): readonly Problem[] {
  const problems: Problem[] = []
  const add = (detail: string) => problems.push({ check: 'P1 same bytes', detail })
  if (!sent.subarray(0, before.length).equals(before)) add(`what stands before the ${names} differs`)
  if (!sent.subarray(-after.length).equals(after)) add(`what stands after the ${names} differs`)
  const between = sent.subarray(before.length, sent.length - after.length).toString('utf8')
  if (between.replaceAll(/\s*,\s*/g, ',') !== rawParts.join(',').replaceAll(/\s*,\s*/g, ','))
    add(`between the ${names} stands something else`)
  return problems
}

/** A request as the next one will be compared with it. */
export function seenOf(
  exchange: Exchange<unknown>,
  newest: string,
  sent: readonly string[],
  origins: readonly AnyOrigin[],
): Seen {
  return {
    newest,
    sent,
    passes: exchange.passes.join(),
    made: sent.filter((_, place) => origins[place]?.kind !== 'kept').join('\n'),
    kept: new Set(origins.flatMap(({ kind, index }) => (kind === 'kept' ? (index ?? []) : []))),
  }
}

/** Whether what was sent before is no beginning of what was sent now. */
export function isCompaction(previous: Seen | null, now: Seen): boolean {
  return previous !== null && !isBeginning(previous.sent, now.sent)
}

/** P4 and P5, as far as they compare a request with the one before. */
export function changeProblems(
  previous: Seen | null,
  now: Seen,
  { name, names, isFixedTooLarge }: { name: string; names: string; isFixedTooLarge: boolean },
): readonly Problem[] {
  if (previous === null) return []
  if (!isCompaction(previous, now)) {
    const isSame = previous.sent.length === now.sent.length && previous.newest !== now.newest
    const detail = `the same ${names} were sent as for the request before`
    return isSame && !isFixedTooLarge ? [{ check: 'P4 same prompt', detail }] : []
  }
  // A fold that has no room for a recap makes nothing either, but it takes messages away.
  const isFold = [...previous.kept].some((index) => !now.kept.has(index))
  if (isFold || now.passes !== previous.passes || now.made !== previous.made) return []
  const at = previous.sent.findIndex((text, index) => text !== now.sent[index])
  const detail = `nothing was made or folded, yet ${name} ${at} of what was sent before changed`
  return [{ check: 'P5 stable', detail }]
}
