/** Something that stands between a client and its upstream, running as a process of its own. */
export type Subject = {
  readonly name: string
  /** Where it takes requests, without a path. */
  readonly origin: string
  /** The process whose CPU time and memory are its own; null where nothing stands between. */
  readonly pid: number | null
  /** What a client has to send so that it goes to the bench's upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** From the start of the process until it answered its first request, in milliseconds; null where none started. */
  readonly startMs: number | null
  readonly stop: () => Promise<void>
}

/** Starts a subject in front of an upstream. */
export type StartSubject = (upstreamOrigin: string) => Promise<Subject>
