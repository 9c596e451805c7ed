import { setImmediate } from 'node:timers/promises'
import {
  startStrictUpstream,
  type StrictUpstreamOptions,
} from '../../support/strict-upstream/strict-upstream.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import type { Store } from '../../../src/storage/store.ts'
import {
  cheapUpstream,
  withCheapSummaries,
  startSummaryModel,
  type SummaryModelOptions,
} from '../../support/summary-model.ts'
import { fakeUpstream, type Script } from '../../support/fake-upstream.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from '../../support/foldgate.ts'
import { growingAgent, type AgentOptions } from './growing-agent.ts'

type Choices = Omit<FoldgateOptions, 'upstream' | 'upstreams'>

export type SummaryStandOptions = Choices & {
  readonly model?: SummaryModelOptions
  /** The window of the main upstream and of the profile. Default 8,000. */
  readonly windowTokens?: number
  /** What the strict upstream answers, where it is to write summaries itself, say. Default: one plain text. */
  readonly reply?: StrictUpstreamOptions['reply']
  /** Whether the strict upstream states what came from its cache, and everything else that prompts cost. Default true. */
  readonly statesUsage?: boolean
  /** What foldgate.yaml says of the main upstream beside its address. */
  readonly upstream?: object
  /** Instead of the strict upstream: a script. */
  readonly script?: Script | readonly Script[]
}

export type SummaryStand = Awaited<ReturnType<typeof summaryStand>>

/**
 * A Foldgate between an agent, the strict upstream and a stand-in for a cheap summary model. `await using` ends them
 * all with the test.
 */
export async function summaryStand(options: SummaryStandOptions = {}) {
  const {
    windowTokens = 8000,
    model: modelOptions,
    reply,
    statesUsage = true,
    script,
    upstream,
    ...choices
  } = options
  const model = await startSummaryModel(modelOptions)
  const main =
    script === undefined ? await strictUpstream(windowTokens, statesUsage, reply) : await fakeUpstream(script)
  const upstreams = { ...cheapUpstream(model), ...(upstream && { default: { url: main.url, ...upstream } }) }
  const profile = withCheapSummaries({
    window: { tokens: windowTokens, output_reserve: windowTokens / 8 },
    // Every compaction folds, and summaries stand alone.
    clear: { enabled: false },
    recap: { beside_summaries: false },
    ...choices.profile,
  })
  const running: RunningFoldgate[] = []
  const leases = countedLeases()
  const replica = async (own: Choices = {}): Promise<RunningFoldgate> => {
    const store = leases.counted(own.store ?? choices.store ?? openStore())
    const foldgate = await startFoldgate({
      ...choices,
      profile,
      ...own,
      store,
      upstream: main.url,
      upstreams,
    })
    running.push(foldgate)
    return foldgate
  }
  const foldgate = await replica()
  return {
    url: foldgate.url,
    foldgate,
    /** The stand-in that writes the summaries: the upstream `cheap`. */
    model,
    /** The main upstream's address, and what foldgate.yaml says of the others: for a Foldgate in a process. */
    upstreamUrl: main.url,
    upstreams,
    profile,
    agent: (of?: AgentOptions) => growingAgent(foldgate.url, () => main.requests, of),
    replica,
    /** Resolves once no summary is being written, and whoever would begin one has had the time. Not for other processes. */
    quiet: async () => {
      for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
        if (leases.held() > 0 || model.inFlight() > 0) turns = 0
        await setImmediate()
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of running) await each.close()
      await main.close()
      await model.close()
    },
  }
}

/**
 * The stand's usual window, with what its upstream counts known from the beginning: whoever has not learnt it yet, as
 * another replica or under another key, reaches a compaction at the same request.
 */
export const countedAlike = { tokens: 8000, output_reserve: 1000, ratio: 1 }

/** A store that outlives the Foldgates before it, as a file or a Redis does: for restarts and replicas. */
export const keptOpen = (store: Store): Store => ({ ...store, close: async () => {} })

/** The rounds whose messages stand in a call, by their number: a summary never quotes what a tool was called with. */
export const roundsIn = (text: string): readonly number[] =>
  [...text.matchAll(/"path":"src\/f(\d+)\.ts"/g)].map((found) => Number(found[1]))

/** A good answer of the summary model, which it gives when the test likes. */
export function withheld() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { give: () => resolve(), quality: () => promise.then(() => 'good' as const) }
}

/** An empty one, which outlives the Foldgates before it. */
export const openStore = (): Store => keptOpen(openMemoryStore({ bytesMax: 32_000_000, lifetimeMs: 0 }))

/** Turns of the event loop that one takes from an answer to its lease at most, several times over. */
const QUIET_TURNS = 50

/** Counts the leases that are held: of each summary that is being written, and of its place. */
function countedLeases() {
  const held = new Set<string>()
  const counted = (store: Store): Store => ({
    ...store,
    lease: async (key, holder, lifetimeMs) => {
      const isTaken = await store.lease(key, holder, lifetimeMs)
      if (isTaken) held.add(`${key} ${holder}`)
      return isTaken
    },
    release: async (key, holder) => {
      await store.release(key, holder)
      held.delete(`${key} ${holder}`)
    },
  })
  return { counted, held: () => held.size }
}

async function strictUpstream(
  windowTokens: number,
  statesUsage: boolean,
  reply: StrictUpstreamOptions['reply'] = () => ({ content: 'Understood.' }),
) {
  const { count } = await loadCounter('o200k_base')
  return startStrictUpstream({
    windowTokens,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply,
    statesUsage,
  })
}
