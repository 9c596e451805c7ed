import type { Digest } from '../json/source.ts'
import { lruCache } from '../lru-cache.ts'
import type { Store, StoreEntry } from '../storage/store.ts'
import { modelKeyOf, type ModelKey } from './model-key.ts'
import { isNewer, readModelRecord, type Field, type ModelRecord } from './model-record.ts'

/** A model at an upstream, whoever asks. */
export type SharedModel = Pick<ModelKey, 'upstream' | 'address' | 'model'>

/** Whether this part of a model's record tells its window. */
export function tellsWindow(field: Field): boolean {
  return windowFields.has(field)
}

/**
 * What is known of a model's window, with whichever credential it was learnt: for those who ask without one, such as
 * `foldgate explain`. Nothing is decided by it for a request.
 */
export async function readSharedWindow(
  store: Pick<Store, 'getFirst'>,
  model: SharedModel,
  digest: Digest,
): Promise<ModelRecord> {
  const found = await store.getFirst([recordKey(model, digest)])
  return found === null ? {} : readModelRecord(found.value)
}

/** Makes what is to be written for them of a model's records. What is newer stands, with whichever credential it was learnt. */
export function createSharedWindows(
  store: Pick<Store, 'getFirst'>,
  digest: Digest,
): (model: SharedModel, record: ModelRecord) => Promise<StoreEntry> {
  /** As written last, so that two credentials' records that are written at once do not undo each other. */
  const written = lruCache<ModelRecord>(MODELS_MAX)
  return async function entryOf(model, record) {
    const stored = await readSharedWindow(store, model, digest)
    const key = recordKey(model, digest)
    const shared = newestOf(newestOf(stored, written.get(key) ?? {}), record)
    written.set(key, shared)
    return { key, value: JSON.stringify(shared) }
  }
}

// --- internal ---

const MODELS_MAX = 4_096

const windowFields: ReadonlySet<Field> = new Set(['window', 'stated', 'answered'])

function recordKey({ upstream, address, model }: SharedModel, digest: Digest): string {
  return `window:${digest(modelKeyOf(upstream, '', model, address).name)}`
}

function newestOf(before: ModelRecord, now: ModelRecord): ModelRecord {
  return {
    window: newest(before.window, now.window),
    stated: newest(before.stated, now.stated),
    answered: newest(before.answered, now.answered),
  }
}

function newest<Recorded extends { readonly atMs: number }>(
  before: Recorded | undefined,
  now: Recorded | undefined,
): Recorded | undefined {
  return isNewer(now, before) ? now : before
}
