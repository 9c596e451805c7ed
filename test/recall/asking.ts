import * as fc from 'fast-check'
import type { Compacted } from '../../src/compaction/compact.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { runAtOnce } from '../../src/json/source.ts'
import { answerRecall, type RecallSource } from '../../src/recall/answer-recall.ts'
import { anyCharacter } from '../support/any-character.ts'
import { compactedUnder } from '../support/compacted.ts'
import { readRecallPage } from '../support/recall-pages.ts'
import { profileOf, historyOf } from '../support/subject.ts'

/** A conversation as the client sent it, and what a budget of so many tokens leaves of it. */
export function held(
  conversation: readonly object[] | History,
  budgetTokens: number,
  { profile: settings = {}, strict = false }: { readonly profile?: object; readonly strict?: boolean } = {},
): RecallSource & { readonly compacted: Compacted } {
  const history = 'messages' in conversation ? conversation : historyOf(conversation)
  const profile = profileOf({ recall: { enabled: true }, ...settings })
  const compacted = compactedUnder(history, { profile, budgetTokens, strict })
  return { history, compacted }
}

/** One call of the tool. */
export function ask(asked: RecallSource, callArguments: unknown, tokensMax = 1_000_000): string {
  const text = typeof callArguments === 'string' ? callArguments : JSON.stringify(callArguments)
  return runAtOnce(answerRecall(asked, text, tokensMax))
}

/** Follows the last lines of pages to the end; the whole answer. The sizes of pages take turns. */
export function askAll(
  asked: RecallSource,
  callArguments: unknown,
  sizes: readonly number[] = [1_000_000],
): { readonly text: string; readonly pages: readonly string[] } {
  const pages: string[] = []
  let text = ''
  let next: string | null = JSON.stringify(callArguments)
  while (next !== null) {
    const page = ask(asked, next, sizes[pages.length % sizes.length] ?? 0)
    pages.push(page)
    const read = readRecallPage(page, next)
    if (!read.hasRoom) throw new Error(`no room on a page of ${sizes[(pages.length - 1) % sizes.length]}`)
    text += read.text
    next = read.next
  }
  return { text, pages }
}

/** Arguments of a call of the recall tool as any model might write them, sound or not. */
export const anyArguments: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.json(),
  fc
    .record(
      { messages: fc.jsonValue(), search: fc.jsonValue(), offset: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
)
