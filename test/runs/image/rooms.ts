import type { Running } from '../../support/run-command.ts'

/** What a command of the image is run with. */
export type Command = {
  /** Program and arguments, as the Dockerfile has them. */
  readonly words: readonly string[]
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
}

/** The image as it is run: what may be written, and by whom. */
export type Started = Command & {
  readonly user: number
  readonly group: number
  /** Path in the image, and the folder that is mounted there. */
  readonly volumes: ReadonlyMap<string, string>
}

/** Runs commands with a folder as their root. */
export type Rooms = {
  /** How, in a few words. */
  readonly name: string
  /** Whether a program that is run finds nothing but the image: no other file, no shell, a root that is read-only. */
  readonly isClosed: boolean
  /** A build step, in a shell with the tools of a build, as root of its folder. Resolves with what it said. */
  readonly build: (root: string, command: Command) => Promise<string>
  /** The image's program. */
  readonly start: (root: string, started: Started) => Running
}
