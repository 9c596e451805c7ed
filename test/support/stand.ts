import { fakeUpstream, type Script } from './fake-upstream.ts'
import { startFoldgate, type FoldgateOptions } from './foldgate.ts'

/** A Foldgate and the upstream behind it. */
export type Stand = Awaited<ReturnType<typeof standWith>>

/** Starts both; `await using` ends them with the test. */
export async function standWith(
  script: Script | readonly Script[],
  options: Omit<FoldgateOptions, 'upstream'> & {
    readonly onQuestion?: Script
    /** The address of another upstream, to share it. */
    readonly upstream?: string
  } = {},
) {
  const { onQuestion } = options
  const upstream = await fakeUpstream(script, onQuestion === undefined ? {} : { onQuestion })
  const foldgate = await startFoldgate({ upstream: upstream.url, ...options })
  return {
    upstream,
    foldgate,
    /** What a client takes as its base URL. */
    url: foldgate.url,
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}
