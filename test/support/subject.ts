import type { Policy } from '../../src/compaction/policy.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import type { View } from '../../src/compaction/view.ts'
import { createFactsReader } from '../../src/conversation/facts.ts'
import { scanArray } from '../../src/conversation/json-scan.ts'
import { readMessages } from '../../src/conversation/messages.ts'
import { parseMessage } from '../../src/conversation/parse.ts'
import { finish } from '../../src/conversation/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import { frameTokens } from '../../src/pressure/message-tokens.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { digest, sourceOf } from './source.ts'

/** Three characters a token: exact enough where only the arithmetic matters, and cheap. */
export const countThirds = (text: string): number => Math.ceil(text.length / 3)

const MEDIA_TOKENS = 85

/** The messages as compaction works on them, sized with `countThirds`. */
export function subjectOf(messages: readonly object[]): Subject {
  const body = JSON.stringify(messages)
  const source = sourceOf(body)
  const spans = scanArray(source.latin1, 0)?.elements ?? []
  const read = finish(readMessages(spans, source, 'test', createFactsReader(digest, { entriesMax: 10_000 })))
  if (read === null) throw new Error('the test made messages that cannot be read')
  const mediaTokens = (index: number): number => (read[index]?.facts.media.length ?? 0) * MEDIA_TOKENS
  const sizes = read.map((message, index) => {
    const { text, calls } = parseMessage(source, message)
    const spoken = calls.reduce((sum, call) => sum + countThirds(call.argumentsText), countThirds(text))
    return frameTokens(message.facts, countThirds) + spoken + mediaTokens(index)
  })
  const structure = structureOf(read)
  return {
    source,
    messages: read,
    structure,
    sizes,
    mediaTokens,
    count: countThirds,
    digest,
    memorySpace: 'thirds',
  }
}

/** A policy with the defaults and what the test sets. */
export function policyOf(profile: object = {}): Policy {
  return profileSchema.parse(profile)
}

/** The messages of a view as JSON texts, as the upstream receives them. */
export function viewTexts(subject: Subject, view: View): string[] {
  return view.messages.map(({ item }) => {
    if (item.kind === 'made') return item.json
    const message = subject.messages[item.index]
    return message === undefined ? '' : subject.source.text(message.start, message.end)
  })
}
