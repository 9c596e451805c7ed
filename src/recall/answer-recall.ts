import type { Compacted } from '../compaction/compact.ts'
import type { Subject } from '../subject/subject.ts'
import type { Steps } from '../conversation/source.ts'
import { leftOutOf } from './left-out.ts'
import { listLeftOut } from './list-left-out.ts'
import { ownLine } from './own-lines.ts'
import { pageOf, type RecallAnswer } from './page.ts'
import { readMessages } from './read-messages.ts'
import { readRecallQuery, type RecallQuery } from './recall-query.ts'
import { searchMessages } from './search-messages.ts'

/** A conversation as the client sent it, and as the model sees it; `compacted` null where it sees all. */
export type RecallSource = { readonly subject: Subject; readonly compacted: Compacted | null }

/**
 * The answer to a call of the recall tool: a page of at most `tokensMax` tokens of what was asked for, whatever the
 * arguments. It depends on what is held and asked for only; how large its pages are changes no word of it.
 */
export function* answerRecall(held: RecallSource, argumentsText: string, tokensMax: number): Steps<string> {
  const query = readRecallQuery(argumentsText)
  const offset = query.kind === 'unclear' ? 0 : query.offset
  const { count, countSteps } = held.subject
  return yield* pageOf(answerTo(query, held), { offset, tokensMax, count, countSteps })
}

// --- internal ---

function answerTo(query: RecallQuery, { subject, compacted }: RecallSource): RecallAnswer {
  switch (query.kind) {
    case 'list':
      return listLeftOut(subject, leftOutOf(subject, compacted))
    case 'messages':
      return readMessages(subject, query.asked)
    case 'search':
      return searchMessages(subject, leftOutOf(subject, compacted), query)
    case 'unclear':
      return { pieces: explained(query.problem), goOn: () => null, hasEnd: false }
  }
}

function* explained(problem: string): RecallAnswer['pieces'] {
  yield `${ownLine(`${problem}. {"messages":"#12-#20"} reads, {"search":"words"} finds, {} lists what was left out`)}\n`
}
