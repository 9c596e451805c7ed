import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Takes what is in the write-ahead log into the file, so that it is the file that is read. */
export function settle(path: string): void {
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
}

/** All but the first page, which says that it is a database; at once, so that no write of Foldgate's own comes in between. */
export function overwrite(path: string): void {
  settle(path)
  const file = openSync(path, 'r+')
  try {
    const { size } = fstatSync(file)
    writeSync(file, Buffer.alloc(size - PAGE_BYTES, 'garbage '), 0, size - PAGE_BYTES, PAGE_BYTES)
  } finally {
    closeSync(file)
  }
}

// --- internal ---

const PAGE_BYTES = 4_096
