import type { Subject } from '../../src/compaction/history/subject.ts'
import { createFactsReader } from '../../src/formats/entry-facts.ts'
import type { Message } from '../../src/conversation/message.ts'
import { readMessages } from '../support/chat-completions.ts'
import { finish, type Source } from '../../src/json/source.ts'
import { entriesOf } from '../support/body-limits.ts'
import { subjectOf } from '../support/subject.ts'
import { digest, sourceOf } from '../support/source.ts'

/** The messages of a JSON array as a client spelt it, for what JSON.stringify cannot write. */
export function readRaw(body: string): { readonly source: Source; readonly messages: readonly Message[] } {
  const source = sourceOf(body)
  const messages = finish(
    readMessages(entriesOf(source), source, 'test', createFactsReader(digest, { entriesMax: 16 })),
  )
  if (messages === null) throw new Error('the test wrote messages that cannot be read')
  return { source, messages }
}

/** The same as compaction works on it: sized as the test's other subjects are. */
export function rawSubject(messageTexts: readonly string[]): Subject {
  const body = `[${messageTexts.join(',')}]`
  const parsed: readonly object[] = JSON.parse(body)
  return { ...subjectOf(parsed), ...readRaw(body) }
}
