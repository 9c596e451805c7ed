import { LRUCache } from 'lru-cache'
import type { Store } from '../stores/store.ts'
import { nameOfModel, type ModelKey } from './model-key.ts'
import {
  fields,
  keptFields,
  lifetimeMs,
  readModelRecord,
  type Belief,
  type Field,
  type ModelRecord,
  type Source,
  type Values,
} from './model-record.ts'

/**
 * What is believed of models, one record for each upstream, credential and model. Memory is what requests look at; the
 * store is read before a model's first request and again now and then, and written behind, so that a restart loses nothing
 * and replicas learn from one another: of each field the newest belief stands.
 */
export type Models = {
  /**
   * Resolves once what the store has of a model is known here; null where it is. Only its first requests wait for that.
   * Never rejects.
   */
  readonly load: (key: ModelKey) => Promise<void> | null
  /** What is believed now; null where nothing is, or not any more. */
  readonly get: <Name extends Field>(key: ModelKey, field: Name) => Values[Name] | null
  /** The same with where it comes from and since when. */
  readonly belief: <Name extends Field>(key: ModelKey, field: Name) => Held<Values[Name]> | null
  /** Believes a value from now on; it is written a little later. */
  readonly set: <Name extends Field>(key: ModelKey, field: Name, value: Values[Name], from: Source) => void
  /** Takes a belief back. */
  readonly forget: (key: ModelKey, field: Field) => void
  /** Takes back all that is believed of a model, in replicas as well; its key, or null where nothing is believed. */
  readonly forgetAll: (id: string) => ModelKey | null
  /** All models of which something is believed, the one used last first. */
  readonly list: () => readonly KnownModel[]
  /** Writes what is not written yet, and nothing after that. */
  readonly close: () => Promise<void>
}

export type KnownModel = { readonly id: string; readonly key: ModelKey; readonly beliefs: HeldRecord }

/** A belief that holds. */
export type Held<Value> = {
  readonly value: Value
  readonly from: Source
  /** Since when, by this process's clock. */
  readonly sinceMs: number
  /** Until when, unless something else ends it; infinite where nothing does. */
  readonly untilMs: number
}

export type HeldRecord = { readonly [Name in Field]?: Held<Values[Name]> }

export type ModelsOptions = {
  readonly store: Pick<Store, 'getFirst' | 'put'>
  /** Does something with the store; `instead` where that fails. */
  readonly guarded: <Result>(instead: Result, work: () => Promise<Result>) => Promise<Result>
  /** Does something of which nothing else may fail. */
  readonly harmless: (work: () => Promise<void>) => Promise<void>
  /** A digest of a text, for keys that name no model. */
  readonly digest: (text: string) => string
  readonly nowMs: () => number
}

