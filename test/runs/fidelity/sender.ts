import type { ReceivedRequest } from '../replay/stage.ts'
import type { Tally } from './tally.ts'

/** What the upstream got for one request. */
export type Sent = {
  /** What it answered, or refused last; null where nothing reached it. */
  readonly received:
    | (Pick<ReceivedRequest, 'rawMessages' | 'promptTokens' | 'cachedTokens'> & {
        /** What it got in the Responses API, of which `rawMessages` are the reading. */
        readonly rawItems?: readonly string[]
      })
    | null
  /** What went wrong. */
  readonly faults: Partial<Tally>
  /** What Foldgate asked of a summary model since the request before. */
  readonly summaries?: Pick<Tally, 'summaryCalls' | 'summaryTokens'>
}

/** Makes the request of so many messages. */
export type Sender = {
  readonly send: (point: number) => Promise<Sent>
  readonly close: () => Promise<void>
}
