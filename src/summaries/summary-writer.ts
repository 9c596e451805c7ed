import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { lruCache } from '../caches.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { Store } from '../storage/store.ts'
import { createGate, type Gate } from '../upstream/concurrency.ts'
import type { SummaryResult } from './summary-order.ts'
import { failure, readSummaryRecord, type SummaryRecord } from './summary-record.ts'

/** A summary that is wanted. */
export type SummaryJob = {
  /** The key that it is stored under: see `summaryKey`. */
  readonly key: string
  /** The conversation's id. */
  readonly conversation: string
  /** The model that writes it, and the name of its upstream. */
  readonly model: string
  readonly upstream: string
  /** When the request came that wants it, by the clock of `performance.now()`. */
  readonly wantedAtMs: number
  readonly scope: string
  /** How many this process may write at a time for this scope. */
  readonly concurrent: number
  /** The memory that it keeps until it is done: the body of the request that wants it. */
  readonly heldBytes: number
  /** Whether one may be asked for now: not while the upstream is rate-limited. */
  readonly mayBegin: () => boolean
  /** Asks for it. Called by one process at a time. Only a defect makes it reject, or the signal's reason. */
  readonly write: (signal: AbortSignal) => Promise<SummaryResult>
}

/** Has summaries written: by one writer for each key, in this process and among all that share the store. */
export type SummaryWriter = ReturnType<typeof createSummaryWriter>

export type SummaryWriterOptions = {
  readonly store: Store
  readonly guarded: StoreGuard
  /** This process has written a summary or failed to, and how long that took. Must not throw. */
  readonly onWritten: (job: SummaryJob, result: SummaryResult, milliseconds: number) => void
  /** Something broke that is a defect. Must not throw. */
  readonly onDefect: (error: unknown) => void
  /** How long another process is taken to be writing after it last said so, in milliseconds. Default 15,000. */
  readonly leaseMs?: number
}

