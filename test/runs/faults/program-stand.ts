import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { adminPlace } from '../../admin/ask-admin.ts'
import type { OnEnd } from '../../config/temporary-folder.ts'
import { serve, settingsFolder, type Program } from '../../programs/program.ts'
import { smallWindow, requestKinds, type RequestKind } from './wire/requests.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { ask } from './wire/ask.ts'
import { goodAnswer } from './wire/answers.ts'

/** A folder with settings under which it ends at once, and with an empty folder `disk`. */
export async function programFolder(settings: object, onEnd: OnEnd): Promise<string> {
  const cwd = await settingsFolder({ drain: { delay_s: 0, timeout_s: 10 }, ...settings }, smallWindow, onEnd)
  await mkdir(join(cwd, 'disk'))
  return cwd
}

/** Starts one there, by `start` where the usual way will not do. */
export async function startProgram<Started extends Program & { readonly url: string }>(
  upstreamUrl: string,
  start: (args: readonly string[]) => Promise<Started>,
): Promise<Started & { readonly adminOrigin: string }> {
  for (;;) {
    const admin = await adminPlace()
    const foldgate = await start(['--upstream', upstreamUrl, '--admin-port', String(admin.port)])
    const [line] = await foldgate.said(/.*listens on .*/)
    if (line.includes(`"page":"${admin.origin}/"`)) return { ...foldgate, adminOrigin: admin.origin }
    // Another program was faster, and would answer in its place.
    await endInOrder(foldgate)
  }
}

/** A Foldgate in a process of its own, whose operator looks on. */
export type Served = Awaited<ReturnType<typeof serve>> & { readonly adminOrigin: string }

/** Starts one there in the usual way. */
export const startUsual = (cwd: string, upstreamUrl: string, onEnd: OnEnd): Promise<Served> =>
  startProgram(upstreamUrl, (args) => serve(args, { cwd, onEnd }))

/** Its lines, as the tests in this process have them of theirs. */
export const linesOf = (program: Pick<Program, 'stdout'>): readonly string[] =>
  program
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))

/** Ends it by a signal; fails unless it ends in order. */
export async function endInOrder(program: Pick<Program, 'child' | 'ended'>): Promise<void> {
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
}

/** An upstream whose streams stop after their first event until they are let go; `held` tells how many have. */
export async function holdingUpstream(otherwise: Script) {
  const released = Promise.withResolvers<void>()
  let held = 0
  const upstream = await fakeUpstream(async (received, outgoing) => {
    if (!received.body.includes('"stream":true')) return otherwise
    const [first = '', ...rest] = goodAnswer(kindOf('streamed')).pieces
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write(first, () => void (held += 1))
    await released.promise
    return void outgoing.end(rest.join(''))
  })
  return {
    upstream,
    held: () => held,
    release: () => released.resolve(),
    [Symbol.asyncDispose]: upstream.close,
  }
}

/** How many requests there are at a time, and how many of them the upstream takes. */
export const LOAD = 12
export const PLACES = 4

/** A program with as many streams under way as the upstream takes, and more requests in line. */
export async function underLoad(
  { upstream, held }: Awaited<ReturnType<typeof holdingUpstream>>,
  timeoutS: number,
  onEnd: OnEnd,
) {
  const upstreams = { default: { url: upstream.url, concurrency: PLACES } }
  const cwd = await programFolder({ drain: { delay_s: 0, timeout_s: timeoutS }, upstreams }, onEnd)
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
