import { RECALL_NO_MORE } from '../../src/proxy/reply/recall-answers.ts'
import { isObject, type WireMessage } from '../../src/demo/wire-message.ts'

/** What a model wants to find again, and how it goes about it. */
export type Errand = {
  /** The first call's arguments. */
  readonly first: object
  /** Whether a text holds what is wanted. */
  readonly isIn: (text: string) => boolean
}

/** What came of it: how many calls were answered, and whether the answers held it. */
export type ErrandReport = {
  readonly calls: number
  readonly isFound: boolean
  /** The arguments with which a further reply reads on; null where all was read. */
  readonly rest: object | null
}

/** A model on an errand: it calls the tool, reads on where a page ends, and stops when it has found what it wants. */
export type Errands = {
  /** Sends the model on an errand. The returned function ends it and tells what came of it. */
  readonly begin: (errand: Errand) => () => ErrandReport
  /** The arguments of its next call; null where it is done, has no errand, or cannot call. */
  readonly next: (messages: readonly WireMessage[], offersTool: boolean) => object | null
}

export function openErrands(): Errands {
  let current: Errand | null = null
  let calls = 0
  let isFound = false
  /** The pages so far, without what they say of themselves. */
  let read = ''
  let rest: object | null = null

  return {
    begin: (errand) => {
      current = errand
      calls = 0
      isFound = false
      read = ''
      rest = errand.first
      return () => {
        current = null
        return { calls, isFound, rest }
      }
    },
    next: (messages, offersTool) => {
      if (current === null || !offersTool || isFound) return null
      const answer = answerIn(messages)
      if (answer === null) return calls === 0 ? current.first : null
      if (answer === RECALL_NO_MORE) return null
      calls += 1
      const { text, goesOnWith } = readPage(answer, current.first)
      read += text
      isFound = current.isIn(read)
      rest = goesOnWith
      return isFound ? null : goesOnWith
    },
  }
}

/** By which calls on errands are told from recorded ones. */
export const CALL_ID = 'recall-run-'

/**
 * A page of an answer: what it quotes, and the arguments with which it says that it goes on; null where it was all. A
 * page that ends within a line has a line break that is none of the text.
 */
export function readPage(
  answer: string,
  asked: object,
): { readonly text: string; readonly goesOnWith: object | null } {
  const last = /\n?(\[recall: (?:cut within a line; )?(?:go on with |that is all).*)$/.exec(answer)
  const line = last?.[1] ?? ''
  const lineStart = answer.length - line.length
  const text = answer.slice(0, line.includes('cut within a line') ? lineStart - 1 : lineStart)
  const exact = /go on with (\{.*\})\]$/.exec(line)?.[1]
  if (exact !== undefined) {
    const value: unknown = JSON.parse(exact)
    return { text, goesOnWith: isObject(value) ? value : null }
  }
  const offset = /go on with the same arguments and "offset":(\d+)\]$/.exec(line)?.[1]
  return { text, goesOnWith: offset === undefined ? null : { ...asked, offset: Number(offset) } }
}

// --- internal ---

/** The answer to the tool's last call; null where the last message is none. */
function answerIn(messages: readonly WireMessage[]): string | null {
  const last: Readonly<Record<string, unknown>> = messages.at(-1) ?? {}
  const isOurs = last['role'] === 'tool' && String(last['tool_call_id']).startsWith(CALL_ID)
  return isOurs && typeof last['content'] === 'string' ? last['content'] : null
}
