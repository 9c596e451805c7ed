import { ruleBreaks, type Template } from '../../support/strict-upstream/message-rules.ts'
import type { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { callsOf, textOf, textsOf, type WireCall } from '../../support/strict-upstream/wire-message.ts'
import {
  isSystem,
  messagesOf,
  requestPoints,
  spread,
  systemCountOf,
  type RawMessage,
  type Recording,
} from '../harness/recordings.ts'
import { createSubject, type Subject, type Variant } from '../harness/subject.ts'
import type { Job } from './jobs.ts'

type SubjectsOptions = {
  readonly job: Job
  readonly counter: ReturnType<typeof openPromptCounter>
  readonly pointsMax: number | null
}

/** What is replayed of the recordings: those that break the upstream's rules twice, repaired and as they are. */
export function openSubjects(recordings: readonly Recording[], options: SubjectsOptions): readonly Subject[] {
  const { job, counter, pointsMax } = options
  const template = job.upstreamTemplate
  const open = (recording: Recording, variant: Variant, messages: readonly RawMessage[]) => {
    const all = messages === recording.messages ? recording.points : pointsOf(recording, messages)
    return createSubject({ recording, variant, messages, points: spread(all, pointsMax), counter })
  }
  return recordings.flatMap((recording) => {
    if (!isBroken(recording.messages, template)) return [open(recording, 'recorded', recording.messages)]
    const sound = repaired(recording.messages, template)
    if (isBroken(sound, template)) throw new Error(`${recording.file} ${recording.id} could not be repaired`)
    const whole = open(recording, 'repaired', sound)
    // Where the placement is to be found out, refusals of the client's own sequence would only confuse.
    return job.profileTemplate === 'auto' && template === 'strict'
      ? [whole]
      : [whole, open(recording, 'broken', recording.messages)]
  })
}

/**
 * A conversation that broke the message rules, with as little changed as makes it obey them: unanswered calls
 * get a result, orphan results become text; for strict templates systems move to the front and roles alternate.
 */
export function repaired(messages: readonly RawMessage[], template: Template): readonly RawMessage[] {
  const sound = withAnsweredCalls(messages.map(withContent))
  return template === 'strict' ? alternating(withLeadingSystem(sound)) : sound
}

const isBroken = (messages: readonly RawMessage[], template: Template): boolean =>
  ruleBreaks(messagesOf(messages), template).length > 0

/** A single recorded request ends with its last message; a conversation is asked for before every answer. */
function pointsOf(recording: Recording, messages: readonly RawMessage[]): readonly number[] {
  const isSingle = recording.points[0] === recording.messages.length
  return isSingle ? [messages.length] : requestPoints(messages)
}

const made = (message: Record<string, unknown>): RawMessage => ({ text: JSON.stringify(message), message })
const madeUser = (content: string): RawMessage => made({ role: 'user', content })
const roleOf = (raw: RawMessage | undefined): string => textOf(raw?.message['role'])

const isResult = (raw: RawMessage | undefined): boolean =>
  roleOf(raw) === 'tool' || roleOf(raw) === 'function'

const isPlainAssistant = (raw: RawMessage): boolean =>
  roleOf(raw) === 'assistant' && callsOf(raw.message).length === 0

function withContent(raw: RawMessage): RawMessage {
  const { content, tool_calls: calls, ...rest } = raw.message
  const isEmpty = Array.isArray(calls) && calls.length === 0
  const hasContent = typeof content === 'string' || (Array.isArray(content) && content.length > 0)
  if (!isEmpty && (hasContent || callsOf(raw.message).length > 0)) return raw
  return made({ ...rest, content: hasContent ? content : '', ...(isEmpty ? {} : { tool_calls: calls }) })
}

function withAnsweredCalls(messages: readonly RawMessage[]): RawMessage[] {
  const sound: RawMessage[] = []
  for (let index = 0; index < messages.length;) {
    const raw = messages[index]
    index += 1
    if (raw === undefined) continue
    if (isResult(raw)) {
      sound.push(madeUser(`A tool returned: ${textsOf(raw.message['content']).join('\n')}`))
      continue
    }
    sound.push(raw)
    const open: WireCall[] = roleOf(raw) === 'assistant' ? [...callsOf(raw.message)] : []
    if (open.length === 0) continue
    for (let result = messages[index]; result !== undefined && isResult(result); result = messages[index]) {
      index += 1
      if (answers(open, textOf(result.message['tool_call_id']))) sound.push(result)
    }
    const content = 'No result was recorded.'
    for (const { id } of open)
      sound.push(made({ role: 'tool', ...(id !== null && { tool_call_id: id }), content }))
  }
  return sound
}

/** Takes the call that a result of this id answers from those that are open; false where there is none. */
function answers(open: WireCall[], id: string): boolean {
  const named = open.findIndex((call) => call.id === id)
  const place = named === -1 ? open.findIndex((call) => call.id === null || id === '') : named
  if (place !== -1) open.splice(place, 1)
  return place !== -1
}

function withLeadingSystem(messages: readonly RawMessage[]): RawMessage[] {
  const leading = messages.slice(0, systemCountOf(messages))
  const rest = messages
    .slice(leading.length)
    .map((raw) => (isSystem(raw) ? madeUser(textsOf(raw.message['content']).join('\n')) : raw))
  if (leading.length < 2) return [...leading, ...rest]
  const text = leading.flatMap((raw) => textsOf(raw.message['content'])).join('\n\n')
  return [made({ role: 'system', content: text }), ...rest]
}

/** User messages that meet become one; where a turn is missing between tool rounds, a word takes it. */
function alternating(messages: readonly RawMessage[]): RawMessage[] {
  const placed: RawMessage[] = []
  let turn: 'none' | 'user' | 'assistant' = 'none'
  for (const raw of messages) {
    const previous = placed.at(-1)
    const isUser = roleOf(raw) === 'user'
    if (isUser && previous !== undefined && roleOf(previous) === 'user') {
      placed[placed.length - 1] = joined(previous, raw)
      continue
    }
    if (turn === 'none' && !isUser && !isSystem(raw)) {
      placed.push(madeUser('Begin.'))
      turn = 'user'
    }
    if (isUser) {
      if (turn === 'user') placed.push(made({ role: 'assistant', content: 'Noted.' }))
      turn = 'user'
    } else if (isPlainAssistant(raw)) {
      if (turn === 'assistant') placed.push(madeUser('Continue.'))
      turn = 'assistant'
    }
    placed.push(raw)
  }
  return placed
}

function joined(one: RawMessage, other: RawMessage): RawMessage {
  const contents = [one.message['content'], other.message['content']]
  const isText = contents.every((content) => typeof content === 'string')
  return made({ ...one.message, content: isText ? contents.join('\n\n') : contents.flatMap(partsOf) })
}

const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : [{ type: 'text', text: textOf(content) }]
