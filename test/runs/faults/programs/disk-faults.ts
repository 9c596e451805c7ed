import { eventually } from '../../../support/eventually.ts'
import { completion, fakeUpstream } from '../../../support/fake-upstream.ts'
import { expect } from 'vitest'
import { conversationOfNext, lostOf, send, untilUsed } from '../conversation-walk.ts'
import type { Fault, Row } from '../fault.ts'
import { eventsUpTo, toldText, whatWasTold, withoutJournal, withoutWaits } from '../told.ts'
import { endInOrder, linesOf, programFolder, startProgram } from './program-stand.ts'
import { diskImpossible, serveOnSmallDisk, type DiskState, type SmallDisk } from './small-disk.ts'

/** What may happen to the disk that the store and the archive are on. */
export const diskFaults: readonly Fault[] = [
  whileUsed({
    name: 'it is full, and room is made',
    settings: onDisk(),
    part: 'store',
    breaks: (disk) => disk.fill(),
    mends: (disk) => disk.makeRoom(),
  }),
  whileUsed({
    name: 'it becomes read-only, and writable again: the archive alone is on it',
    // A file that is held open keeps a disk from that.
    settings: { ...onDisk(), store: { url: 'sqlite:store.sqlite' } },
    part: 'archive',
    breaks: (disk) => disk.makeReadOnly(),
    mends: (disk) => disk.makeWritable(),
  }),
  atStart('it is full at the start', 'full'),
  atStart('it is read-only at the start', 'read-only'),
]

// --- internal ---

function onDisk() {
  return { store: { url: 'sqlite:disk/store.sqlite' }, archive: { dir: 'disk/kept' } }
}

type DiskFault = {
  readonly name: string
  readonly settings: object
  /** What is known to fail by then. */
  readonly part: string
  readonly breaks: (disk: SmallDisk) => void | Promise<void>
  readonly mends: (disk: SmallDisk) => void | Promise<void>
}

function whileUsed({ name, settings, part, breaks, mends }: DiskFault): Fault {
  return {
    name,
    impossible: diskImpossible,
    observe: async (onEnd) => {
      await using upstream = await fakeUpstream(completion('Understood.'))
      const cwd = await programFolder(settings, onEnd)
      const foldgate = await startProgram(cwd, upstream.url, (args) => serveOnSmallDisk(args, cwd, onEnd))
      const { url, adminOrigin, disk } = foldgate
      const first = await send(url, upstream, 1)
      await eventsUpTo(adminOrigin, await conversationOfNext(url))
      await breaks(disk)
      const during = await send(url, upstream, 2)
      // Another conversation, of which nothing is kept yet: its compaction is due to be archived.
      await send(url, upstream, 1, 5)
      await eventually(async () => {
        await send(url, upstream, 2)
        expect((await withoutJournal(adminOrigin, linesOf(foldgate))).counted.join()).toContain(
          `part="${part}"`,
        )
      })
      await mends(disk)
      await untilUsed(url, adminOrigin)
      const after = await send(url, upstream, 3)
      const told = await whatWasTold(adminOrigin, await conversationOfNext(url), linesOf(foldgate))
      await endInOrder(foldgate)
      return row(
        'compacted',
        toldText(withoutWaits(told)),
        lostOf(first, [during, after], { mayMissId: part === 'store' }),
      )
    },
  }
}

function atStart(name: string, state: DiskState): Fault {
  return {
    name,
    impossible: diskImpossible,
    observe: async (onEnd) => {
      await using upstream = await fakeUpstream(completion('Understood.'))
      const cwd = await programFolder(onDisk(), onEnd)
      const foldgate = await startProgram(cwd, upstream.url, (args) =>
        serveOnSmallDisk(args, cwd, onEnd, state),
      )
      const { url, adminOrigin } = foldgate
      const first = await send(url, upstream, 1)
      const later = await send(url, upstream, 2)
      const told = await whatWasTold(adminOrigin, await conversationOfNext(url), linesOf(foldgate))
      await endInOrder(foldgate)
      return row('compacted', toldText(told).replaceAll(`${cwd}/`, ''), lostOf(first, [later]))
    },
  }
}

function row(met: string, recorded: string, lost: string): readonly Row[] {
  return [{ met, seen: '`200`', recorded, lost }]
}
