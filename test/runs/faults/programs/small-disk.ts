import { spawnSync, type ChildProcess } from 'node:child_process'
import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { serve } from '../../../programs/program.ts'

/**
 * Why no disk of a test's own can be mounted here; null where it can. It takes Linux, and namespaces of users, which some
 * containers and distributions forbid.
 */
export const diskImpossible =
  spawnSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
    ? null
    : 'no disk can be mounted here'

/** A disk of a few megabytes that only one program sees, and that ends with it. */
export type SmallDisk = {
  /** Leaves no room on it. */
  readonly fill: () => Promise<void>
  readonly makeRoom: () => Promise<void>
  readonly makeReadOnly: () => void
  readonly makeWritable: () => void
  /** A file on it, as this process reaches it. */
  readonly pathOf: (name: string) => string
}

/** How the disk is when the program starts. */
export type DiskState = 'empty' | 'full' | 'read-only'

/** Runs a Foldgate that sees a small disk as `disk` in its folder. */
export async function serveOnSmallDisk(
  args: readonly string[],
  cwd: string,
  onEnd: OnEnd,
  state: DiskState = 'empty',
) {
  const mountPoint = join(cwd, 'disk')
  const command = join(cwd, 'on-small-disk.sh')
  const prepare = { empty: 'true', full: FILL, 'read-only': 'mount -o remount,ro "$0"' }[state]
  // Each takes the other's place, so that the program's id is known and signals reach it.
  await writeFile(
    command,
    `#!/bin/sh\nexec unshare --mount --map-root-user sh -c 'mount -t tmpfs -o size=${DISK_SIZE} none "$0" && (${prepare}) && exec "$@"' '${mountPoint}' '${process.execPath}' "$@"\n`,
  )
  await chmod(command, 0o755)
  const foldgate = await serve(args, { cwd, onEnd, command: [command, program] })
  return { ...foldgate, disk: diskOf(foldgate.child, mountPoint) }
}

// --- internal ---

const DISK_SIZE = '4m'

const program = join(import.meta.dirname, '../../../src/main.ts')

const FILL = 'cat /dev/zero > "$0/filler" 2>/dev/null; true'

function diskOf(child: ChildProcess, mountPoint: string): SmallDisk {
  const pathOf = (name: string) => join('/proc', String(child.pid), 'root', mountPoint, name)
  return {
    pathOf,
    fill: async () => {
      // Until nothing more fits.
      spawnSync('sh', ['-c', 'cat /dev/zero > "$0" 2>/dev/null', pathOf('filler')])
      await stat(pathOf('filler'))
    },
    makeRoom: () => rm(pathOf('filler')),
    makeReadOnly: () => remount(child, mountPoint, 'ro'),
    makeWritable: () => remount(child, mountPoint, 'rw'),
  }
}

function remount(child: ChildProcess, mountPoint: string, how: 'ro' | 'rw'): void {
  const within = ['--target', String(child.pid), '--user', '--mount', '--preserve-credentials']
  const done = spawnSync('nsenter', [...within, 'mount', '-o', `remount,${how}`, mountPoint])
  if (done.status !== 0) throw new Error(`The disk cannot be remounted: ${done.stderr.toString()}`)
}
