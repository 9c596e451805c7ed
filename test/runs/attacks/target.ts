import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startFoldgateProgram, type FoldgateProgram } from '../../support/foldgate-program.ts'
import { takeLoopReport, watchingFlags } from '../../support/loop-gaps.ts'
import type { LoopReport } from '../../support/watch-loop.ts'
import type { Attack } from './attack.ts'
import { openNeighbour, type Neighbour, type NeighbourReport } from './neighbour.ts'
import { roomOf, type Room } from './rooms.ts'
import { openAttackedUpstream, type AttackedUpstream } from './upstream.ts'

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
  await neighbour.during(pauseOf(WARMING_MS))
  const quiet = await neighbour.during(pauseOf(QUIET_MS))
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
      while (program.ended() === null) await pauseOf(20)
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

// --- internal ---

const WARMING_MS = 400

const QUIET_MS = 300

function pauseOf(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
