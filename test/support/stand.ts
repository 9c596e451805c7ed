import { fakeUpstream, type FakeUpstream, type Script } from './fake-upstream.ts'
import { startFoldgate, type FoldgateOptions, type RunningFoldgate } from './foldgate.ts'

/** A Foldgate and the upstream behind it. */
export type Stand = {
  readonly upstream: FakeUpstream
  readonly foldgate: RunningFoldgate
  /** What a client takes as its base URL. */
  readonly url: string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Starts both; `await using` ends them with the test. */
export async function standWith(
  script: Script | readonly Script[],
  options: Omit<FoldgateOptions, 'upstream'> & {
    readonly onQuestion?: Script
    /** The address of another upstream, to share it. */
    readonly upstream?: string
  } = {},
): Promise<Stand> {
  const { onQuestion } = options
  const upstream = await fakeUpstream(script, onQuestion === undefined ? {} : { onQuestion })
  const foldgate = await startFoldgate({ upstream: upstream.url, ...options })
  return {
    upstream,
    foldgate,
    url: foldgate.url,
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}
