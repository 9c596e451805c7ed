import type { Digest } from '../json/source.ts'
import { lruCache } from '../caches.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store, StoreEntry } from '../storage/store.ts'
import {
  type BeliefSource,
  type Field,
  keptFields,
  type ModelKey,
  modelKeyOf,
  type ModelRecord,
  readModelRecord,
  type RecordedBelief,
  type Values,
} from './model-record.ts'
import { type Belief, beliefAt, type Beliefs, fields, isNewer } from './lifetimes.ts'
import { type ResolvedWindow, resolveWindow, type WindowSources } from './resolve-window.ts'
import { noSuspicions, SUSPECTED_MS, type Suspicions } from './suspicions.ts'

/** A model of which something is believed. */
export type KnownModel = ReturnType<Models['list']>[number]

export type WindowInForce = ResolvedWindow & { readonly profile: string }

/**
 * What is believed of models, one record for each upstream, address, credential and model. Memory is what requests look at; the
 * store is read before a model's first request and again now and then, and written behind, so that a restart loses nothing
 * and replicas learn from one another: of each field the newest belief stands.
 */
export type Models = ReturnType<typeof createModels>

/** `digest`: of a text, for keys that name no model. */
export function createModels({
  store,
  guarded,
  digest,
  nowMs,
}: {
  readonly store: Pick<Store, 'getFirst' | 'put'>
  readonly guarded: StoreGuard
  readonly digest: Digest
  readonly nowMs: () => number
}) {
  const models = lruCache<Model>(MODELS_MAX)
  /** Those whose record is to be written. */
  const noted = new Map<Model, NodeJS.Timeout>()
  /** Those whose record is being read or written. */
  const busy = new Map<Model, Promise<void>>()
  /** As written last, so that two credentials' records that are written at once do not undo each other. */
  const shared = lruCache<ModelRecord>(MODELS_MAX)
  let isClosed = false

  function modelOf(key: ModelKey): Model {
    return models.get(key.name) ?? newModel(key)
  }

  function newModel(key: ModelKey): Model {
    const model: Model = {
      key,
      id: digest(key.name),
      record: {},
      sinceMs: {},
      isRead: false,
      isToShare: false,
      askedAtMs: 0,
      suspected: noSuspicions(nowMs()),
      found: null,
    }
    models.set(key.name, model)
    return model
  }

  function beliefIn<Name extends Field>(model: Model, field: Name): Belief<Values[Name]> | null {
    if (model.record[field] === undefined) return null
    const belief = beliefAt(model.record, field, nowMs(), model.sinceMs[field])
    if (belief !== null) model.sinceMs[field] = belief.sinceMs
    return belief
  }

  function beliefsIn(model: Model): Beliefs {
    return Object.fromEntries(
      fields.flatMap((field) => {
        const belief = beliefIn(model, field)
        return belief === null ? [] : [[field, belief]]
      }),
    )
  }

  function windowOf({ found }: Model, beliefs: Beliefs): WindowInForce | null {
    if (found === null) return null
    const window = resolveWindow({
      ...found.sources,
      // Its own answer may have taught more since, and beliefs end.
      learnt: beliefs.window ?? null,
      answeredTokens: beliefs.answered?.value ?? 0,
      // What one conversation suggests holds for that one alone.
      suggestedTokens: null,
    })
    return { ...window, profile: found.profile }
  }

  function take<Name extends Field>(model: Model, field: Name, belief: RecordedBelief<Values[Name]>): void {
    model.record = { ...model.record, [field]: belief }
    model.sinceMs[field] = Math.min(belief.atMs, nowMs())
  }

  function believe<Name extends Field>(
    model: Model,
    field: Name,
    value: Values[Name] | null,
    from: BeliefSource,
  ): void {
    // Two beliefs of one millisecond are told apart, too.
    take(model, field, { value, from, atMs: Math.max(nowMs(), (model.record[field]?.atMs ?? 0) + 1) })
    if (sharedFields.some((each) => each === field)) model.isToShare = true
    note(model)
  }

  /** What is to be written for those who ask without a credential: what is newest, with whichever it was learnt. */
  async function sharedEntry({ key, record }: Model): Promise<StoreEntry> {
    const entryKey = sharedKey(key, digest)
    const stored = await readSharedWindow(store, key, digest)
    const known = [stored, shared.get(entryKey) ?? {}, record]
    const newest: ModelRecord = Object.fromEntries(
      sharedFields.map((field) => {
        const recorded = known.map((each) => each[field])
        return [field, recorded.reduce((one, other) => (isNewer(other, one) ? other : one))]
      }),
    )
    shared.set(entryKey, newest)
    return { key: entryKey, value: JSON.stringify(newest) }
  }

  /** Takes what the store has newer, and writes what it has not: another replica may have written since. */
  async function merge(model: Model): Promise<void> {
    const found = await store.getFirst([recordKey(model)])
    const stored = found === null ? {} : readModelRecord(found.value)
    model.isRead = true
    for (const field of fields) {
      const theirs = stored[field]
      if (theirs !== undefined && isNewer(theirs, model.record[field])) take(model, field, theirs)
    }
    const kept = keptFields(model.record)
    const entries: StoreEntry[] = []
    if (fields.some((field) => isNewer(kept[field], stored[field])))
      entries.push({ key: recordKey(model), value: JSON.stringify(kept) })
    const isToShare = model.isToShare
    model.isToShare = false
    try {
      if (isToShare) entries.push(await sharedEntry(model))
      if (entries.length > 0) await store.put(entries)
    } catch (error) {
      model.isToShare ||= isToShare
      throw error
    }
  }

  /** Brings a model's record and the store's together, one time after the other. Never rejects. */
  function exchange(model: Model): Promise<void> {
    model.askedAtMs = nowMs()
    const before = busy.get(model) ?? Promise.resolve()
    const running = before
      .then(() => guarded(undefined, () => merge(model)))
      .finally(() => {
        if (busy.get(model) === running) busy.delete(model)
      })
    busy.set(model, running)
    return running
  }

  function note(model: Model): void {
    if (isClosed || noted.has(model)) return
    const write = (): void => {
      noted.delete(model)
      void exchange(model)
    }
    // A process that ends in order has closed this before; nothing else shall wait for it.
    noted.set(model, setTimeout(write, WRITE_DELAY_MS).unref())
  }

  return {
    /**
     * Resolves once what the store has of a model is known here; null where it is. Only its first requests wait for that.
     * Never rejects.
     */
    load(key: ModelKey): Promise<void> | null {
      const model = modelOf(key)
      if (!model.isRead) return busy.get(model) ?? exchange(model)
      // A clock that was set back must not hold this up for as long: so below.
      const isOld = Math.abs(nowMs() - model.askedAtMs) >= REREAD_MS
      if (isOld && !busy.has(model) && !isClosed) void exchange(model)
      return null
    },
    /** What is believed now; null where nothing is, or not any more. */
    get<Name extends Field>(key: ModelKey, field: Name): Values[Name] | null {
      return beliefIn(modelOf(key), field)?.value ?? null
    },
    /** The same with where it comes from and since when. */
    belief<Name extends Field>(key: ModelKey, field: Name): Belief<Values[Name]> | null {
      return beliefIn(modelOf(key), field)
    },
    /** Believes a value from now on; it is written a little later. */
    set<Name extends Field>(key: ModelKey, field: Name, value: Values[Name], from: BeliefSource): void {
      const model = modelOf(key)
      const before = beliefIn(model, field)
      const isSame =
        before?.from === from &&
        // Of values of a record the keys are always in the same order.
        (before.value === value || JSON.stringify(before.value) === JSON.stringify(value))
      // What every answer says again is not written to the store for each of them.
      const isFresh = isSame && nowMs() - before.sinceMs <= (before.untilMs - before.sinceMs) * RENEWED_SHARE
      if (!isFresh && !(isSame && field === 'stated')) believe(model, field, value, from)
    },
    /** Takes a belief back. */
    forget(key: ModelKey, field: Field): void {
      const model = modelOf(key)
      if (model.record[field]?.value != null) believe(model, field, null, 'answer')
    },
    /** What is suspected of a model: to be changed by those who learn of it. */
    suspected(key: ModelKey): Suspicions {
      const model = modelOf(key)
      const now = nowMs()
      if (Math.abs(now - model.suspected.sinceMs) >= SUSPECTED_MS)
        model.suspected = noSuspicions(now, model.suspected.unknownWordings)
      return model.suspected
    },
    /** A request found its window so, under this profile. */
    noteWindow(key: ModelKey, profile: string, sources: WindowSources): void {
      modelOf(key).found = { profile, sources }
    },
    /** The window that settings, server or table state, by the latest request; null where none does. */
    statedWindow(key: ModelKey): ResolvedWindow | null {
      const { found } = modelOf(key)
      if (found === null) return null
      const window = resolveWindow({ ...found.sources, learnt: null, suggestedTokens: null })
      return window.source === 'default' ? null : window
    },
    /** Takes back all that is believed of a model, in replicas as well; its key, or null where nothing is believed. */
    forgetAll(id: string): ModelKey | null {
      const model = [...models.values()].find((each) => each.id === id)
      if (model === undefined || Object.keys(beliefsIn(model)).length === 0) return null
      // What is not known here either: the store may have it.
      for (const field of fields) believe(model, field, null, 'answer')
      model.suspected = noSuspicions(nowMs())
      model.found = null
      return model.key
    },
    /**
     * All models of which something is believed, the one used last first. `window`: what its next request gets under the
     * profile of the latest; null where none was seen since the start.
     */
    list() {
      return [...models.values()].flatMap((model) => {
        const beliefs = beliefsIn(model)
        if (Object.keys(beliefs).length === 0) return []
        return [{ id: model.id, key: model.key, beliefs, window: windowOf(model, beliefs) }]
      })
    },
    /** Writes what is not written yet, and nothing after that. */
    async close(): Promise<void> {
      isClosed = true
      for (const timer of noted.values()) clearTimeout(timer)
      await Promise.all([...busy.values(), ...[...noted.keys()].map(exchange)])
    },
  }
}

