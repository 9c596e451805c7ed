import type { History } from '../../src/compaction/history/history.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import type { Message } from '../../src/conversation/message.ts'
import { readMessages } from '../support/chat-completions.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import { entriesOf } from '../support/body-limits.ts'
import { historyOf } from '../support/subject.ts'
import { digest, sourceOf } from '../support/source.ts'

/** The messages of a JSON array as a client spelt it, for what JSON.stringify cannot write. */
export function readRaw(body: string): { readonly source: Source; readonly messages: readonly Message[] } {
  const source = sourceOf(body)
  const messages = runAtOnce(
    readMessages(entriesOf(source), source, 'test', createFactsReader(digest, { entriesMax: 16 })),
  )
  if (messages === null) throw new Error('the test wrote messages that cannot be read')
  return { source, messages }
}

/** The same as compaction works on it: sized as the test's other subjects are. */
export function rawSubject(messageTexts: readonly string[]): History {
  const body = `[${messageTexts.join(',')}]`
  const parsed: readonly object[] = JSON.parse(body)
  return { ...historyOf(parsed), ...readRaw(body) }
}
