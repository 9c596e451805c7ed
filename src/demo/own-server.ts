import {
  ChatError,
  type ChatAnswer,
  type ChatClient,
  type ChatMessage,
  type ChatRequest,
  type ChatTarget,
} from './chat-client.ts'
import { grouped, percent, type Drawing } from './drawing.ts'
import { facts, type Fact } from './facts.ts'
import { addRequest, openTally, weightedTokens, type Tally } from './tally.ts'
import { firstArgument, runTool, tools } from './tools.ts'

/** A server of the user's own, and what is asked of it. */
export type OwnServer = {
  readonly url: string
  readonly model: string
  readonly apiKey: string
  /** Default: what Foldgate says it is, else 8,192. */
  readonly windowTokens?: number
}

/**
 * Tells a model of the user's own four facts, fills the conversation with tool output until it is well past the
 * window, asks for the facts, and compares with the last question sent directly. A server that has no tools, or
 * that refuses `stream_options`, is asked without.
 */
export async function runOwnServer(
  server: OwnServer,
  foldgateUrl: string,
  drawing: Drawing,
  clientFor: (target: ChatTarget) => ChatClient,
): Promise<{ failed: number }> {
  const { apiKey, model } = server
  const through = clientFor({ url: foldgateUrl, apiKey })
  const run = openRun(through, model, drawing, server.windowTokens ?? null)
  drawing.text(`A conversation with ${model}, through Foldgate. The client is ${through.name}.`)
  drawing.text(`At most ${REQUESTS_MAX} requests, until it is ${OVERFILL} times as long as the window.`)
  drawing.line()
  drawing.heading()

  // The first message of a user is the task, which Foldgate keeps as it is: the facts come after it.
  await run.ask('We read the logs of a settlement service together. Answer with the one word "ready".')
  for (const fact of facts) await run.ask(`Take note, and answer with the one word "noted": ${fact.told}`)
  for (let batch = 1; run.canFill(); batch += 1) {
    // The first pieces are small: the window may turn out to be far smaller than it was taken for.
    const size = Math.min(run.pieceSize(), 2 ** (batch - 1))
    await run.ask(fillingQuestion(batch, size))
  }
  const filled = run.request()
  const kept: Fact[] = []
  for (const fact of facts) {
    const answer = await run.ask(`${fact.question} Answer with it alone.`)
    if (isFactIn(answer, fact)) kept.push(fact)
  }

  const windowTokens = run.windowTokens()
  drawing.line()
  drawing.section('Through Foldgate', totals(run.tally, windowTokens, kept))
  drawing.line()
  const direct = clientFor({ url: server.url, apiKey })
  drawing.section('Without Foldgate', await askDirectly(direct, filled, run.tally, windowTokens))
  return { failed: run.tally.failed }
}

// --- internal ---

// A bound on what a run can cost.
const REQUESTS_MAX = 40
const WINDOW_TOKENS_DEFAULT = 8192
// How long the conversation gets, as a multiple of the window, before the facts are asked for.
const OVERFILL = 1.5
// Requests over which the filling is spread.
const FILLING_REQUESTS = 16
// A piece of log that `runTool` makes at size 1 is about this long.
const PIECE_TOKENS = 600
// A model that goes on calling tools is answered by the user's next message.
const TOOL_ROUNDS_MAX = 2
const FAILURES_IN_A_ROW_MAX = 3

function fillingQuestion(batch: number, size: number): string {
  const file = `logs/worker-${batch}.log`
  if (batch % 4 === 0) return `Read ${file} with read_file, and say in one short sentence what it is about.`
  const log = runTool('read_file', file, size)
  return `Here is part ${batch} of the log. Say in one short sentence what it is about.\n\n${log}`
}

