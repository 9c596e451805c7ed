import type { Settings } from '../config/settings.ts'
import { openUpstreams } from '../upstream/upstreams.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { ModelRecord } from '../models/model-record.ts'
import { findOwnWindow, type OwnWindowParts } from '../models/own-window.ts'
import { readSharedWindow, type SharedModel } from '../models/models.ts'
import { digest } from '../pipeline/read/read-chat.ts'
import { openStoreToRead } from '../storage/open-store.ts'
import type { UserPlace } from '../storage/state-folder.ts'
import { StoreError, troubleOf } from '../storage/store-error.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import { createServerWindows } from '../models/discovery/server-windows.ts'
import type { Profile } from '../profiles/schema.ts'

export type WindowFound = Pick<ResolvedWindow, 'tokens' | 'kind' | 'source'>

export type LookUpOptions = Pick<OwnWindowParts, 'waitMs'> & {
  readonly settings: Settings
  readonly place: UserPlace
  /** Called with why the store could not be read. */
  readonly onTrouble: (message: string) => void
  /** Whether the upstream may be asked. Default: it may. */
  readonly asksUpstream?: boolean
}

/**
 * The window that a model gets under a profile, by what the store that the settings name has learnt of it, and by what the
 * upstream says now. The store is only read, whether a Foldgate runs on it or not.
 */
export async function lookUpWindow(
  { settings, place, onTrouble, asksUpstream = true, ...wait }: LookUpOptions,
  profile: Profile,
  model: string,
  requestTokens: number | null = null,
): Promise<ResolvedWindow> {
  const upstreams = openUpstreams(settings, proxiesFrom(place.env))
  const serverWindows = createServerWindows({ upstreams, onTrouble: () => {} })
  async function learntOf(of: SharedModel): Promise<ModelRecord> {
    try {
      const store = await openStoreToRead(settings.store, place)
      if (store === null) return {}
      return await readSharedWindow(store, of, digest).finally(() => store.close())
    } catch (error) {
      const why = error instanceof StoreError ? error.message : `the store failed (${troubleOf(error)})`
      onTrouble(`what was learnt of windows is not known: ${why}`)
      return {}
    }
  }
  try {
    const asked = asksUpstream ? serverWindows : { lookup: () => null, settled: async () => {} }
    const parts = { upstreams, serverWindows: asked, learntOf, nowMs: Date.now, ...wait }
    return await findOwnWindow(profile, model, parts, requestTokens)
  } finally {
    await serverWindows.close()
    await upstreams.destroy()
  }
}
