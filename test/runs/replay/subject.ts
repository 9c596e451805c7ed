import { hash } from 'node:crypto'
import { ruleBreaks, type RuleBreak, type Template } from '../../support/strict-upstream/message-rules.ts'
import type { PromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import { membersAfter, type RawMessage, type Recording } from './recordings.ts'

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

type SubjectOptions = {
  readonly recording: Recording
  readonly variant: Variant
  readonly messages: readonly RawMessage[]
  readonly points: readonly number[]
  readonly counter: PromptCounter
}

export function createSubject({ recording, variant, messages, points, counter }: SubjectOptions): Subject {
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
  const tools: unknown = recording.tools === '' ? undefined : JSON.parse(recording.tools)
  const toolsTokens = counter.tools(hash('sha1', recording.tools), tools)
  const aroundTokens = REPLY_TOKENS + toolsTokens
  const role = (index: number) => messages[index]?.message['role']
  const isSystem = (index: number) => role(index) === 'system' || role(index) === 'developer'
  const firstOther = messages.findIndex((_, index) => !isSystem(index))
  const systemCount = firstOther === -1 ? messages.length : firstOther
  const task = messages.findIndex((_, index) => role(index) === 'user')
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
      const breaks =
        known.get(key) ??
        ruleBreaks(
          messages.slice(0, point).map(({ message }) => message),
          template,
        )
      known.set(key, breaks)
      return breaks
    },
    body: (point, isStreamed) => {
      const before = befores[isStreamed ? 1 : 0] ?? Buffer.alloc(0)
      return { bytes: Buffer.concat([before, joined.subarray(0, ends[point]), after]), before, after }
    },
  }
}

/** A plain request of these messages, with tools and an output limit that need not be the recording's. */
export function bodyOf(
  recording: Recording,
  texts: readonly string[],
  around: { readonly tools: string; readonly outputTokens: number },
): Buffer {
  const after = membersAfter(around.tools, around.outputTokens)
  return Buffer.from(`{${recording.before},"stream":false,"messages":[${texts.join(',')}],${after}}`)
}

/** The last user message of a request; -1 where there is none. */
export function latestUser(messages: readonly RawMessage[], point: number): number {
  for (let index = point - 1; index >= 0; index -= 1) {
    if (messages[index]?.message['role'] === 'user') return index
  }
  return -1
}

/** The newest message that is no system message, where it is a user's; -1 where it is not. */
export function newestUserOf(messages: readonly RawMessage[]): number {
  const newest = messages.findLastIndex(
    ({ message }) => message['role'] !== 'system' && message['role'] !== 'developer',
  )
  return messages[newest]?.message['role'] === 'user' ? newest : -1
}
