import { expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { rawMessages } from '../../support/post-chat.ts'
import { type Row, merged } from './fault.ts'
import { seenText, ask, type Seen } from './wire/ask.ts'
import { startWatched, toldText, whatWasTold } from './watched.ts'
import { goodAnswer, textOfAnswer, wholeOnWire, type GoodAnswer } from './wire/answers.ts'
import { rawUpstream, type Play, type RawRequest, type RawUpstream } from './wire/raw-upstream.ts'
import { nextRequest, requestKinds, smallWindow, type RequestKind } from './wire/requests.ts'

/** How an upstream fails one request of a kind, and what of its answer the client is owed all the same. */
export type Failing = {
  /** Acts on the request; null: nobody listens. */
  readonly play: Play | null
  /** Acts before the request's body has come, instead of `play`. */
  readonly isEarly?: boolean
  /** The body bytes that the upstream gave and that can be told apart; null where it gave no answer. */
  readonly owed: string | null
  /** Whether the answer is all that the upstream has to say. */
  readonly isAll: boolean
}

export type UpstreamFault = {
  readonly name: string
  /** Whether nobody listens while it lasts. */
  readonly isClosed?: boolean
  /** The kinds of request for which it makes sense. Default: all. */
  readonly kinds?: readonly RequestKind['name'][]
  readonly fails: (answer: GoodAnswer, kind: RequestKind, clientHas: ClientBytes) => Failing
  /** What foldgate.yaml says under `limits`. */
  readonly limits?: object
  /** A good request goes before it, so that its connection is used once more. */
  readonly isOnKeptConnection?: boolean
}

/** Resolves once the client has so many bytes of the body. */
type ClientBytes = (bytes: number) => Promise<void>

/** Meets the fault with each kind of request; kinds that saw the same share a row. */
export async function observeUpstreamFault(fault: UpstreamFault): Promise<readonly Row[]> {
  const kinds = requestKinds.filter(({ name }) => fault.kinds?.includes(name) ?? true)
  const rows = await Promise.all(kinds.map((kind) => observeOne(fault, kind)))
  return merged(rows, requestKinds.length)
}

const well: Play = (socket) => void socket.write(wholeOnWire(goodAnswer(nextRequest)))

/** Each Foldgate has a single place at the upstream: one that is not given back holds up the next request for good. */
async function observeOne(fault: UpstreamFault, kind: RequestKind): Promise<Row> {
  await using upstream = await rawUpstream(well, fault.isClosed)
  const watched = await startWatched({
    upstream: upstream.url,
    upstreams: { default: { url: upstream.url, concurrency: 1 } },
    settings: { limits: { ...fault.limits, concurrent: 2 } },
    profile: smallWindow,
  })
  try {
    return await meet(fault, kind, upstream, watched)
  } finally {
    await watched.foldgate.close()
    await eventually(() => expect(upstream.connections(), 'connections that stay open').toBe(0))
  }
}

async function meet(
  fault: UpstreamFault,
  kind: RequestKind,
  upstream: RawUpstream,
  { foldgate, adminOrigin }: Awaited<ReturnType<typeof startWatched>>,
): Promise<Row> {
  if (fault.isOnKeptConnection === true) await expectWell(foldgate.url)
  const clientBytes = countBytes()
  const failing = fault.fails(goodAnswer(kind), kind, clientBytes.reached)
  await failAs(upstream, failing)
  const before = upstream.requests.length
  const seen = await ask(foldgate.url, kind, clientBytes.note)
  const reached = upstream.requests.slice(before)
  await failAs(upstream, { play: well, owed: null, isAll: true })
  if (failing.play === null) await upstream.open()

  for (const request of reached) expectAsSent(request, kind)
  const lost = lostOf(seen, failing)
  const conversation = await expectWell(foldgate.url)
  await eventually(() => expect(upstream.connections(), 'connections').toBeLessThanOrEqual(1))
  const failed = seen.header('x-foldgate-conversation')
  const told = await whatWasTold(adminOrigin, conversation, foldgate.log, failed)
  const again = reached.length > 1 ? `, ${reached.length} attempts` : ''
  return { met: kind.name, seen: seenText(seen) + again, recorded: toldText(told), lost }
}

async function failAs(upstream: RawUpstream, { play, isEarly = false }: Failing): Promise<void> {
  if (play === null) return upstream.close()
  upstream.plays(play)
  upstream.playsEarly(isEarly ? (socket) => void play(socket, noRequest) : null)
}

const noRequest: RawRequest = { body: Buffer.alloc(0) }

/** The very next request works. Resolves with its conversation. */
async function expectWell(url: string): Promise<string> {
  const seen = await ask(url, nextRequest)
  const answer = textOfAnswer(goodAnswer(nextRequest))
  expect([seen.status, seen.isWhole, seen.body.toString()], 'the next request').toEqual([200, true, answer])
  return seen.header('x-foldgate-conversation') ?? ''
}

/** The client's own bytes, or a compacted form that ends with its latest message. */
function expectAsSent({ body }: RawRequest, kind: RequestKind): void {
  if (body.equals(kind.body)) return
  expect(kind.isCompacted, 'a request that reached the upstream as another').toBe(true)
  const [sent, received] = [rawMessages(kind), rawMessages({ body })]
  expect(received.length).toBeLessThan(sent.length)
  expect([received[0], received.at(-1)]).toEqual([sent[0], sent.at(-1)])
}

/** What of the answer did not arrive. Fails where that is more than the upstream kept to itself. */
function lostOf(seen: Seen, { owed, isAll }: Failing): string {
  if (seen.ownCode !== null) {
    expect(seen.isWhole, 'an error that is cut').toBe(true)
    expect(owed, 'an answer that could have been given').toBeNull()
    return 'the answer, and the client is told'
  }
  expect(seen.body.toString(), 'what came of the answer').toBe(owed)
  expect(seen.isWhole, 'whether the answer looks whole').toBe(isAll)
  return isAll ? 'nothing' : 'the rest of the answer: the cut shows'
}

function countBytes() {
  let bytes = 0
  const waiting = new Map<() => void, number>()
  const note = (count: number): void => {
    bytes = count
    for (const [resolve, wanted] of waiting) if (bytes >= wanted && waiting.delete(resolve)) resolve()
  }
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      waiting.set(resolve, count)
      note(bytes)
    })
  return { note, reached }
}
