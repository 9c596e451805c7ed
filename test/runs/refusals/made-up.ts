import { readFileSync } from 'node:fs'
import { classifyAnswer } from '../../support/chat-completions.ts'

/** Words that an overflow might come in, with the window and prompt size that they state; or words that only look so. */
type MadeUp = {
  readonly half: string
  readonly text: string
  readonly isOverflow: boolean
  readonly window?: number
  readonly prompt?: number
}

export type MadeUpHalf = { readonly name: string; readonly all: readonly MadeUp[] }

/**
 * The first half was there when the general form was made; the others were judged once before it was changed for them. The
 * look-alikes speak of tokens, limits, lengths or sizes, and of no overflow.
 */
export const madeUpHalves: readonly MadeUpHalf[] = [
  ...Map.groupBy(
    readFileSync(new URL('made-up.jsonl', import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .map((line): MadeUp => JSON.parse(line)),
    ({ half }) => half,
  ),
].map(([name, all]) => ({ name, all }))

/** Judged by the general form alone: the texts that were missed, mistaken and misread, and what numbers were read. */
export function judgeMadeUp({ all }: MadeUpHalf) {
  const judged = all.map((asked) => ({ asked, read: readMadeUp(asked.text) }))
  const overflows = judged.filter(({ asked }) => asked.isOverflow)
  const lookAlikes = judged.filter(({ asked }) => !asked.isOverflow)
  const stating = overflows.filter(({ asked }) => asked.window !== undefined)
  const textsOf = (found: typeof judged) => found.map(({ asked }) => asked.text)
  return {
    overflows: overflows.length,
    lookAlikes: lookAlikes.length,
    missed: textsOf(overflows.filter(({ read }) => read.class !== 'overflow')),
    mistaken: textsOf(
      lookAlikes.filter(({ read }) => read.class === 'overflow' || read.window !== undefined),
    ),
    /** Overflows that state a number, those of which all is read, and those of which a number is read wrong. */
    stated: stating.length,
    read: stating.filter(({ asked, read }) => read.window === asked.window && read.prompt === asked.prompt)
      .length,
    misread: textsOf(
      overflows.filter(
        ({ asked, read }) =>
          (read.window !== undefined && read.window !== asked.window) ||
          (read.prompt !== undefined && read.prompt !== asked.prompt),
      ),
    ),
  }
}

function readMadeUp(message: string) {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })
  const answer = { status: 400, contentType: 'application/json', body }
  const read = classifyAnswer(answer, { knownWindowTokens: null, signatures: [] })
  return { class: read.class, window: read.window?.tokens, prompt: read.promptTokens?.tokens }
}
