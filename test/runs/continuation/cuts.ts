import { lastWordsOf, continuationSeam } from '../../../src/request/reply/seams.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { readAsClient, type Client } from '../../dialects/chat-completions/reply/streamed.ts'

/** What is compared of a reply: what the client shows and does. */
export type Whole = Pick<Client, 'text' | 'calls'> & { readonly reason: string }

/** A recorded answer that was cut, what follows when the model is asked to go on, and what both together are. */
export type CutAnswer = {
  readonly first: readonly string[]
  readonly second: readonly string[]
  readonly whole: Whole
}

/** The reply that a stream of events amounts to. */
export function wholeOf(events: readonly string[]): Whole {
  const { text, calls, reasons } = readAsClient(events)
  return { text, calls, reason: reasons.join() }
}

/** The events of a recorded stream, but for its last word. */
export function eventsIn(response: string): readonly string[] {
  return response.split(/(?<=\n\n)/).filter((event) => event.startsWith('data: {'))
}

/**
 * A recorded answer cut before event `at`, as the output limit cuts: what is left of it ends with `length`. Asked to go
 * on, the model writes the rest of a text; a call that was cut it makes once more. Where others were complete before it,
 * they are the reply.
 */
export function cutAnswer(events: readonly string[], at: number): CutAnswer {
  const first = [...events.slice(0, at), ending(events[0] ?? '')]
  const cut = wholeOf(first)
  const firstCall = events.findIndex((event) => callsIn(event).length > 0)
  const isInCall = firstCall !== -1 && at > firstCall
  const whole = wholeOf(events)
  const complete = cut.calls.filter(({ arguments: text }) => isComplete(text))
  if (isInCall && complete.length > 0) {
    const reason = complete.length === cut.calls.length ? 'length' : 'tool_calls'
    return { first, second: [], whole: { text: whole.text, calls: complete, reason } }
  }
  return { first, second: events.slice(isInCall ? firstCall : at), whole }
}

/** Where a recorded answer can be cut so that something was said before. */
export function cutsOf(events: readonly string[]): readonly number[] {
  return events.flatMap((_, at) => {
    const { text, calls } = wholeOf(events.slice(0, at))
    return at < events.length - 1 && (text.trim() !== '' || calls.length > 0) ? [at] : []
  })
}

/** A stream's events as one plain answer. */
export function plainOf(events: readonly string[]): object {
  const { text, calls, reason } = wholeOf(events)
  const toolCalls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
  return {
    id: 'plain',
    object: 'chat.completion',
    created: 1,
    choices: [{ index: 0, message, finish_reason: reason }],
  }
}

/** How cut texts came out. */
type TextTally = {
  readonly cuts: number
  readonly exact: number
  readonly anchored: number
  readonly exactAnchored: number
}

/**
 * A text cut at every place: joined with its rest, and, where the model was asked to begin with the last words, with
 * these and its rest.
 */
export function tallyText(whole: string): TextTally {
  let [exact, anchored, exactAnchored] = [0, 0, 0]
  for (let at = 1; at < whole.length; at += 1) {
    const before = whole.slice(0, at)
    const rest = whole.slice(at)
    const anchor = before.trim() === '' ? '' : lastWordsOf(before)
    if (joined(before, anchor, rest) === whole) exact += 1
    if (anchor === '') continue
    anchored += 1
    const blanks = before.slice(before.trimEnd().length)
    if (joined(before, anchor, anchor + blanks + rest) === whole) exactAnchored += 1
  }
  return { cuts: Math.max(0, whole.length - 1), exact, anchored, exactAnchored }
}

// --- internal ---

function ending(event: string): string {
  const chunk: unknown = JSON.parse(event.slice('data: '.length))
  const choices = [{ index: 0, delta: {}, finish_reason: 'length' }]
  return `data: ${JSON.stringify({ ...(isObject(chunk) ? chunk : {}), choices })}\n\n`
}

function callsIn(event: string): readonly unknown[] {
  const chunk: unknown = JSON.parse(event.slice('data: '.length))
  const choices = isObject(chunk) && Array.isArray(chunk['choices']) ? chunk['choices'] : []
  const [choice]: unknown[] = choices
  const delta = isObject(choice) && isObject(choice['delta']) ? choice['delta'] : {}
  return Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
}

function isComplete(argumentsText: string): boolean {
  try {
    return isObject(JSON.parse(argumentsText))
  } catch {
    return false
  }
}

function joined(before: string, anchor: string, answer: string): string {
  const seam = continuationSeam(before, anchor)
  return before + seam.feed(answer) + seam.end()
}
