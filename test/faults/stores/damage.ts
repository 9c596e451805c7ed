import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'

/** Takes what is in the write-ahead log into the file, so that it is the file that is read. */
export function settle(path: string): void {
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
}

/** All but the first page, which says that it is a database. */
export async function overwrite(path: string): Promise<void> {
  settle(path)
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    await file.write(Buffer.alloc(size - PAGE_BYTES, 'garbage '), 0, size - PAGE_BYTES, PAGE_BYTES)
  } finally {
    await file.close()
  }
}

// --- internal ---

const PAGE_BYTES = 4_096
