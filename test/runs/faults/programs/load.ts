import { expect } from 'vitest'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { eventually } from '../../../support/eventually.ts'
import { fakeUpstream, type FakeUpstream, type Script } from '../../../support/fake-upstream.ts'
import { ask, type Seen } from '../wire/ask.ts'
import { goodAnswer } from '../wire/good-answer.ts'
import { requestKinds, type RequestKind } from '../wire/request-kinds.ts'
import { programFolder, startUsual, type Served } from './program-stand.ts'

/** An upstream whose streams stop after their first event until they are let go. */
export type HoldingUpstream = {
  readonly upstream: FakeUpstream
  /** How many streams have stopped. */
  readonly held: () => number
  readonly release: () => void
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export async function holdingUpstream(otherwise: Script): Promise<HoldingUpstream> {
  const released = Promise.withResolvers<void>()
  let held = 0
  const upstream = await fakeUpstream(async (received, outgoing, incoming) => {
    if (!received.body.includes('"stream":true')) return otherwise(received, outgoing, incoming)
    const [first = '', ...rest] = goodAnswer(kindOf('streamed')).pieces
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(first, () => {
      held += 1
    })
    await released.promise
    outgoing.end(rest.join(''))
  })
  return {
    upstream,
    held: () => held,
    release: () => released.resolve(),
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  }
}

/** How many requests there are at a time, and how many of them the upstream takes. */
export const LOAD = 12
export const PLACES = 4

export type UnderLoad = {
  readonly foldgate: Served
  readonly running: readonly Promise<Seen>[]
}

/** A program with as many streams under way as the upstream takes, and more requests in line. */
export async function underLoad(
  { upstream, held }: HoldingUpstream,
  timeoutS: number,
  onEnd: OnEnd,
): Promise<UnderLoad> {
  const cwd = await programFolder(
    {
      drain: { delay_s: 0, timeout_s: timeoutS },
      upstreams: { default: { url: upstream.url, concurrency: PLACES } },
    },
    onEnd,
  )
  const foldgate = await startUsual(cwd, upstream.url, onEnd)
  const running = Array.from({ length: LOAD }, () => ask(foldgate.url, kindOf('streamed')))
  await eventually(() => expect(held()).toBe(PLACES))
  // Whoever comes after the others is answered after they were read.
  await fetch(`${new URL(foldgate.url).origin}/healthz`)
  await fetch(`${new URL(foldgate.url).origin}/healthz`)
  return { foldgate, running }
}

/** The kind of this name. */
export function kindOf(name: RequestKind['name']): RequestKind {
  const kind = requestKinds.find((each) => each.name === name)
  if (kind === undefined) throw new Error(`There is no kind ${name}.`)
  return kind
}