export function createModels(options: ModelsOptions): Models {
  const { store, guarded, harmless, digest, nowMs } = options
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
    const model = {
      key,
      id: digest(name),
      record: {},
      heldFromMs: {},
      stored: {},
      isRead: false,
      askedAtMs: 0,
    }
    models.set(name, model)
    return model
  }

  function heldIn<Name extends Field>(model: Model, field: Name): Held<Values[Name]> | null {
    const belief: Belief<Values[Name]> | undefined = model.record[field]
    if (belief === undefined || belief.value === null) return null
    const now = nowMs()
    // What was said by a clock that is ahead, or before this one went back, must not last for as long as that.
    const sinceMs = Math.min(model.heldFromMs[field] ?? belief.atMs, now)
    model.heldFromMs[field] = sinceMs
    const untilMs = sinceMs + lifetimeMs(field, belief.value)
    return untilMs <= now ? null : { value: belief.value, from: belief.from, sinceMs, untilMs }
  }

  function heldOf(model: Model): HeldRecord {
    return Object.fromEntries(
      fields.flatMap((field) => {
        const held = heldIn(model, field)
        return held === null ? [] : [[field, held]]
      }),
    )
  }

  function isKnown(model: Model): boolean {
    return fields.some((field) => heldIn(model, field) !== null)
  }

  function take<Name extends Field>(model: Model, field: Name, belief: Belief<Values[Name]>): void {
    model.record = { ...model.record, [field]: belief }
    model.heldFromMs[field] = Math.min(belief.atMs, nowMs())
  }

  function believe<Name extends Field>(
    key: ModelKey,
    field: Name,
    value: Values[Name] | null,
    from: Source,
  ): void {
    const model = modelOf(key)
    const before = model.record[field]
    // Two beliefs of one millisecond are told apart, too.
    take(model, field, { value, from, atMs: Math.max(nowMs(), (before?.atMs ?? 0) + 1) })
    note(model)
  }

  /** Reads what the store has; false where that cannot be said. */
  async function read(model: Model): Promise<boolean> {
    model.askedAtMs = nowMs()
    const found = await guarded<Found>('absent', () => store.getFirst([recordKey(model)]))
    if (found === 'absent') return false
    model.isRead = true
    model.stored = found === null ? {} : readModelRecord(found.value)
    for (const field of fields) takeNewer(model, field)
    return true
  }

  function takeNewer(model: Model, field: Field): void {
    const theirs = model.stored[field]
    if (theirs !== undefined && theirs.atMs > (model.record[field]?.atMs ?? -Infinity))
      take(model, field, theirs)
  }

  function isNews({ record, stored }: Model): boolean {
    const kept = keptFields(record)
    return fields.some((field) => (kept[field]?.atMs ?? -Infinity) > (stored[field]?.atMs ?? -Infinity))
  }

  /** Reads before it writes: another replica may have written since. */
  async function exchange(model: Model): Promise<void> {
    if (!(await read(model)) || !isNews(model)) return
    const record = keptFields(model.record)
    const isPut = await guarded(false, async () => {
      await store.put([{ key: recordKey(model), value: JSON.stringify(record) }])
      return true
    })
    if (isPut) model.stored = record
  }

  /** Work with the store, one at a time for each model. */
  function run(model: Model, work: () => Promise<void>): Promise<void> {
    const running = harmless(work).finally(() => busy.delete(model))
    busy.set(model, running)
    return running
  }

  async function write(model: Model): Promise<void> {
    noted.delete(model)
    for (let running = busy.get(model); running !== undefined; running = busy.get(model)) await running
    if (isNews(model)) await run(model, () => exchange(model))
  }

  function note(model: Model): void {
    if (isClosed || noted.has(model) || !isNews(model)) return
    // A process that ends in order has closed this before; nothing else shall wait for it.
    noted.set(model, setTimeout(() => void write(model), WRITE_DELAY_MS).unref())
  }

  /** A request waits for this: what there is to write is written later. */
  async function readFirst(model: Model): Promise<void> {
    if (await read(model)) note(model)
  }

  return {
    load: (key) => {
      const model = modelOf(key)
      if (!model.isRead) return busy.get(model) ?? run(model, () => readFirst(model))
      if (nowMs() - model.askedAtMs >= REREAD_MS && !busy.has(model) && !isClosed) {
        void run(model, () => exchange(model))
      }
      return null
    },
    get: (key, field) => heldIn(modelOf(key), field)?.value ?? null,
    belief: (key, field) => heldIn(modelOf(key), field),
    set: (key, field, value, from) => {
      const held = heldIn(modelOf(key), field)
      const isSame = held?.from === from && isEqual(held.value, value)
      // What every answer says again is not written to the store for each of them.
      const isFresh = isSame && nowMs() - held.sinceMs <= lifetimeMs(field, value) * RENEWED_SHARE
      if (!isFresh && !(isSame && field === 'stated')) believe(key, field, value, from)
    },
    forget: (key, field) => {
      if (modelOf(key).record[field]?.value != null) believe(key, field, null, 'answer')
    },
    forgetAll: (id) => {
      const model = [...models.values()].find((each) => each.id === id)
      if (model === undefined || !isKnown(model)) return null
      // What is not known here either: the store may have it.
      for (const field of fields) believe(model.key, field, null, 'answer')
      return model.key
    },
    list: () =>
      [...models.values()]
        .filter(isKnown)
        .map((model) => ({ id: model.id, key: model.key, beliefs: heldOf(model) })),
    close: async () => {
      isClosed = true
      for (const timer of noted.values()) clearTimeout(timer)
      await Promise.all([...busy.values(), ...[...noted.keys()].map(write)])
    },
  }
}

// --- internal ---

type Model = {
  readonly key: ModelKey
  readonly id: string
  record: ModelRecord
  /** Since when each belief is held, by this process's clock. */
  readonly heldFromMs: { [Name in Field]?: number }
  /** What the store has, as far as is known. */
  stored: ModelRecord
  isRead: boolean
  askedAtMs: number
}

type Found = { readonly value: string } | null | 'absent'

const MODELS_MAX = 4096

/** How long is waited for more before a record is written, in milliseconds: it is not written more often than that. */
const WRITE_DELAY_MS = 1_000

/** How long it may take until what another replica has learnt is known here, in milliseconds. */
const REREAD_MS = 60_000

/** What has used up less than this share of its lifetime is not renewed. */
const RENEWED_SHARE = 0.25

function recordKey({ id }: Model): string {
  return `model:${id}`
}

/** Of values of a record, whose keys are always in the same order. */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