/** A model at an upstream, whoever asks. */
export type SharedModel = Pick<ModelKey, 'upstream' | 'address' | 'model'>

/**
 * What is known of a model's window, with whichever credential it was learnt: for those who ask without one, such as
 * `foldgate explain`. Nothing is decided by it for a request.
 */
export async function readSharedWindow(
  store: Pick<Store, 'getFirst'>,
  model: SharedModel,
  digest: Digest,
): Promise<ModelRecord> {
  const found = await store.getFirst([sharedKey(model, digest)])
  return found === null ? {} : readModelRecord(found.value)
}

// --- internal ---

/** What of a record tells its window. */
const sharedFields = ['window', 'stated', 'answered'] as const

function sharedKey({ upstream, address, model }: SharedModel, digest: Digest): string {
  return `window:${digest(modelKeyOf(upstream, '', model, address).name)}`
}

type Model = {
  readonly key: ModelKey
  readonly id: string
  record: ModelRecord
  /** Since when each belief is held, by this process's clock. */
  readonly sinceMs: { [Name in Field]?: number }
  isRead: boolean
  /** Whether more is known of its window than was written for those who ask without a credential. */
  isToShare: boolean
  askedAtMs: number
  suspected: Suspicions
  /** What the latest request found its window from; null before any. */
  found: { readonly profile: string; readonly sources: WindowSources } | null
}

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
