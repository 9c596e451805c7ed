import { setTimeout as sleep } from 'node:timers/promises'
import { fileIdentity, lookMsDefault, quietMsDefault } from './path-identity.ts'

export type WatchFilesOptions = {
  readonly paths: readonly string[]
  /** Called when one of them is another, or gone, or there again. Must not reject. */
  readonly onChange: () => Promise<void>
  /** How long all of them have to stay as they are before it is called, in ms. Default 200. */
  readonly quietMs?: number
  /** How often it is looked, in ms. Default 1500. */
  readonly lookMs?: number
}

/**
 * Looks now and then whether files are still what they were, behind whatever symbolic links. The first look always
 * calls: they may have changed between the time when they were read and now.
 */
export function watchFiles(options: WatchFilesOptions): { readonly close: () => void } {
  const { paths, onChange, quietMs = quietMsDefault, lookMs = lookMsDefault } = options
  let seen: string | null = null
  let isLooking = false
  let closed = false

  async function identities(): Promise<string> {
    return JSON.stringify(await Promise.all(paths.map(fileIdentity)))
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    const quiet = await quietChange()
    if (quiet !== null) {
      // What changes from here on is seen at the next look.
      seen = quiet
      await onChange()
    }
    isLooking = false
  }

  /** What they are where that is not what they were, once it stays so. */
  async function quietChange(): Promise<string | null> {
    let now = await identities()
    if (now === seen) return null
    for (;;) {
      await sleep(quietMs, undefined, { ref: false })
      const later = await identities()
      if (closed) return null
      if (later === now) return now
      now = later
    }
  }

  const looking = paths.length === 0 ? null : setInterval(() => void look(), lookMs)
  looking?.unref()
  return {
    close: () => {
      closed = true
      if (looking !== null) clearInterval(looking)
    },
  }
}
