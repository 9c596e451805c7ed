import type { Settings } from '../config/settings.ts'
import { openUpstreams } from '../upstream/open-upstreams.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { Profile } from '../profiles/schema.ts'
import { findOwnWindow } from '../models/own-window.ts'
import type { HttpProxies } from '../upstream/pools.ts'
import { createServerWindows } from '../models/discovery/server-windows.ts'

export type FindWindowOptions = {
  readonly settings: Settings
  readonly proxies: HttpProxies
  readonly nowMs: () => number
}

/**
 * The window that a model gets under a profile, as a request without a credential of its own would find it: what
 * `foldgate check` tells. The upstream is asked where a request would ask it.
 */
export async function findWindow(
  { settings, proxies, nowMs }: FindWindowOptions,
  profile: Profile,
  model: string,
): Promise<ResolvedWindow> {
  const upstreams = openUpstreams(settings, proxies)
  const serverWindows = createServerWindows({ upstreams, nowMs, onTrouble: () => {} })
  try {
    return await findOwnWindow(profile, model, { upstreams, serverWindows })
  } finally {
    await serverWindows.close()
    await upstreams.destroy()
  }
}
