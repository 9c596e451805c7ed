import { expect } from 'vitest'
import { openStore, type OpenedStore } from '../../../../src/stores/open-store.ts'
import { eventually } from '../../../support/eventually.ts'
import { completion, fakeUpstream, type FakeUpstream } from '../../../support/fake-upstream.ts'
import type { Row } from '../fault.ts'
import { startWatched, type Watched } from '../start-watched.ts'
import {
  eventsUpTo,
  toldText,
  whatWasTold,
  withoutJournal,
  withoutReasons,
  withoutWaits,
  type Told,
} from '../told.ts'
import { conversationOfNext, lostOf, send, untilUsed, type Sent } from '../conversation-walk.ts'
import { smallWindow } from '../wire/request-kinds.ts'

/** A store that is there, and how it fails. */
export type FailingStore = {
  /** What `store.url` says. */
  readonly url: string
  readonly breaks: () => void | Promise<void>
  /** Puts it right again; null: it stays as it is. */
  readonly mends: (() => void | Promise<void>) | null
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type StoreFault = {
  readonly name: string
  readonly open: () => Promise<FailingStore>
  /** Whether Foldgate notices: requests are made until it has. */
  readonly isNoticed: boolean
  /** Whether it is chance in which words the fault is told: they are left out then. */
  readonly reasonsVary?: boolean
}

/**
 * A conversation begins before the fault, goes on while it lasts and after it, and once more with another Foldgate on the
 * same store, as after a restart.
 */
export async function observeStoreFault(fault: StoreFault): Promise<readonly Row[]> {
  await using upstream = await fakeUpstream(completion('Understood.'))
  await using failing = await fault.open()
  const opened = await openAt(failing.url)
  const watched = await startOn(opened, upstream)
  let exchanges = 0
  const goOn = (url: string) => {
    exchanges += 1
    return send(url, upstream, exchanges)
  }
  let told: Told
  let first: Sent
  let during: Sent
  let after: Sent
  try {
    const { foldgate, adminOrigin } = watched
    first = await goOn(foldgate.url)
    await eventsUpTo(adminOrigin, await conversationOfNext(foldgate.url))
    await failing.breaks()
    during = await goOn(foldgate.url)
    if (fault.isNoticed) {
      await eventually(async () => {
        await goOn(foldgate.url)
        expect((await withoutJournal(adminOrigin, foldgate.log)).counted).not.toEqual([])
      })
    }
    await failing.mends?.()
    if (failing.mends !== null) await untilUsed(foldgate.url, adminOrigin)
    after = await goOn(foldgate.url)
    told =
      failing.mends === null
        ? await withoutJournal(adminOrigin, foldgate.log)
        : await whatWasTold(adminOrigin, await conversationOfNext(foldgate.url), foldgate.log)
  } finally {
    await watched.foldgate.close()
  }
  const restarted = await afterRestart(failing.url, upstream, goOn)
  const lost = lostOf(first, [during, after, restarted], { mayMissId: fault.isNoticed })
  const recorded = toldText(fault.reasonsVary === true ? withoutReasons(told) : withoutWaits(told))
  return [{ met: 'compacted', seen: '`200`', recorded, lost }]
}

// --- internal ---

function openAt(url: string): Promise<OpenedStore> {
  const settings = { url, ttl_days: 7, max_mb: 64, required: false, encrypt_key_env: null, encrypt_key: null }
  return openStore(settings, { env: {}, platform: process.platform })
}

function startOn({ store }: OpenedStore, upstream: FakeUpstream): Promise<Watched> {
  return startWatched({
    upstream: upstream.url,
    store,
    profile: smallWindow,
  })
}

async function afterRestart(
  url: string,
  upstream: FakeUpstream,
  goOn: (url: string) => Promise<Sent>,
): Promise<Sent> {
  const opened = await openAt(url)
  const { foldgate } = await startOn(opened, upstream)
  try {
    return await goOn(foldgate.url)
  } finally {
    await foldgate.close()
  }
}
