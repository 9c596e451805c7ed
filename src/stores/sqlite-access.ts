import { setImmediate } from 'node:timers/promises'
import type { DatabaseSync } from 'node:sqlite'

/** Rows that one step of something larger takes: a step is to stay within a few milliseconds. */
export const stepRows = 200

/** How long steps are taken one after the other before others are served, in milliseconds. */
const STEPS_MS = 1

/** Others may write before it or after it, not in between. */
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

/** Deletes rows in steps, between which others are served. Resolves with how many there were. */
export async function inSteps(deleteSome: () => number): Promise<number> {
  for (let total = 0; ;) {
    const deleted = deleteSome()
    total += deleted
    if (deleted === 0) return total
    await setImmediate()
  }
}

/**
 * Deletes rows wherever they stand in a table, in steps. A step goes from one id, which it leaves out, to that which
 * `endOf` gives for it; 0: there is nothing behind. Resolves with how many were deleted.
 */
export async function throughSteps(
  endOf: (from: number) => number,
  deleteBetween: (from: number, to: number) => number,
): Promise<number> {
  let total = 0
  let beganMs = performance.now()
  for (let from = 0; ;) {
    const to = endOf(from)
    if (to === 0) return total
    total += deleteBetween(from, to)
    from = to
    // Most steps find nothing to delete, and there may be thousands of them.
    if (performance.now() - beganMs < STEPS_MS) continue
    await setImmediate()
    beganMs = performance.now()
  }
}

/** The id at which a step through a table ends that begins behind an id: NULL where there is nothing behind. */
export function stepEnd(table: string): string {
  return `SELECT max(id) AS id FROM (SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${stepRows})`
}

/** A text as it is kept: the bytes of its UTF-8, for SQLite's own texts must not hold a NUL. */
export function textOf(value: unknown): string | null {
  if (!(value instanceof Uint8Array)) return null
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
}
