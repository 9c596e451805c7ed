import { setImmediate } from 'node:timers/promises'
import type { JournalPage, JournalRow } from './store.ts'

/** Reads a long page as several of at most `rowsMax`, between which others are served. */
export async function readInPages(
  { from, beyond, limit }: JournalPage,
  rowsMax: number,
  read: (page: JournalPage) => Promise<readonly JournalRow[]>,
): Promise<readonly JournalRow[]> {
  const rows: JournalRow[] = []
  for (let last = beyond; ;) {
    const asked = Math.min(rowsMax, limit - rows.length)
    const found = await read({ from, beyond: last, limit: asked })
    rows.push(...found)
    last = found.at(-1)?.id ?? null
    if (last === null || found.length < asked || rows.length >= limit) return rows
    await setImmediate()
  }
}
