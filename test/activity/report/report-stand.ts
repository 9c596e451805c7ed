import {
  journalEventSchema,
  usageRowSchema,
  type JournalEvent,
  type UsageRow,
} from '../../../src/activity/journal/rows.ts'
import { parseJsonText } from '../../../src/conversation/json-value.ts'
import type { JournalName, Store } from '../../../src/stores/store.ts'
import { adminPlace, askAdmin, type AdminAnswer } from '../../admin/ask-admin.ts'
import { memoryStore } from '../../admin/memory.ts'
import { keptOpen } from '../../request/summaries/summary-stand.ts'
import { readMetrics, type Metrics } from '../../runs/activity/metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeUpstream, type FakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'

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
  /** Every event, the oldest first. Ends Foldgate, which writes what is left; metrics and rows can be read still. */
  readonly events: () => Promise<readonly JournalEvent[]>
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
  const store = options.store ?? memoryStore()
  const own = { store: keptOpen(store), flags: { ...flags, ...options.flags } }
  const foldgate = await startFoldgate({ upstream: upstream.url, ...options, ...own })
  let closed: Promise<void> | null = null
  const close = () => (closed ??= foldgate.close())

  async function written(journal: JournalName): Promise<readonly unknown[]> {
    const page = await store.readRows(journal, { from: 'oldest', beyond: null, limit: 1_000 })
    return page.map(({ text }) => parseJsonText(text))
  }

  const rows = (count: number): Promise<readonly UsageRow[]> =>
    eventually(async () => {
      const all = await written('usage')
      if (all.length < count) throw new Error(`there are ${all.length} rows, not ${count}`)
      return all.map((row) => usageRowSchema.parse(row))
    })

  return {
    upstream,
    foldgate,
    url: foldgate.url,
    admin: (path, init) => askAdmin(origin, path, init),
    metrics: async () => readMetrics(await foldgate.app.metrics()),
    rows,
    row: async (count = 1) => {
      const last = (await rows(count)).at(-1)
      if (last === undefined) throw new Error('there is no row')
      return last
    },
    events: async () => {
      await close()
      return (await written('events')).map((event) => journalEventSchema.parse(event))
    },
    store,
    [Symbol.asyncDispose]: async () => {
      await close()
      await upstream.close()
    },
  }
}
