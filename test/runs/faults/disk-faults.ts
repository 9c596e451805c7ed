import { spawnSync } from 'node:child_process'
import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { compactedRow, conversationOfNext, lostOf, send, untilUsed } from './conversation-walk.ts'
import type { Fault } from './fault.ts'
import { eventsUpTo, toldText, whatWasTold, withoutJournal, withoutWaits } from './watched.ts'
import { endInOrder, linesOf, programFolder, startProgram } from './program-stand.ts'
import type { OnEnd } from '../../config/temporary-folder.ts'
import { main, serve } from '../../programs/program.ts'

/**
 * Why no disk of a test's own can be mounted here; null where it can. It takes Linux, and namespaces of users, which some
 * containers and distributions forbid.
 */
const impossible =
  spawnSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
    ? null
    : 'no disk can be mounted here'

/** What is done with the disk before the program starts. */
const preparations = {
  empty: 'true',
  full: 'cat /dev/zero > "$0/filler" 2>/dev/null; true',
  'read-only': 'mount -o remount,ro "$0"',
}

/** Runs a Foldgate that sees a disk of a few megabytes as `disk` in its folder. It alone does, and the disk ends with it. */
async function serveOnSmallDisk(
  args: readonly string[],
  cwd: string,
  onEnd: OnEnd,
  state: keyof typeof preparations,
) {
  const mountPoint = join(cwd, 'disk')
  const command = join(cwd, 'on-small-disk.sh')
  // Each takes the other's place, so that the program's id is known and signals reach it.
  await writeFile(
    command,
    `#!/bin/sh\nexec unshare --mount --map-root-user sh -c 'mount -t tmpfs -o size=4m none "$0" && (${preparations[state]}) && exec "$@"' '${mountPoint}' '${process.execPath}' "$@"\n`,
  )
  await chmod(command, 0o755)
  const foldgate = await serve(args, { cwd, onEnd, command: [command, main] })
  const pid = String(foldgate.child.pid)
  const filler = join('/proc', pid, 'root', mountPoint, 'filler')
  const remount = (how: 'ro' | 'rw'): void => {
    const within = ['--target', pid, '--user', '--mount', '--preserve-credentials']
    const done = spawnSync('nsenter', [...within, 'mount', '-o', `remount,${how}`, mountPoint])
    if (done.status !== 0) throw new Error(`The disk cannot be remounted: ${done.stderr.toString()}`)
  }
  const disk = {
    fill: async () => {
      // Until nothing more fits.
      spawnSync('sh', ['-c', 'cat /dev/zero > "$0" 2>/dev/null', filler])
      await stat(filler)
    },
    makeRoom: () => rm(filler),
    makeReadOnly: () => remount('ro'),
    makeWritable: () => remount('rw'),
  }
  return { ...foldgate, disk }
}

type SmallDisk = Awaited<ReturnType<typeof serveOnSmallDisk>>['disk']

const onDisk = { store: { url: 'sqlite:disk/store.sqlite' }, archive: { dir: 'disk/kept' } }

type DiskFault = {
  readonly name: string
  readonly settings: object
  /** What is known to fail by then. */
  readonly part: string
  readonly breaks: (disk: SmallDisk) => void | Promise<void>
  readonly mends: (disk: SmallDisk) => void | Promise<void>
}

const whileUsed = ({ name, settings, part, breaks, mends }: DiskFault): Fault => ({
  name,
  impossible,
  observe: async (onEnd) => {
    await using upstream = await fakeUpstream(completion('Understood.'))
    const cwd = await programFolder(settings, onEnd)
    const foldgate = await startProgram(upstream.url, (args) => serveOnSmallDisk(args, cwd, onEnd, 'empty'))
    const { url, adminOrigin, disk } = foldgate
    const first = await send(url, upstream, 1)
    await eventsUpTo(adminOrigin, await conversationOfNext(url))
    await breaks(disk)
    const during = await send(url, upstream, 2)
    // Another conversation, of which nothing is kept yet: its compaction is due to be archived.
    await send(url, upstream, 1, 5)
    await eventually(async () => {
      await send(url, upstream, 2)
      const { counted } = await withoutJournal(adminOrigin, linesOf(foldgate))
      expect(counted.join()).toContain(`part="${part}"`)
    })
    await mends(disk)
    await untilUsed(url, adminOrigin)
    const after = await send(url, upstream, 3)
    const told = await whatWasTold(adminOrigin, await conversationOfNext(url), linesOf(foldgate))
    await endInOrder(foldgate)
    return [compactedRow(toldText(withoutWaits(told)), lostOf(first, [during, after], part === 'store'))]
  },
})

const atStart = (name: string, state: keyof typeof preparations): Fault => ({
  name,
  impossible,
  observe: async (onEnd) => {
    await using upstream = await fakeUpstream(completion('Understood.'))
    const cwd = await programFolder(onDisk, onEnd)
    const foldgate = await startProgram(upstream.url, (args) => serveOnSmallDisk(args, cwd, onEnd, state))
    const { url, adminOrigin } = foldgate
    const first = await send(url, upstream, 1)
    const later = await send(url, upstream, 2)
    const told = await whatWasTold(adminOrigin, await conversationOfNext(url), linesOf(foldgate))
    await endInOrder(foldgate)
    return [compactedRow(toldText(told).replaceAll(`${cwd}/`, ''), lostOf(first, [later]))]
  },
})

/** What may happen to the disk that the store and the archive are on. */
export const diskFaults: readonly Fault[] = [
  whileUsed({
    name: 'it is full, and room is made',
    settings: onDisk,
    part: 'store',
    breaks: (disk) => disk.fill(),
    mends: (disk) => disk.makeRoom(),
  }),
  whileUsed({
    name: 'it becomes read-only, and writable again: the archive alone is on it',
    // A file that is held open keeps a disk from that.
    settings: { ...onDisk, store: { url: 'sqlite:store.sqlite' } },
    part: 'archive',
    breaks: (disk) => disk.makeReadOnly(),
    mends: (disk) => disk.makeWritable(),
  }),
  atStart('it is full at the start', 'full'),
  atStart('it is read-only at the start', 'read-only'),
]
