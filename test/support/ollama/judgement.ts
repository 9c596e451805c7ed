import { hash } from 'node:crypto'
import {
  openJudge,
  type JudgeOptions,
  unread as unreadChat,
  type Verdict,
} from '../strict-upstream/judgement.ts'
import { openPromptCounter, REPLY_TOKENS } from '../strict-upstream/prompt-tokens.ts'
import { isObject, type WireMessage } from '../strict-upstream/wire-message.ts'
import { chatBreaks } from './chat-rules.ts'

export type OllamaJudgeOptions = Pick<JudgeOptions, 'rules' | 'count'> & {
  /**
   * `errors`: refuses a prompt beyond the window if the request has `truncate: false`. `drops`: does not know the field, and drops
   * messages whatever the request says.
   */
  readonly temperament: 'errors' | 'drops'
  /** The largest window that it loads a model with, whatever a request asks for. Default: any. */
  readonly loadsAtMost?: number
}

export type OllamaVerdict = Verdict & {
  /** What the model is loaded with for this request. */
  readonly windowTokens: number
  /** What the model read of the prompt, in tokens: what `prompt_eval_count` states. */
  readonly evaluatedTokens: number
  /** The messages that the model did not get to see, by their places. */
  readonly dropped: readonly number[]
}

/** What is known of a request that was not read. */
export const unread: OllamaVerdict = { ...unreadChat, windowTokens: 0, evaluatedTokens: 0, dropped: [] }

/** With what Ollama loads a model on a small machine if nobody asks for more. */
const DEFAULT_WINDOW_TOKENS = 4096

/** Judges request bodies one after the other; `owner` is whose prompt cache it is. */
export function openOllamaJudge({ temperament, loadsAtMost = Infinity, ...options }: OllamaJudgeOptions) {
  const judgeChat = openJudge({
    ...options,
    windowTokens: Infinity,
    template: 'lenient',
    outputReserveChecked: false,
    breaksOf: chatBreaks,
  })
  const counter = openPromptCounter(options.count)

  return function judge(bodyText: string, owner: string): OllamaVerdict {
    const verdict = judgeChat(bodyText, owner)
    const { promptTokens, body, messages, rawMessages } = verdict
    const windowTokens = Math.min(askedWindow(body) ?? DEFAULT_WINDOW_TOKENS, loadsAtMost)
    const judged = { ...verdict, windowTokens, evaluatedTokens: promptTokens, dropped: [] }
    if (verdict.rejection !== null || promptTokens <= windowTokens) return judged
    if (temperament === 'errors' && body['truncate'] === false)
      return { ...judged, rejection: windowRejection }
    const sizes = messages.map((message, index) =>
      counter.message(hash('sha1', rawMessages[index] ?? ''), message),
    )
    const messagesTokens = sizes.reduce((sum, size) => sum + size, REPLY_TOKENS)
    const dropped = droppedOf(messages, sizes, promptTokens - windowTokens)
    const droppedTokens = dropped.reduce((sum, index) => sum + (sizes[index] ?? 0), 0)
    // Of a last message that exceeds the window by itself the runner cuts the rest.
    const leftTokens = promptTokens - Math.min(droppedTokens, messagesTokens)
    return { ...judged, evaluatedTokens: Math.min(windowTokens, leftTokens), dropped }
  }
}

function askedWindow({ options }: Readonly<Record<string, unknown>>): number | null {
  const asked = isObject(options) ? options['num_ctx'] : undefined
  return typeof asked === 'number' && asked > 0 ? asked : null
}

const windowRejection = {
  reason: 'window',
  message: 'the input length exceeds the context length',
  param: null,
  code: null,
} as const

/** The oldest ones but system messages and the last, whether or not it parts calls from their results. */
function droppedOf(
  messages: readonly WireMessage[],
  sizes: readonly number[],
  excessTokens: number,
): readonly number[] {
  const dropped: number[] = []
  let left = excessTokens
  for (const [index, { role }] of messages.slice(0, -1).entries()) {
    if (left <= 0) break
    if (role === 'system') continue
    dropped.push(index)
    left -= sizes[index] ?? 0
  }
  return dropped
}