function openRun(client: ChatClient, model: string, drawing: Drawing, givenWindowTokens: number | null) {
  const tally = openTally()
  const messages: ChatMessage[] = [{ role: 'system', content: 'You answer briefly and from memory.' }]
  let windowTokens = givenWindowTokens ?? WINDOW_TOKENS_DEFAULT
  let hasTools = true
  let usageAsked = true
  let failuresInARow = 0
  let turn = 0

  const isGoingOn = () => failuresInARow < FAILURES_IN_A_ROW_MAX && tally.requests < REQUESTS_MAX
  const pieceSize = () => (OVERFILL * windowTokens) / FILLING_REQUESTS / PIECE_TOKENS
  const request = (): ChatRequest => ({
    model,
    messages: [...messages],
    usageAsked,
    ...(hasTools && { tools }),
  })

  /** Sends what was said so far; again without a field that the server objects to. */
  async function send(): Promise<ChatAnswer | ChatError> {
    for (;;) {
      try {
        return await client.send(request())
      } catch (error) {
        if (!(error instanceof ChatError)) throw error
        const isObjection = error.status === 400 || error.status === 404 || error.status === 422
        if (isObjection && usageAsked && /stream_options|include_usage/.test(error.message))
          usageAsked = false
        else if (isObjection && hasTools && turn === 1 && /\btools?\b/i.test(error.message)) hasTools = false
        else return error
      }
    }
  }

  async function sendAndDraw(): Promise<ChatAnswer | null> {
    const outcome = await send()
    const figures = addRequest(tally, outcome instanceof ChatError ? null : outcome, null)
    if (outcome instanceof ChatError || figures === null) {
      failuresInARow += 1
      drawing.failure(turn, tally.requests, outcome instanceof ChatError ? outcome.message : '')
      return null
    }
    failuresInARow = 0
    windowTokens = givenWindowTokens ?? figures.treatment.windowTokens ?? windowTokens
    drawing.request(turn, tally.requests, windowTokens, figures)
    return outcome
  }

  return {
    tally,
    windowTokens: () => windowTokens,
    pieceSize,
    request,
    /** Whether there is room for another piece before the facts have to be asked for. */
    canFill: () =>
      isGoingOn() &&
      tally.largestConversationTokens <= OVERFILL * windowTokens &&
      tally.requests < REQUESTS_MAX - (TOOL_ROUNDS_MAX + 1) * (facts.length + 1),

    /** Says something and sees it through, tool calls included. The text of the last answer, '' where none came. */
    async ask(text: string): Promise<string> {
      if (!isGoingOn()) return ''
      turn += 1
      messages.push({ role: 'user', content: text })
      for (let round = 0; round <= TOOL_ROUNDS_MAX && isGoingOn(); round += 1) {
        const answer = await sendAndDraw()
        if (answer === null) break
        messages.push(answer.message)
        const calls = answer.message.tool_calls ?? []
        if (calls.length === 0) return answer.message.content ?? ''
        for (const call of calls) {
          const content = runTool(call.function.name, firstArgument(call.function.arguments), pieceSize())
          messages.push({ role: 'tool', tool_call_id: call.id, content })
        }
      }
      // What the user says next must not follow at once: some templates refuse two users in a row.
      messages.push({ role: 'assistant', content: '(no answer)' })
      return ''
    },
  }
}

function isFactIn(answer: string, fact: Fact): boolean {
  return answer.includes(fact.value)
}

function totals(tally: Tally, windowTokens: number, kept: readonly Fact[]): readonly string[] {
  const lost = facts.filter((fact) => !kept.includes(fact))
  return [
    `${tally.requests - tally.failed} of ${tally.requests} requests answered.`,
    `Facts kept: ${namesOf(kept)}; lost: ${namesOf(lost)}.`,
    `The conversation grew to ${grouped(tally.largestConversationTokens)} tokens; the window is ${grouped(windowTokens)}; the largest prompt sent had ${grouped(tally.largestSentTokens)}.`,
    `${grouped(tally.sentTokens)} prompt tokens sent, ${percent(tally.cachedTokens / Math.max(1, tally.sentTokens))} of them from the prompt cache: as dear as ${grouped(weightedTokens(tally))} with cached tokens at a tenth.`,
  ]
}

async function askDirectly(
  client: ChatClient,
  filled: ChatRequest,
  tally: Tally,
  windowTokens: number,
): Promise<readonly string[]> {
  const cost = `The same requests without Foldgate would have been ${grouped(tally.conversationTokens)} prompt tokens.`
  const question = `Answer all of these at once. ${facts.map((fact) => fact.question).join(' ')}`
  try {
    const answer = await client.send({
      ...filled,
      messages: [...filled.messages, { role: 'user', content: question }],
    })
    const kept = facts.filter((fact) => isFactIn(answer.message.content ?? '', fact))
    const seenTokens = answer.usage?.promptTokens ?? Infinity
    const isCutShort = seenTokens < windowTokens && tally.largestConversationTokens > windowTokens
    return [
      `The whole conversation and one question for all facts, sent directly, was answered; kept: ${namesOf(kept)}.`,
      ...(isCutShort
        ? [`The server read ${grouped(seenTokens)} tokens of it: it dropped the rest unsaid.`]
        : []),
      cost,
    ]
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    return ['The whole conversation, sent directly, was refused:', error.message, cost]
  }
}

function namesOf(list: readonly Fact[]): string {
  return list.map((fact) => fact.name).join(', ') || 'none'
}
