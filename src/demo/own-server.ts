import { type ChatClient, ChatError, type ChatTarget } from './chat-client.ts'
import type { ChatMessage } from './wire.ts'
import { costText, type Drawing, openTally } from './drawing.ts'
import { type Fact, facts } from './conversation.ts'
import { grouped } from '../log/grouped.ts'
import { runTool } from './tools.ts'

/** A server of the user's own, and what is asked of it. */
export type OwnServer = ChatTarget & { readonly model: string }

/**
 * Tells a model of the user's own four facts, fills the conversation with lines of a log until it is well past the
 * window, asks for the facts, and compares with the last question sent directly.
 */
export async function runOwnServer(
  server: OwnServer,
  foldgateUrl: string,
  drawing: Drawing,
  clientFor: (target: ChatTarget) => ChatClient,
): Promise<{ failed: number }> {
  const { model, apiKey } = server
  const through = clientFor({ url: foldgateUrl, apiKey })
  const messages: ChatMessage[] = [{ role: 'system', content: 'You answer briefly and from memory.' }]
  const tally = openTally(WINDOW_TOKENS_DEFAULT)
  const isGoingOn = () => tally.failedInARow < FAILURES_IN_A_ROW_MAX && tally.requests < REQUESTS_MAX

  /** The text of the answer; '' if there is none. */
  async function ask(question: string): Promise<string> {
    if (!isGoingOn()) return ''
    messages.push({ role: 'user', content: question })
    const answer = await through({ model, messages })
    drawing.request(tally, tally.requests + 1, answer)
    const text = answer instanceof ChatError ? '' : (answer.message.content ?? '')
    // What the user says next must not follow at once: some templates refuse two users in a row.
    messages.push({ role: 'assistant', content: text === '' ? '(no answer)' : text })
    return text
  }

  drawing.text(`A conversation with ${model}, through Foldgate.`)
  drawing.text(`At most ${REQUESTS_MAX} requests, until it is ${OVERFILL} times as long as the window.`)
  drawing.line()
  drawing.heading()
  // The first message of a user is the task, which Foldgate keeps as it is: the facts come after it.
  await ask('We read the logs of a settlement service together. Answer with the one word "ready".')
  for (const { told } of facts) await ask(`Take note, and answer with the one word "noted": ${told}`)
  const isFilled = () =>
    tally.largestConversationTokens > OVERFILL * tally.windowTokens ||
    tally.requests >= REQUESTS_MAX - facts.length
  for (let part = 1; isGoingOn() && !isFilled(); part += 1) {
    // The first parts are small: the window may turn out to be far smaller than it was taken for.
    const size = Math.min((OVERFILL * tally.windowTokens) / FILLING_REQUESTS / PART_TOKENS, 2 ** (part - 1))
    const log = runTool('read_file', `logs/worker-${part}.log`, size)
    await ask(`Here is part ${part} of the log. Say in one short sentence what it is about.\n\n${log}`)
  }
  const filled = [...messages]
  const kept: Fact[] = []
  for (const fact of facts) {
    if ((await ask(`${fact.question} Answer with it alone.`)).includes(fact.value)) kept.push(fact)
  }

  drawing.line()
  drawing.section('Through Foldgate', [
    `${tally.requests - tally.failed} of ${tally.requests} requests answered.`,
    `Facts kept: ${namesOf(kept)}; lost: ${namesOf(facts.filter((fact) => !kept.includes(fact)))}.`,
    `The conversation grew to ${grouped(tally.largestConversationTokens)} tokens; the window is ${grouped(tally.windowTokens)}; the largest prompt sent had ${grouped(tally.largestSentTokens)}.`,
    `${grouped(tally.sentTokens)} prompt tokens sent, ${costText(tally)}`,
  ])
  drawing.line()
  const question = `Answer all of these at once. ${facts.map((fact) => fact.question).join(' ')}`
  const answer = await clientFor(server)({
    model,
    messages: [...filled, { role: 'user', content: question }],
  })
  const cost = `The same requests without Foldgate would have been ${grouped(tally.conversationTokens)} prompt tokens.`
  if (answer instanceof ChatError) {
    drawing.section('Without Foldgate', [
      'The whole conversation, sent directly, was refused:',
      answer.message,
      cost,
    ])
    return tally
  }
  const text = answer.message.content ?? ''
  const seenTokens = answer.usage?.promptTokens ?? Infinity
  const isCutShort = seenTokens < tally.windowTokens && tally.largestConversationTokens > tally.windowTokens
  drawing.section('Without Foldgate', [
    `The whole conversation and one question for all facts, sent directly, was answered; kept: ${namesOf(facts.filter(({ value }) => text.includes(value)))}.`,
    ...(isCutShort
      ? [`The server read ${grouped(seenTokens)} tokens of it: it dropped the rest unsaid.`]
      : []),
    cost,
  ])
  return tally
}

// --- internal ---

// A bound on what a run can cost.
const REQUESTS_MAX = 40
const FAILURES_IN_A_ROW_MAX = 3
const WINDOW_TOKENS_DEFAULT = 8192
// How long the conversation gets, as a multiple of the window, before the facts are asked for.
const OVERFILL = 1.5
// Requests over which the filling is spread.
const FILLING_REQUESTS = 16
// A log that `runTool` makes at size 1 is about this long.
const PART_TOKENS = 600

function namesOf(list: readonly Fact[]): string {
  return list.map((fact) => fact.name).join(', ') || 'none'
}
