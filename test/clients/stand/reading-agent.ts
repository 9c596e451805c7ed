import type { Dialect } from './reading-models.ts'
import type { Program } from './run-program.ts'

/** A coding agent that works without a person, as it is installed. */
export type ReadingAgent = {
  readonly name: string
  readonly packageName: string
  readonly dialect: Dialect
  /** Of the server. */
  readonly windowTokens: number
  /** Files that its model reads, one a round. */
  readonly rounds: number
  /** Tokens that are kept free for what the model writes. */
  readonly outputTokens: number
  /** Why it cannot run on this machine; null where it can. */
  readonly impossible: () => string | null
  /** Requests that it makes beside those of its loop while nothing is refused: the model is offered no tool in them. */
  readonly requestsAside: number
  /**
   * What it does at a server's window: gives its work up with these words, has the model shorten what was refused, or has
   * it shortened before anything is refused.
   */
  readonly atTheWindow: { readonly givesUpWith: string } | 'summarises' | 'summarises ahead'
  /** Writes its settings, and says how it is started. */
  readonly prepare: (at: Workplace) => Promise<Program>
  /** What stands between it and the server, or Foldgate. Default: nothing. */
  readonly front?: Front
}

/** Starts a program that passes requests on to this base URL, and says where it is itself. */
export type Front = (at: {
  readonly home: string
  readonly baseUrl: string
}) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>

/** Where an agent works, and at what. */
export type Workplace = {
  /** A folder for whatever it keeps: settings, logs, temporary files. */
  readonly home: string
  /** The folder with the files. */
  readonly folder: string
  readonly baseUrl: string
  readonly task: string
}
