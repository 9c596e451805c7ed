import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { startMessagesUpstream, type MessagesUpstream } from '../../support/messages/messages-upstream.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import { LAST_WORDS, openFiles, ROUNDS, WINDOW_TOKENS, type Files } from './agent-stand.ts'

export type MessagesStand = Files & {
  /** What the client takes as its base URL, with `/v1`. */
  readonly url: string
  readonly upstream: MessagesUpstream
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** What the client sets as the most that a reply may have. */
export const OUTPUT_TOKENS = 512

/**
 * A strict upstream of the Messages API with a small window, and a Foldgate before it or none. Its model thinks, in words or
 * hidden, then reads a file, in each of a few rounds, and answers. Thinking that is sent back behind anything else than what
 * it was thought after is refused.
 */
export async function messagesStand(how: 'alone' | 'through Foldgate'): Promise<MessagesStand> {
  const counter = await loadCounter('o200k_base')
  let round = 0
  const upstream = await startMessagesUpstream({
    windowTokens: WINDOW_TOKENS,
    outputReserveChecked: true,
    count: counter.count,
    reply: () => {
      round += 1
      const thought: ScriptedBlock =
        round % 2 === 0
          ? { type: 'thinking', tokens: 60 }
          : { type: 'thinking', text: `Step ${round} is due.` }
      if (round % (ROUNDS + 1) === 0) return { content: [thought, { type: 'text', text: LAST_WORDS }] }
      const input = { path: `src/file-${round}.ts` }
      return { content: [thought, { type: 'tool_use', id: `toolu_${round}`, name: 'read_file', input }] }
    },
  })
  const window = { tokens: WINDOW_TOKENS, output_reserve: OUTPUT_TOKENS }
  const foldgate =
    how === 'alone' ? null : await startFoldgate({ upstream: upstream.url, profile: { window } })
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
