import { setImmediate } from 'node:timers/promises'
import type { DatabaseSync } from 'node:sqlite'

/** Rows that are looked through at a time, which takes a few milliseconds. */
const stepRows = 200

/** How long steps are taken one after the other before others are served, in milliseconds. */
const STEPS_MS = 1

/** Does something in one transaction. */
export function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // Some errors, a full disk among them, have rolled it back already.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * Deletes the rows of a table for which a condition holds. Since only the id is indexed it goes through the whole table, in
 * steps between which requests are served. Resolves with how many rows it deleted.
 */
export async function deleteInSteps(
  database: DatabaseSync,
  table: string,
  condition: string,
  ...values: readonly (string | number)[]
): Promise<number> {
  const stepEnd = database.prepare(
    `SELECT max(id) AS id FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${stepRows})`,
  )
  const step = database.prepare(`DELETE FROM ${table} WHERE id > ? AND id <= ? AND ${condition}`)
  let total = 0
  let beganMs = performance.now()
  for (let from = 0; ;) {
    const to = Number(stepEnd.get(from)?.['id'] ?? 0)
    if (to === 0) return total
    total += Number(step.run(from, to, ...values).changes)
    from = to
    // Most steps find nothing to delete, and there may be thousands of them.
    if (performance.now() - beganMs < STEPS_MS) continue
    await setImmediate()
    beganMs = performance.now()
  }
}

/** The condition of rows that have not expired at the time that is its one parameter. */
export const unexpired = '(expires_ms IS NULL OR expires_ms > ?)'

/** The text of a column that holds its UTF-8 bytes: SQLite's own texts must not hold a NUL. */
export function textIn(value: unknown): string | null {
  if (!(value instanceof Uint8Array)) return null
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
}
