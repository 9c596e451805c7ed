import { ownErrorCode } from '../../support/post-chat.ts'
import type { LoopReport } from '../../support/watch-loop.ts'
import { bodyOf, packed, type Attack } from './attack.ts'
import { type NeighbourReport, post, type Posted } from './post.ts'

import { type AttackedProgram, type Window, digestOf, MARK_HEADER } from './target.ts'

/** One way in which an attack is made. */
export type Manner = {
  readonly name: string
  readonly window: Window
  /** Longer by a message than the same client's last. */
  readonly isGrown: boolean
  readonly atOnce: number
}

export const manners: readonly Manner[] = [
  { name: 'cold', window: 'small', isGrown: false, atOnce: 1 },
  { name: 'grown', window: 'small', isGrown: true, atOnce: 1 },
  { name: 'cold, large window', window: 'large', isGrown: false, atOnce: 1 },
  { name: 'grown, large window', window: 'large', isGrown: true, atOnce: 1 },
  { name: 'three at once', window: 'small', isGrown: false, atOnce: 3 },
]

/** What came of an attack in one manner. */
export type Blow = {
  readonly manner: string
  /** As sent. */
  readonly bytes: number
  /** Of each request: what was done with it, such as `relayed` or `413 body_too_large`. */
  readonly fates: readonly string[]
  readonly loop: LoopReport | null
  readonly neighbour: NeighbourReport
  /** The most memory so far, in bytes. */
  readonly memoryBytes: number | null
  /** Whether the time was up before an answer came. */
  readonly isUnanswered: boolean
  /** What must not be, as sentences. */
  readonly wrong: readonly string[]
  /** Whether all that is wrong is a turn of the loop that took too long. */
  readonly isTooLongOnly: boolean
}

/** The longest that one turn of the loop may take, in milliseconds of processor time. */
export const GAP_MS_MAX = 50

/** How an attack is made. */
export type Way = {
  readonly manner: Manner
  readonly share: number
  readonly client: string
  /** Default `GAP_MS_MAX`. */
  readonly gapMsMax?: number
}

/** Makes an attack as this client, `share` of its size unless that is exact, and says what came of it and what of that is wrong. */
export async function runAttack(
  target: AttackedProgram,
  attack: Attack,
  { manner, share, client, gapMsMax = GAP_MS_MAX }: Way,
): Promise<Blow> {
  const { program, upstream, neighbour, room } = target
  const bytes = attack.isExact === true ? attack.bytes : attack.bytes * share
  const plain = bodyOf(attack.chat(bytes), manner.isGrown, attack.path)
  const body = attack.coding === undefined ? plain : packed(plain, attack.coding)
  // The same client where the manner is that of one that comes back.
  const key = `sk-${client} ${manner.window} ${manner.atOnce}`
  const mark = encodeURIComponent(`${client} ${manner.name}`)
  upstream.answerWith(mark, attack.answer === undefined ? null : () => attack.answer?.(bytes) ?? null)
  await target.takeLoop()
  const asking = Promise.all(
    Array.from({ length: manner.atOnce }, () =>
      post({
        port: program.port,
        body,
        key,
        ...(attack.path !== undefined && { path: attack.path }),
        headers: {
          [MARK_HEADER]: mark,
          'x-foldgate-profile': attack.profile ?? manner.window,
          ...(attack.coding !== undefined && { 'content-encoding': attack.coding }),
        },
      }),
    ),
  )
  const [posted, beside] = await Promise.all([asking, neighbour.during(asking)])
  const loop = await target.takeLoop()
  const memoryBytes = await program.memoryBytes()
  const ended = program.ended()
  const tooLong = gapWrong(loop, gapMsMax)
  const wrong = [
    ...(ended === null ? [] : [`ended (${ended}): ${lastOf(program.complaints())}`]),
    ...posted.flatMap(wrongOf),
    ...beside.failures.slice(0, 1).map((failure) => `the neighbour got ${failure}`),
    ...(beside.answered === 0 ? ['the neighbour was never answered'] : []),
    ...tooLong,
    ...((memoryBytes ?? 0) > room.memoryBytesMax
      ? [`took ${megabytes(memoryBytes)} MB, more than the container has`]
      : []),
  ]
  const received = upstream.receivedOf(mark)
  const digest = digestOf(body)
  // Replies that are joined are offered a tool more.
  if (
    attack.profile !== 'joining' &&
    posted.every(({ action }) => action.startsWith('relayed')) &&
    received.some((each) => each.digest !== digest)
  )
    wrong.push('what was relayed has other bytes')
  return {
    manner: manner.name,
    bytes: body.length,
    fates: posted.map(fateOf),
    loop,
    neighbour: beside,
    memoryBytes,
    isUnanswered: posted.some(({ status }) => status === -1),
    wrong,
    isTooLongOnly: wrong.length > 0 && wrong.length === tooLong.length,
  }
}

export const megabytes = (bytes: number | null): string =>
  bytes === null ? '–' : String(Math.round(bytes / 1024 / 1024))

/** What became of a request, in a few words. */
function fateOf({ status, text, action }: Posted): string {
  if (status === 200) return action
  if (status <= 0) return text
  return `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`
}

/** Foldgate may refuse with a code of its own; whoever is not answered at all was harmed. */
function wrongOf({ status, text }: Posted): readonly string[] {
  if (status === 200 || ownErrorCode(text) !== null) return status >= 500 && status !== 503 ? [text] : []
  return [`answered ${status}: ${text.slice(0, 200)}`]
}

function gapWrong(loop: LoopReport | null, gapMsMax: number): readonly string[] {
  if (loop === null) return []
  const { workMs, garbageMs } = loop.longestWithoutGarbage
  const gapMs = workMs - garbageMs
  return gapMs <= gapMsMax ? [] : [`held the loop for ${Math.round(gapMs)} ms`]
}

const lastOf = (lines: readonly string[]): string =>
  lines.join('').match(/FATAL ERROR[^\n]*|RangeError[^\n]*/)?.[0] ?? lines.join('').slice(-200)