export function createSummaryWriter(options: SummaryWriterOptions) {
  const { store, guarded, leaseMs = LEASE_MS } = options
  const running = new Map<string, Run>()
  // Without its store a process still uses what it has paid for.
  const recent = lruCache<Recent>(RECENT_MAX)
  const forgottenAtMs = lruCache<number>(FORGOTTEN_MAX)
  const gates = lruCache<Gate>(SCOPES_MAX)
  let isClosing = false

  async function find(keys: readonly string[]) {
    const found = await guarded(null, () => store.getFirst(keys))
    const record = found === null ? null : readSummaryRecord(found.value)
    if (found !== null && record !== null) return { index: found.index, record }
    for (const [index, key] of keys.entries()) {
      const known = recent.get(key)
      if (known !== undefined) return { index, record: known.record }
    }
    return null
  }

  async function obtain(job: SummaryJob): Promise<SummaryRecord | null> {
    const run = running.get(job.key)
    if (run !== undefined) return run.outcome
    if (isClosing || !hasRoom(job)) return null
    if (job.wantedAtMs <= (forgottenAtMs.get(job.conversation) ?? Number.NEGATIVE_INFINITY)) return null
    const breaking = new AbortController()
    const outcome = obtainOnce(job, breaking.signal)
      .catch((error: unknown) => {
        if (!breaking.signal.aborted) options.onDefect(error)
        return null
      })
      .finally(() => running.delete(job.key))
    running.set(job.key, { job, outcome, breaking })
    return outcome
  }

  /**
   * A scope has at most as many jobs, and as many bytes of them, as places are free: one that wants many leaves some for
   * all others. If nothing is being done, a job is taken whatever its size.
   */
  function hasRoom({ scope, heldBytes }: SummaryJob): boolean {
    const runs = [...running.values()]
    const own = runs.filter(({ job }) => job.scope === scope)
    const fits = bytesOf(own) + heldBytes <= JOBS_BYTES_MAX - bytesOf(runs)
    return own.length < JOBS_MAX - runs.length && (fits || runs.length === 0)
  }

  async function obtainOnce(job: SummaryJob, signal: AbortSignal): Promise<SummaryRecord | null> {
    // By the number, too: a profile that was changed holds for the jobs after it.
    const gateKey = JSON.stringify([job.scope, job.concurrent])
    const gate = gates.get(gateKey) ?? createGate(job.concurrent)
    gates.set(gateKey, gate)
    await gate.enter(signal)
    try {
      const holder = randomUUID()
      for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
        const found = await find([job.key])
        if (found !== null) return found.record
        if (!job.mayBegin()) return null
        const leases = await takeLeases(job, holder)
        if (leases !== null) return await writeUnder(leases, holder, job, signal)
        await sleep(POLL_MS, undefined, { signal })
      }
      return null
    } finally {
      gate.leave()
    }
  }

  async function take(key: string, holder: string): Promise<boolean> {
    return guarded(true, () => store.lease(key, holder, leaseMs))
  }

  async function giveBack(key: string, holder: string): Promise<void> {
    return guarded(undefined, () => store.release(key, holder))
  }

  /**
   * The lease of a summary, and of one of the places that its scope has among all processes; null if all places are taken,
   * or another process writes this summary.
   */
  async function takeLeases(
    { key, scope, concurrent }: SummaryJob,
    holder: string,
  ): Promise<string[] | null> {
    for (let place = 0; place < concurrent; place += 1) {
      const slot = `slot:${scope}:${place}`
      if (!(await take(slot, holder))) continue
      const lease = `lease:${key}`
      if (await take(lease, holder)) return [lease, slot]
      await giveBack(slot, holder)
      return null
    }
    return null
  }

  /** Writes while the leases are held and renewed. */
  async function writeUnder(
    leases: readonly string[],
    holder: string,
    job: SummaryJob,
    signal: AbortSignal,
  ): Promise<SummaryRecord | null> {
    const timer = setInterval(() => {
      for (const key of leases) void take(key, holder)
    }, leaseMs / RENEWALS)
    try {
      // It may have been written between the look and the lease.
      const found = await find([job.key])
      return found === null ? await write(job, signal) : found.record
    } finally {
      clearInterval(timer)
      await Promise.all(leases.map(async (key) => giveBack(key, holder)))
    }
  }

  async function write(job: SummaryJob, signal: AbortSignal): Promise<SummaryRecord | null> {
    const { key, conversation } = job
    const beganMs = performance.now()
    let result: SummaryResult
    try {
      result = await job.write(signal)
    } catch (error) {
      if (signal.aborted) throw error
      options.onDefect(error)
      // It may have been paid for, and would be again by every request. Another version of Foldgate may do better.
      const record = failure('defect')
      recent.set(key, { conversation, record })
      return record
    }
    options.onWritten(job, result, performance.now() - beganMs)
    // A summary that was only broken off is asked for again when the next request wants it.
    if (result.kind === 'failed' && result.reason === 'cancelled') return null
    const made: SummaryRecord =
      result.kind === 'written'
        ? { kind: 'written', text: result.text, tokens: result.tokens }
        : failure(result.reason)
    const text = JSON.stringify(made)
    const standing = await guarded(text, () => store.putIfAbsent(key, text, conversation))
    const record = readSummaryRecord(standing) ?? made
    recent.set(key, { conversation, record })
    return record
  }

  return {
    /** The record under the first of these keys that has one; a failure is on record too. */
    find,
    /** The record that a job comes to, whichever process does it; null if it is not done for now. Never rejects. */
    obtain,
    /** Whether this process writes it, or waits for another that does. */
    isPending: (key: string) => running.has(key),
    /**
     * Breaks off what this process writes for a conversation, drops what it remembers of it, and takes no job for it from
     * requests that came before. Resolves once nothing of it is written any more, with whether there was anything.
     */
    forget: async (conversation: string) => {
      forgottenAtMs.set(conversation, performance.now())
      const runs = [...running.values()].filter(({ job }) => job.conversation === conversation)
      // A job that ends all the same has written its record by then: a deletion after this is final.
      await breakOff(runs, 'The conversation was deleted.')
      const keys = [...recent].flatMap(([key, known]) => (known.conversation === conversation ? [key] : []))
      for (const key of keys) recent.delete(key)
      return runs.length > 0 || keys.length > 0
    },
    /** Breaks off what is being written, and takes no more. */
    close: async () => {
      isClosing = true
      await breakOff([...running.values()], 'Foldgate shuts down.')
    },
  }
}

// --- internal ---

/** A job that is being done. */
type Run = {
  readonly job: SummaryJob
  readonly outcome: Promise<SummaryRecord | null>
  readonly breaking: AbortController
}

type Recent = { readonly conversation: string; readonly record: SummaryRecord }

async function breakOff(runs: readonly Run[], reason: string): Promise<void> {
  for (const { breaking } of runs) breaking.abort(new Error(reason))
  await Promise.all(runs.map(({ outcome }) => outcome))
}

function bytesOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { job }) => sum + job.heldBytes, 0)
}

/** A writer that died is given up after this, in milliseconds. */
const LEASE_MS = 15_000

/** How often a lease is renewed before its time is up. */
const RENEWALS = 3

/** How long until it is looked again whether another process has finished, in milliseconds. */
const POLL_MS = 200

/** How long a job waits for its turn and for others at most, in milliseconds. */
const PATIENCE_MS = 900_000

/** Each holds a conversation until it is done; more are left to the next request. */
const JOBS_MAX = 64

/** Of their requests' bodies together: with a model that hangs they wait for minutes. */
const JOBS_BYTES_MAX = 128 * 1024 * 1024

/** A few kilobytes each. */
const RECENT_MAX = 500

const SCOPES_MAX = 10_000

/** Deleted conversations of which requests may be under way still: an id and a time each. */
const FORGOTTEN_MAX = 10_000
