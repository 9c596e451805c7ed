import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { JournalName, Store } from './store.ts'

/**
 * The same store with its values and rows encrypted by AES-256-GCM, under a key that is derived from `secret`. Keys and
 * groups stay as they are: they are digests. A value that cannot be read, because it was written under another secret or in
 * the clear, or has been damaged, counts as none, and such a row as an empty one.
 */
export function encryptedStore(store: Store, secret: string): Store {
  const contentKey = Buffer.from(hkdfSync('sha256', secret, '', KEY_PURPOSE, KEY_BYTES))

  return {
    ...store,
    getFirst: async (keys) => {
      for (let start = 0; start < keys.length;) {
        const found = await store.getFirst(keys.slice(start))
        if (found === null) return null
        const index = start + found.index
        const value = decrypted(contentKey, keys[index] ?? '', found.value)
        if (value !== null) return { index, value }
        start = index + 1
      }
      return null
    },
    putIfAbsent: async (key, value, group) => {
      const text = encrypted(contentKey, key, value)
      const standing = await store.putIfAbsent(key, text, group)
      if (standing === text) return value
      const first = decrypted(contentKey, key, standing)
      if (first !== null) return first
      await store.put([{ key, value: text, ...(group !== undefined && { group }) }])
      return value
    },
    put: (entries) =>
      store.put(entries.map((entry) => ({ ...entry, value: encrypted(contentKey, entry.key, entry.value) }))),
    appendRows: (journal, rows) => {
      const place = placeOf(journal)
      return store.appendRows(
        journal,
        rows.map((row) => ({ ...row, text: encrypted(contentKey, place, row.text) })),
      )
    },
    // A row that cannot be read stays as an empty text: its id may be what a reader goes on from.
    readRows: async (journal, page) =>
      (await store.readRows(journal, page)).map(({ id, text }) => ({
        id,
        text: decrypted(contentKey, placeOf(journal), text) ?? '',
      })),
  }
}

// --- internal ---

/** Keys for different purposes are derived from one secret (RFC 5869, section 3.2). */
const KEY_PURPOSE = 'foldgate: content of the store'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32

/** NIST SP 800-38D, section 8.2.2: random nonces of this size serve for 2^32 values under one key. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Begins every encrypted value; another form would begin with another version. */
const VERSION = 'v1:'

/** A row is bound to its journal, as a value is to its key. */
function placeOf(journal: JournalName): string {
  return `journal:${journal}`
}

/** Version, then nonce, text and tag. The store's key is authenticated too, so that values cannot change places. */
function encrypted(contentKey: Buffer, key: string, value: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, contentKey, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(VERSION + key, 'utf8'))
  const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return VERSION + sealed.toString('base64')
}

function decrypted(contentKey: Buffer, key: string, text: string): string | null {
  if (!text.startsWith(VERSION)) return null
  const sealed = Buffer.from(text.slice(VERSION.length), 'base64')
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, contentKey, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(VERSION + key, 'utf8'))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    const content = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)
    return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
