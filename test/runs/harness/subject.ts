import { hash } from 'node:crypto'
import { ruleBreaks, type RuleBreak, type Template } from '../../support/strict-upstream/message-rules.ts'
import { openPromptCounter, REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import { refuse } from './command.ts'
import {
  isSystem,
  messagesOf,
  readRecordings,
  systemCountOf,
  textsBefore,
  toolsIn,
  type RawMessage,
  type Recording,
} from './recordings.ts'

/** A conversation as it is replayed, with what the checks want to know of it, worked out once. */
export type Subject = {
  readonly recording: Recording
  readonly variant: Variant
  /** Names it in an authorization header. */
  readonly owner: string
  readonly messages: readonly RawMessage[]
  readonly points: readonly number[]
  /** The indexes at which a message of these bytes stands. */
  readonly indexesOf: ReadonlyMap<string, readonly number[]>
  readonly systemCount: number
  /** The first user message; -1 where there is none. */
  readonly task: number
  /** Tokens of the request that carried so many messages, by the judge's count. */
  readonly promptTokens: (point: number) => number
  /** Of these, tools and leading system messages, which are sent as they are. */
  readonly aroundTokens: (point: number) => number
  /** Of these, tools alone. */
  readonly toolsTokens: number
  /** Of these, the user message that is the newest of all: it goes whole where it exceeds what those leave. */
  readonly newestUserTokens: (point: number) => number
  readonly breaks: (point: number, template: Template) => readonly RuleBreak[]
  readonly body: (point: number, isStreamed: boolean) => RequestBody
}

/** `recorded` obeys the rules; what does not is replayed twice, `repaired` and `broken`. */
export type Variant = 'recorded' | 'repaired' | 'broken'

/** A request's bytes, and those of them around its messages. */
export type RequestBody = { readonly bytes: Buffer; readonly before: Buffer; readonly after: Buffer }

type SubjectOptions = Partial<Pick<Subject, 'variant' | 'messages' | 'points'>> & {
  readonly recording: Recording
  readonly counter: ReturnType<typeof openPromptCounter>
}

/** Of a recording as it is, if nothing else is said. */
export function createSubject({ recording, counter, ...given }: SubjectOptions): Subject {
  const { variant = 'recorded', messages = recording.messages, points = recording.points } = given
  const indexesOf = new Map<string, number[]>()
  const sums = [0]
  const joined = Buffer.from(messages.map(({ text }) => text).join(','))
  const ends = [0]
  for (const [index, { text, message }] of messages.entries()) {
    const known = indexesOf.get(text)
    if (known === undefined) indexesOf.set(text, [index])
    else known.push(index)
    sums.push((sums[index] ?? 0) + counter.message(hash('sha1', text), message))
    ends.push((ends[index] ?? 0) + Buffer.byteLength(text) + (index === 0 ? 0 : 1))
  }
  const toolsTokens = counter.tools(hash('sha1', recording.tools), toolsIn(recording))
  const aroundTokens = REPLY_TOKENS + toolsTokens
  const systemCount = systemCountOf(messages)
  const task = messages.findIndex(({ message }) => message['role'] === 'user')
  const sizeOf = (index: number) => (index < 0 ? 0 : (sums[index + 1] ?? 0) - (sums[index] ?? 0))
  const after = Buffer.from(`],${recording.after}}`)
  const befores = [false, true].map((isStreamed) =>
    Buffer.from(`{${recording.before},"stream":${isStreamed},"messages":[`),
  )
  const known = new Map<string, readonly RuleBreak[]>()

  return {
    recording,
    variant,
    owner: encodeURIComponent(`${recording.file}/${recording.id}/${variant}`),
    messages,
    points,
    indexesOf,
    systemCount,
    task,
    promptTokens: (point) => aroundTokens + (sums[point] ?? 0),
    aroundTokens: (point) => aroundTokens + (sums[Math.min(systemCount, point)] ?? 0),
    toolsTokens,
    newestUserTokens: (point) => sizeOf(newestUserOf(messages.slice(0, point))),
    breaks: (point, template) => {
      const key = `${point} ${template}`
      const breaks = known.get(key) ?? ruleBreaks(messagesOf(messages.slice(0, point)), template)
      known.set(key, breaks)
      return breaks
    },
    body: (point, isStreamed) => {
      const before = befores[isStreamed ? 1 : 0] ?? Buffer.alloc(0)
      return { bytes: Buffer.concat([before, joined.subarray(0, ends[point]), after]), before, after }
    },
  }
}

/** Whether the upstream refuses broken sequences: a recording that is broken itself has to get through as well. */
export const rulesFor = (messages: readonly RawMessage[]): 'enforced' | 'unchecked' =>
  ruleBreaks(messagesOf(messages), 'lenient').length === 0 ? 'enforced' : 'unchecked'

/** A plain request of these messages, with tools and an output limit that need not be the recording's. */
export function bodyOf(
  recording: Recording,
  texts: readonly string[],
  { tools = recording.tools, outputTokens }: { readonly tools?: string; readonly outputTokens: number },
): Buffer {
  const after = recording.membersAfter(tools, outputTokens)
  return Buffer.from(`{${recording.before},"stream":false,"messages":[${texts.join(',')}],${after}}`)
}

/** The same of the messages that the recording has before this point. */
export const bodyAt = (recording: Recording, point: number, outputTokens: number): Buffer =>
  bodyOf(recording, textsBefore(recording, point), { outputTokens })

/** The last user message; -1 where there is none. */
export const latestUser = (messages: readonly RawMessage[]): number =>
  messages.findLastIndex(({ message }) => message['role'] === 'user')

/** The newest message that is no system message, where it is a user's; -1 where it is not. */
export function newestUserOf(messages: readonly RawMessage[]): number {
  const newest = messages.findLastIndex((message) => !isSystem(message))
  return messages[newest]?.message['role'] === 'user' ? newest : -1
}

/** The conversation of a folder, or of one file of it, whose last request has the most tokens. */
export function longestOf(folder: string, file: string | null, count: (text: string) => number): Subject {
  const counter = openPromptCounter(count)
  const longest = readRecordings(folder, file)
    .filter(({ points }) => points.length > 0)
    .map((recording) => createSubject({ recording, counter }))
    .toSorted((one, other) => lastTokens(other) - lastTokens(one))[0]
  return longest ?? refuse('The recordings hold no request to measure.')
}

/** Tokens of the last request. */
export const lastTokens = (subject: Subject): number => subject.promptTokens(subject.points.at(-1) ?? 0)
