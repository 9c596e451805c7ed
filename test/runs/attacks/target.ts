import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startFoldgateProgram, type FoldgateProgram } from '../../support/foldgate-program.ts'
import { takeLoopReport, watchingFlags } from '../../support/loop-gaps.ts'
import type { LoopReport } from '../../support/watch-loop.ts'
import { MESSAGE, REPLY, RESPONSE } from '../fuzz/wire/recording-upstream.ts'
import type { Attack, HostileAnswer } from './attack.ts'
import { openNeighbour, type Neighbour, type NeighbourReport } from './post.ts'
import { parse } from 'yaml'
import { z } from 'zod'
import { containersOf, kinds, ofKind, podsIn } from '../../docs/kubernetes-objects.ts'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { closeAll, freePort, listen } from '../../support/free-port.ts'

/** The real program in its room, watched, with an upstream behind it and a neighbour beside whoever attacks it. */
export type AttackedProgram = {
  readonly program: FoldgateProgram
  readonly room: Room
  readonly upstream: AttackedUpstream
  readonly neighbour: Neighbour
  /** How the neighbour fares while nobody attacks. */
  readonly quiet: NeighbourReport
  /** The longest turns of the loop since this was last asked; null where the program has ended. */
  readonly takeLoop: () => Promise<LoopReport | null>
  /** Ends it and resolves with its CPU profile, as JSON; null where it made none. */
  readonly profile: () => Promise<string | null>
  readonly close: () => Promise<void>
}

/** A window that every attack outgrows, and one that few do: profiles by name, in tokens. */
export const windows = { small: 8_000, large: 1_000_000 } as const

export type Window = keyof typeof windows

export async function openAttackedProgram(
  { room: roomName, profile }: Pick<Attack, 'room' | 'profile'>,
  options: { readonly isProfiled?: boolean } = {},
): Promise<AttackedProgram> {
  const room = await roomOf(roomName)
  const upstream = await openAttackedUpstream()
  const program = await startFoldgateProgram({
    settings: {
      ...room.settings,
      upstreams: { default: { url: upstream.url } },
      ...(profile === 'archiving' && { archive: { dir: 'archive' } }),
      drain: { delay_s: 0, timeout_s: 2 },
      log_level: 'error',
    },
    profiles: {
      default: { ...room.profile, window: { tokens: windows.large } },
      large: { window: { tokens: windows.large } },
      small: { window: { tokens: windows.small, output_reserve: 1_000 }, trigger: 0.5 },
      archiving: {
        extends: 'small',
        summary: { model: 'summarizer' },
        strategy: 'summarize',
        recall: { enabled: true },
      },
      joining: { extends: 'small', recall: { enabled: true }, continuation: { max: 2 } },
    },
    nodeFlags: [
      ...room.nodeFlags,
      ...watchingFlags,
      ...(options.isProfiled === true ? ['--cpu-prof', '--cpu-prof-dir=profiles-of-cpu'] : []),
    ],
    admin: false,
  })
  const neighbour = openNeighbour(program.port)
  // What is loaded and compiled at first need is no attack's.
  await neighbour.times(WARMING)
  const quiet = await neighbour.times(QUIET)
  await takeLoopReport(program)
  return {
    program,
    room,
    upstream,
    neighbour,
    quiet,
    takeLoop: () => takeLoopReport(program),
    profile: async () => {
      if (options.isProfiled !== true || program.ended() !== null) return null
      process.kill(program.pid, 'SIGTERM')
      while (program.ended() === null) await pause(20)
      const folder = join(program.folder, 'profiles-of-cpu')
      const [file] = await readdir(folder)
      return file === undefined ? null : readFile(join(folder, file), 'utf8')
    },
    close: async () => {
      neighbour.leave()
      await program.close()
      await upstream.close()
    },
  }
}

/** By count, since time would warm the less the busier the machine is. */
const WARMING = 20

const QUIET = 10

/** What a program is given to live in. */
export type Room = {
  readonly settings: object
  /** The profile of those who ask for no other. */
  readonly profile: object
  readonly nodeFlags: readonly string[]
  /** What the container may take, in bytes: beyond it the kernel ends it. */
  readonly memoryBytesMax: number
}

