import type { Recording } from '../recordings.ts'
import type { Exchange } from '../stage.ts'
import type { RequestBody } from '../subject.ts'
import type { EntryReader, LivedEntry } from './history.ts'

/** A recorded chat as a client of another API lives it; `Script` is what its upstream is told to answer. */
export type LivedSubject<Script> = {
  readonly recording: Recording
  readonly variant: 'recorded' | 'repaired'
  /** Names it in an authorization header. */
  readonly owner: string
  /** Tokens of what stands around the entries, by the judge's count. */
  readonly aroundTokens: number
  readonly readEntry: EntryReader
  /** Makes its requests in their order, each with what was answered before. */
  readonly live: (isStreamed: boolean, ask: AskLived<Script>) => Promise<void>
  /** The names of the thoughts in an answer. */
  readonly thoughtsIn: (answer: string) => readonly string[]
}

/** Makes a request; the answer, or null where that is none of the upstream's. */
type AskLived<Script> = (request: LivedRequest<Script>) => Promise<string | null>

type LivedRequest<Script> = {
  /** How many steps of the conversation stand before it. */
  readonly point: number
  /** All that was said so far. */
  readonly entries: readonly LivedEntry[]
  readonly body: RequestBody
  readonly script: Script
}

/** What an upstream received, in terms that all APIs share. */
export type LivedReceived = {
  readonly body: Buffer
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly rejected: { readonly reason: string; readonly message: string } | null
  /** The raw JSON of what stands in the list of the body. */
  readonly rawParts: readonly string[]
  /** The same by entries. */
  readonly rawEntries: readonly string[]
  /** The names of the thoughts that the model was shown. */
  readonly thoughts: readonly string[]
  /** How many it was not shown, since they were made on something else. */
  readonly deadThoughts: number
}

/** A Foldgate between a client and a strict upstream, which answers each request as its script says. */
export type LivedStage<Script, Received extends LivedReceived = LivedReceived> = {
  readonly ask: (body: Buffer, authorization: string, script: Script) => Promise<Exchange<Received>>
  /** The lines by which Foldgate said that a part of it failed. */
  readonly failures: () => readonly string[]
  readonly close: () => Promise<void>
}
