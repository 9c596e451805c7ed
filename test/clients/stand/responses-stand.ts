import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { startResponsesUpstream, type ResponsesUpstream } from '../../support/responses/responses-upstream.ts'
import { LAST_WORDS, openFiles, ROUNDS, WINDOW_TOKENS, type Files } from './agent-stand.ts'

export type ResponsesStand = Files & {
  /** What the client takes as its base URL. */
  readonly url: string
  readonly upstream: ResponsesUpstream
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A strict upstream of the Responses API with a small window, and a Foldgate before it or none. Its model thinks, then reads
 * a file, in each of a few rounds, and answers. Reasoning that is sent back behind anything else than what it was thought
 * after is left out, and the upstream tells of it.
 */
export async function responsesStand(how: 'alone' | 'through Foldgate'): Promise<ResponsesStand> {
  const counter = await loadCounter('o200k_base')
  let round = 0
  const upstream = await startResponsesUpstream({
    windowTokens: WINDOW_TOKENS,
    outputReserveChecked: true,
    count: counter.count,
    reply: () => {
      round += 1
      const thought = { type: 'reasoning', tokens: 60 } as const
      if (round % (ROUNDS + 1) === 0) return { output: [thought, { type: 'message', text: LAST_WORDS }] }
      const args = JSON.stringify({ path: `src/file-${round}.ts` })
      const call = {
        type: 'function_call',
        callId: `call_${round}`,
        name: 'read_file',
        arguments: args,
      } as const
      return { output: [thought, call] }
    },
  })
  const foldgate =
    how === 'alone'
      ? null
      : await startFoldgate({
          upstream: upstream.url,
          profile: { window: { tokens: WINDOW_TOKENS, output_reserve: 512 } },
        })
  return {
    ...openFiles(counter.count),
    url: foldgate?.url ?? upstream.url,
    upstream,
    [Symbol.asyncDispose]: async () => {
      await foldgate?.close()
      await upstream.close()
    },
  }
}
