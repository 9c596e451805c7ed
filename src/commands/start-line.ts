import type { Settings } from '../config/settings.ts'
import { whoPaysForSummaries } from './who-pays.ts'
import { addressOf, type ListenAddress } from '../http/listeners.ts'
import type { Profile } from '../profiles/schema.ts'

export type Started = ListenAddress & {
  readonly version: string
  readonly admin: ListenAddress | null
  /** The store's name. */
  readonly store: string
  readonly profiles: ReadonlyMap<string, Profile>
}

/** What Foldgate says when it has started: where it listens, where it forwards to, and who pays for summaries. */
export function startLine(settings: Settings, started: Started): string {
  const { version, admin, store, profiles } = started
  const upstream = settings.upstreams.get('default')?.url ?? ''
  return (
    `Foldgate ${version} listens on ${addressOf(started)}/v1 and forwards to ${upstream}; ` +
    `${whoPaysForSummaries(settings, profiles)}; records are kept in ` +
    (store === 'memory:' ? 'memory' : store) +
    (admin === null ? '' : `; the admin listener is at ${addressOf(admin)}`)
  )
}
