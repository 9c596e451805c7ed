import { LRUCache } from 'lru-cache'
import type { Calibration } from '../../pressure/calibration/calibration.ts'
import { encodingNames } from '../../pressure/encodings.ts'
import type { Store } from '../../stores/store.ts'
import { nameOfCounts, nameOfModel, type ModelKey } from '../../upstream/model-key.ts'
import type { Failures } from '../failures.ts'
import { digest } from '../request/body-source.ts'
import type { LearntPart } from './learnt-part.ts'
import type { StoreGuard } from './store-guard.ts'
import type { UpstreamMemory } from './upstream-memory.ts'

/**
 * Keeps what was learnt of upstreams' models in the store, so that a restart loses nothing of it and replicas learn from
 * one another. Memory is what requests look at; the store is read before a model's first request, and again now and
 * then, and written behind. One record holds all that is known of a model under one credential.
 */
export type Learnt = {
  /**
   * Resolves once what the store has of a model is known here; null where it is. Only its first requests wait for that.
   * Never rejects.
   */
  readonly load: (key: ModelKey) => Promise<void> | null
  /** Something may have been learnt of this model: a little later it is written, if so. */
  readonly note: (key: ModelKey) => void
  /** Writes what is not written yet, and nothing after that. */
  readonly close: () => Promise<void>
}

export type LearntOptions = {
  readonly store: Store
  readonly guarded: StoreGuard
  readonly failures: Failures
  readonly memory: Pick<UpstreamMemory, 'parts'>
  readonly calibration: Calibration
  readonly nowMs: () => number
}

export function createLearnt(options: LearntOptions): Learnt {
  const { store, guarded, failures, nowMs } = options
  const parts = Object.entries({ ...options.memory.parts, ...countsOf(options.calibration) })
  const models = new LRUCache<string, Model>({ max: MODELS_MAX })
  /** Those whose record is to be written. */
  const noted = new Map<Model, NodeJS.Timeout>()
  /** Those whose record is being read or written. */
  const busy = new Map<Model, Promise<void>>()
  let isClosed = false

  function modelOf(key: ModelKey): Model {
    const name = nameOfModel(key)
    const known = models.get(name)
    if (known !== undefined) return known
    const model = { key, recordKey: recordKey(name), kept: null, isRead: false, askedAtMs: 0 }
    models.set(name, model)
    return model
  }

  function recordOf({ key }: Model): LearntRecord {
    const all = parts.map(([name, part]) => [name, part.snapshot(key)] as const)
    return Object.fromEntries(all.filter(([, snapshot]) => snapshot !== null))
  }

  /** Takes what the store has into memory: what only others have changed as it is, what both have is joined. */
  function take(model: Model, text: string | null): void {
    const { key, kept } = model
    const theirs = text === null ? null : readRecord(text)
    model.kept = theirs
    model.isRead = true
    // A record that is gone, or damaged, says nothing: what is known stands.
    if (theirs === null) return
    for (const [name, part] of parts) {
      const given = theirs[name] ?? null
      const before = kept?.[name] ?? null
      if (kept !== null && isSame(given, before)) continue
      const isOursUnchanged = kept !== null && isSame(part.snapshot(key), before)
      part.restore(key, given, isOursUnchanged ? 'instead' : 'beside')
    }
  }

  async function read(model: Model): Promise<boolean> {
    model.askedAtMs = nowMs()
    const found = await guarded<Found>('absent', () => store.getFirst([model.recordKey]))
    if (found === 'absent') return false
    take(model, found?.value ?? null)
    return true
  }

  /** A request waits for this: what there is to write is written later. */
  async function readFirst(model: Model): Promise<void> {
    if ((await read(model)) && !isWritten(model)) note(model)
  }

  function isWritten(model: Model): boolean {
    return model.isRead && isSame(recordOf(model), model.kept ?? recordOfNothing)
  }

  /** Reads before it writes: another replica may have written since. */
  async function exchange(model: Model): Promise<void> {
    if (!(await read(model)) || isWritten(model)) return
    const record = recordOf(model)
    const isPut = await guarded(false, async () => {
      await store.put(model.recordKey, JSON.stringify(record))
      return true
    })
    if (isPut) model.kept = record
  }

  /** Work with the store, one at a time for each model; whatever fails in it fails nothing else. */
  function run(model: Model, work: () => Promise<void>): Promise<void> {
    const running = failures.around('store', undefined, work).finally(() => busy.delete(model))
    busy.set(model, running)
    return running
  }

  async function write(model: Model): Promise<void> {
    noted.delete(model)
    for (let running = busy.get(model); running !== undefined; running = busy.get(model)) await running
    await run(model, async () => {
      if (!isWritten(model)) await exchange(model)
    })
  }

  function note(model: Model): void {
    if (isClosed || noted.has(model)) return
    // A process that ends in order has closed this before; nothing else shall wait for it.
    noted.set(model, setTimeout(() => void write(model), WRITE_DELAY_MS).unref())
  }

  return {
    load: (key) => {
      const model = modelOf(key)
      if (!model.isRead) {
        return busy.get(model) ?? run(model, () => readFirst(model))
      }
      if (nowMs() - model.askedAtMs >= REREAD_MS && !busy.has(model) && !isClosed) {
        void run(model, () => exchange(model))
      }
      return null
    },
    note: (key) => note(modelOf(key)),
    close: async () => {
      isClosed = true
      for (const timer of noted.values()) clearTimeout(timer)
      await Promise.all([...busy.values(), ...[...noted.keys()].map(write)])
    },
  }
}

// --- internal ---

/** What is known of one model, part by part. */
type LearntRecord = Readonly<Record<string, unknown>>

type Model = {
  readonly key: ModelKey
  readonly recordKey: string
  /** What the store has, as far as is known; null where that is nothing. */
  kept: LearntRecord | null
  isRead: boolean
  askedAtMs: number
}

type Found = { readonly value: string } | null | 'absent'

/** As many as what is learnt of them. */
const MODELS_MAX = 4096

/** How long is waited for more before a record is written, in milliseconds: it is not written more often than that. */
const WRITE_DELAY_MS = 1_000

/** How long it may take until what another replica has learnt is known here, in milliseconds. */
const REREAD_MS = 60_000

/** Part of each key, so that versions which mean different things by a record do not take turns in overwriting it. */
const RECORD_VERSION = 1

const recordOfNothing: LearntRecord = {}

/** The name holds a credential's digest, and a model's name, which is nobody's business. */
function recordKey(name: string): string {
  return `learnt:${digest(`${RECORD_VERSION} ${name}`)}`
}

/** How a provider counts, by the encoding in which we do; which one it is may depend on the model that answered. */
function countsOf(calibration: Calibration): Readonly<Record<string, LearntPart>> {
  return Object.fromEntries(
    encodingNames.map((encoding) => [
      encoding,
      {
        snapshot: (key) => calibration.snapshot(nameOfCounts(key, encoding)),
        restore: (key, snapshot, how) => calibration.restore(nameOfCounts(key, encoding), snapshot, how),
      } satisfies LearntPart,
    ]),
  )
}

function readRecord(text: string): LearntRecord | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}

/** Of JSON that was written by the same code: its keys are in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
