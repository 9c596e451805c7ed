import { boundTokens } from '../../src/compaction/bound-tokens.ts'
import type { Policy } from '../../src/compaction/policy.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import type { View } from '../../src/compaction/view/view.ts'
import { createFactsReader } from '../../src/dialects/entry-facts.ts'
import { chatCompletions } from '../../src/dialects/chat-completions/chat-completions.ts'
import type { Media, Message, MessageFacts } from '../../src/conversation/message.ts'
import { readMessages } from './chat-completions.ts'
import { parseMessage } from './chat-completions.ts'
import { finish, type Steps } from '../../src/conversation/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import type { TokenCounter } from '../../src/tokens/bpe-counter.ts'
import { messageTokens } from '../../src/tokens/message-tokens.ts'
import { unreadTokens } from '../../src/tokens/unread-tokens.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { entriesOf } from './body-limits.ts'
import { digest, sourceOf } from './source.ts'

/** Three characters a token: exact enough where only the arithmetic matters, and cheap. */
export const countThirds = (text: string): number => Math.ceil(text.length / 3)

/** The same, with a pause. */
export function* countThirdsSteps(text: string): Steps<number> {
  yield
  return countThirds(text)
}

const thirds: TokenCounter = { count: countThirds, countSteps: countThirdsSteps }

/** Images and sound weigh little, so that budgets stay small; the JSON of unknown parts weighs what it is. */
function mediumTokens(media: Media): number {
  return media.kind === 'other' ? Math.ceil(media.dataBytes / 4) : 85
}

/** Each message is read once; a memory of thousands takes longer to make than most conversations of tests to read. */
const REREAD_MAX = 16

/** The messages as compaction works on them, sized with `countThirds` as the proxy sizes them with an encoding. */
export function subjectOf(messages: readonly object[]): Subject {
  return subjectFrom(JSON.stringify(messages))
}

/** The same of a JSON array as a client spelt it. */
export function subjectFrom(
  body: string,
  counter: TokenCounter = thirds,
  standIns: ReadonlySet<number> = new Set(),
): Subject {
  const source = sourceOf(body)
  const read = finish(
    readMessages(entriesOf(source), source, 'test', createFactsReader(digest, { entriesMax: REREAD_MAX })),
  )
  if (read === null) throw new Error('the test made messages that cannot be read')
  const mediaSizes = (index: number): readonly number[] => (read[index]?.facts.media ?? []).map(mediumTokens)
  const textSizes = read.map((message) => {
    const tokens = finish(messageTokens(parseMessage(source, message), factsOfText(message), counter, ''))
    const unread = finish(unreadTokens(source, message, counter.countSteps))
    return unread.reduce((sum, size) => sum + size, tokens)
  })
  const bound = read.map((message, index) => {
    const text = { ...message, facts: factsOfText(message) }
    return finish(boundTokens({ source, dialect: chatCompletions }, text, textSizes[index] ?? 0, counter, ''))
  })
  return {
    dialect: chatCompletions,
    source,
    messages: read,
    structure: finish(structureOf(read, standIns)),
    grewFrom: null,
    sizes: textSizes.map((tokens, index) => mediaSizes(index).reduce((sum, size) => sum + size, tokens)),
    mediaSizes,
    boundTokens: (index) => bound[index] ?? 0,
    count: counter.count,
    countSteps: counter.countSteps,
    digest,
    omitted: new Set(),
    memorySpace: 'test',
  }
}

/** What is counted beside media. */
function factsOfText({ facts }: Message): MessageFacts {
  return { ...facts, media: [] }
}

/** A policy whose figures stories can be told with, whatever the defaults are. */
export function policyOf(profile: object = {}): Policy {
  return profileSchema.parse({ ...figures, ...profile })
}

const figures = { trigger: 0.75, target: 0.5, keep: { recent_messages: 10 }, recap: { max_tokens: 1024 } }

/** The messages of a view as JSON texts, as the upstream receives them. */
export function viewTexts(subject: Subject, view: View): string[] {
  return view.messages.map(({ item }) => {
    if (item.kind === 'made') return item.json
    const message = subject.messages[item.index]
    return message === undefined ? '' : subject.source.text(message.start, message.end)
  })
}