/** The container of the sidecar example, by its own file; or one of several gigabytes, with settings by default. */
async function roomOf(name: Attack['room']): Promise<Room> {
  if (name === 'roomy') return { settings: {}, profile: {}, nodeFlags: [], memoryBytesMax: 4 * 1024 ** 3 }
  const [map] = await ofKind('sidecar.yaml', kinds.ConfigMap)
  const [pod] = (await podsIn('sidecar.yaml')).values()
  const container = pod && containersOf(pod).find((each) => each.name === 'foldgate')
  const memory = /^(\d+)Mi$/.exec(container?.resources.limits?.memory ?? '')
  if (map === undefined || memory === null) throw new Error('The sidecar example says no memory in Mi.')
  const mebibytes = Number(memory[1])
  const options = container?.env.find((each) => each.name === 'NODE_OPTIONS')?.value
  return {
    settings: object.parse(parse(map.data['foldgate.yaml'] ?? '')),
    profile: object.parse(parse(map.data['default.yaml'] ?? '')),
    nodeFlags: options?.split(' ') ?? flagsByMemory(mebibytes),
    memoryBytesMax: mebibytes * 1024 * 1024,
  }
}

const object = z.looseObject({})

/**
 * What V8 chooses in a container of this memory: half of it for what is old, the least for what is new. Node 24 in a
 * control group of 512 MiB has a heap of 259 MiB by that.
 */
const flagsByMemory = (mebibytes: number): readonly string[] => [
  `--max-old-space-size=${mebibytes / 2}`,
  '--max-semi-space-size=1',
]

/** A body as it reached the upstream. */
export type Received = {
  readonly bytes: number
  readonly digest: string
  /** Its first bytes, as text. */
  readonly head: string
}

export type AttackedUpstream = {
  readonly url: string
  /** What was received under a mark, the newest last. */
  readonly receivedOf: (mark: string) => readonly Received[]
  /** What is answered under a mark; null: something small. */
  readonly answerWith: (mark: string, answer: (() => HostileAnswer | null) | null) => void
  readonly close: () => Promise<void>
}

/** Requests of one client carry it, so that what was received is told apart. */
export const MARK_HEADER = 'x-attack-mark'

/** Swallows bodies of any size and answers with a small reply. */
async function openAttackedUpstream(): Promise<AttackedUpstream> {
  const received = new Map<string, Received[]>()
  const answers = new Map<string, () => HostileAnswer | null>()

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await swallow(incoming)
    const mark = String(incoming.headers[MARK_HEADER] ?? '')
    received.set(mark, [...(received.get(mark) ?? []), body])
    const isAsked = incoming.method === 'POST'
    const hostile = isAsked ? (answers.get(mark)?.() ?? null) : null
    outgoing.writeHead(isAsked ? 200 : 404, { 'content-type': hostile?.type ?? 'application/json' })
    if (hostile !== null) return pipeline(Readable.from(hostile.pieces), outgoing)
    outgoing.end(isAsked ? replyOf(incoming.url ?? '') : '{}')
  }

  // A connection that it closes by itself is no fault of whoever held it.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, outgoing) => {
    // Whoever leaves before the end has had enough.
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const port = await freePort()
  await listen(server, port)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    receivedOf: (mark) => received.get(mark) ?? [],
    answerWith: (mark, answer) => {
      if (answer === null) answers.delete(mark)
      else answers.set(mark, answer)
    },
    close: () => closeAll(server),
  }
}

export const digestOf = (body: Buffer): string => createHash('sha1').update(body).digest('hex')

function replyOf(path: string): string {
  if (path.includes('/messages')) return MESSAGE
  return path.includes('/responses') ? RESPONSE : REPLY
}

async function swallow(incoming: IncomingMessage): Promise<Received> {
  const hash = createHash('sha1')
  let bytes = 0
  let head = ''
  for await (const piece of incoming) {
    const buffer = Buffer.from(piece)
    if (bytes === 0) head = buffer.toString('latin1', 0, 200)
    hash.update(buffer)
    bytes += buffer.length
  }
  return { bytes, digest: hash.digest('hex'), head }
}
