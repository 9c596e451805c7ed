import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredEvent } from '../../../src/activity/journal/journal.ts'
import type { UsageRow } from '../../../src/activity/journal/rows.ts'
import { usageRowSchema } from '../../../src/activity/journal/rows.ts'
import { parseJsonText } from '../../../src/conversation/json-value.ts'
import { openMemoryStore } from '../../../src/stores/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import { adminPlace, askAdmin, type AdminAnswer } from '../../admin/ask-admin.ts'
import { readMetrics, type Metrics } from '../../runs/activity/metrics.ts'
import { fakeUpstream, type FakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'
import { keptOpen } from '../../request/summaries/summary-stand.ts'

export type ReportStand = {
  readonly upstream: FakeUpstream
  readonly foldgate: RunningFoldgate
  /** What a client takes as its base URL. */
  readonly url: string
  readonly admin: (path: string, init?: RequestInit) => Promise<AdminAnswer>
  readonly metrics: () => Promise<Metrics>
  /** The rows of all requests, in the order in which they ended, once there are so many. */
  readonly rows: (count: number) => Promise<readonly UsageRow[]>
  /** The row of the request that ended last, once there are so many. */
  readonly row: (count?: number) => Promise<UsageRow>
  /** Everything in the journal that is written by now, the oldest first. */
  readonly events: () => Promise<readonly StoredEvent[]>
  readonly store: Store
  /** Ends Foldgate, as a restart does; the store stays. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A Foldgate before an upstream that plays a script, with its admin listener, and what it tells of requests. */
export async function reportStand(
  script: Script | readonly Script[],
  options: Omit<FoldgateOptions, 'upstream'> & { readonly upstream?: string } = {},
): Promise<ReportStand> {
  const upstream = await fakeUpstream(script)
  const { flags, origin } = await adminPlace()
  const store = options.store ?? openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    ...options,
    store: keptOpen(store),
    flags: { ...flags, ...options.flags },
  })
  const admin: ReportStand['admin'] = (path, init) => askAdmin(origin, path, init)

  async function rows(count: number): Promise<readonly UsageRow[]> {
    for (let round = 0; ; round += 1) {
      const page = await store.readRows('usage', { from: 'oldest', beyond: null, limit: ROWS_MAX })
      const all = page.map(({ text }) => usageRowSchema.parse(parseJsonText(text)))
      if (all.length >= count) return all
      if (round === ROUNDS_MAX) throw new Error(`there are ${all.length} rows, not ${count}`)
      await sleep(ROUND_MS)
    }
  }

  return {
    upstream,
    foldgate,
    url: foldgate.url,
    admin,
    metrics: async () => readMetrics((await admin('/metrics')).text),
    rows,
    row: async (count = 1) => {
      const last = (await rows(count)).at(-1)
      if (last === undefined) throw new Error('there is no row')
      return last
    },
    events: async () => {
      await sleep(JOURNAL_MS)
      const told: { events: StoredEvent[] } = JSON.parse((await admin('/events?limit=1000')).text)
      return told.events.toReversed()
    },
    store,
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}

// --- internal ---

const ROWS_MAX = 1_000
const ROUNDS_MAX = 150
const ROUND_MS = 20

/** The journal is written behind, a quarter of a second later. */
const JOURNAL_MS = 400
