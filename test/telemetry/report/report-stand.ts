import {
  journalEventSchema,
  usageRowSchema,
  type JournalEvent,
  type UsageRow,
} from '../../../src/telemetry/journal/rows.ts'
import { parseJsonText } from '../../../src/json/json-value.ts'
import type { JournalName } from '../../../src/storage/store.ts'
import { expect } from 'vitest'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { memoryStore } from '../../admin/memory.ts'
import { keptOpen } from '../../pipeline/summaries/summary-stand.ts'
import { readMetrics } from '../../runs/activity/metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions } from '../../support/foldgate.ts'

export type ReportStand = Awaited<ReturnType<typeof reportStand>>

/** A Foldgate before an upstream that plays a script, with its admin listener, and what it tells of requests. */
export async function reportStand(
  script: Script | readonly Script[],
  options: Omit<FoldgateOptions, 'upstream'> & { readonly upstream?: string } = {},
) {
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
    /** What a client takes as its base URL. */
    url: foldgate.url,
    admin: (path: string, init?: RequestInit) => askAdmin(origin, path, init),
    metrics: async () => readMetrics(await foldgate.app.metrics()),
    /** The rows of all requests, in the order in which they ended, once there are so many. */
    rows,
    row: async (count = 1) => (await rows(count)).at(-1) ?? expect.fail(),
    /** Every event, the oldest first. Ends Foldgate, which writes what is left; metrics and rows can be read still. */
    events: async (): Promise<readonly JournalEvent[]> => {
      await close()
      return (await written('events')).map((event) => journalEventSchema.parse(event))
    },
    store,
    /** Ends Foldgate, as a restart does; the store stays. */
    [Symbol.asyncDispose]: async () => {
      await close()
      await upstream.close()
    },
  }
}
