import { type ChatClient, ChatError, type ChatTarget, openChatClient } from './http-client.ts'
import { type Fact, facts, scriptedConversation, type ScriptedConversation } from './conversation.ts'
import { type DemoUpstreamOptions, startDemoUpstream } from './demo-upstream.ts'
import { costText, type Drawing, openDrawing, openTally, type Output, type Tally } from './demo-drawing.ts'
import { grouped } from '../../telemetry/log/lines.ts'
import type { ChatMessage, SpokenDialect } from './client-wire.ts'
import { runTool } from './tools.ts'

export type DemoOptions = Output & {
  /** Starts Foldgate in front of an upstream. `windowTokens` is null where it has to find out by itself. */
  readonly startFoldgate: (upstream: {
    readonly url: string
    readonly windowTokens: number | null
  }) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>
  /** Counts tokens, for the demo's own upstream. */
  readonly count: (text: string) => number
  /** The user's own server. Without it the demo brings one along and needs no network. */
  readonly upstream?: OwnServer
  /** The dialect in which the conversation is held. */
  readonly spoken: SpokenDialect
  /** How clients are made; tests replace it. */
  readonly clients?: (target: ChatTarget) => ChatClient
}

/**
 * Shows what Foldgate does: a long conversation of an agent with tools is held through it and drawn as it goes,
 * then the same one without it. `failed` counts the requests through Foldgate that were not answered.
 */
export async function runDemo(options: DemoOptions): Promise<{ failed: number }> {
  const { startFoldgate, count, upstream: own, spoken } = options
  const { clients = (target: ChatTarget) => openChatClient(target, spoken) } = options
  const drawing = openDrawing(options)
  if (own !== undefined) {
    const foldgate = await startFoldgate({ url: own.url, windowTokens: null })
    return runOwnServer(own, foldgate.url, drawing, clients).finally(foldgate.close)
  }
  const conversation = scriptedConversation()
  const reply = replyFromScript(conversation)
  const upstream = await startDemoUpstream({ spoken, windowTokens: WINDOW_TOKENS, count, reply })
  try {
    const foldgate = await startFoldgate({ url: upstream.url, windowTokens: WINDOW_TOKENS })
    try {
      return await compare(drawing, conversation, {
        through: clients({ url: foldgate.url, apiKey: 'demo-through-foldgate' }),
        direct: clients({ url: upstream.url, apiKey: 'demo-without-foldgate' }),
      })
    } finally {
      await foldgate.close()
    }
  } finally {
    await upstream.close()
  }
}

// --- internal ---

// Small enough that the conversation outgrows it several times.
const WINDOW_TOKENS = 8192
const MODEL = 'demo-model'
// After so many failures in a row the rest would tell nothing more.
const FAILURES_IN_A_ROW_MAX = 3

async function compare(
  drawing: Drawing,
  conversation: ScriptedConversation,
  { through, direct }: { readonly through: ChatClient; readonly direct: ChatClient },
): Promise<{ failed: number }> {
  const requests = conversation.steps.length
  drawing.text(
    `An agent with tools holds a conversation of ${requests} requests with a server whose window is ${grouped(WINDOW_TOKENS)} tokens.`,
  )
  drawing.text('Nothing leaves this machine.')
  drawing.line()
  drawing.heading()
  const tally = openTally(WINDOW_TOKENS)
  for await (const { step, answer, isFactKept } of holdConversation(through, conversation, MODEL)) {
    drawing.request(tally, step.turn, answer)
    if (isFactKept === true) tally.factsKept += 1
    if (tally.failedInARow >= FAILURES_IN_A_ROW_MAX) break
  }
  drawing.line()
  drawing.section('Through Foldgate', totals(tally, requests))
  drawing.line()
  drawing.section('Without Foldgate', await withoutFoldgate(direct, conversation))
  return { failed: tally.failed + (requests - tally.requests) }
}

function totals(tally: Tally, requests: number): readonly string[] {
  const grown = tally.largestConversationTokens / WINDOW_TOKENS
  return [
    `${tally.requests - tally.failed} of ${requests} requests answered, ${tally.factsKept} of ${facts.length} early facts given back late.`,
    `The conversation grew to ${grouped(tally.largestConversationTokens)} tokens, ${grown.toFixed(1)} times the window; the largest prompt sent had ${grouped(tally.largestSentTokens)}.`,
    `${grouped(tally.conversationTokens)} prompt tokens came in, ${grouped(tally.sentTokens)} were sent, ${costText(tally)}`,
    `Compacted ${tally.compactions} times (◂)${tally.recovered > 0 ? `, recovered from ${tally.recovered} refusals` : ''}.`,
  ]
}

async function withoutFoldgate(
  client: ChatClient,
  conversation: ScriptedConversation,
): Promise<readonly string[]> {
  const requests = conversation.steps.length
  let answered = 0
  let factsKept = 0
  for await (const { step, answer, isFactKept } of holdConversation(client, conversation, MODEL)) {
    if (answer instanceof ChatError) {
      return [
        `The same conversation ended at request ${answered + 1} of ${requests}, in turn ${step.turn}:`,
        answer.message,
        `${requests - answered} requests were never answered, ${factsKept} of ${facts.length} early facts given back.`,
      ]
    }
    answered += 1
    if (isFactKept === true) factsKept += 1
  }
  return [`All ${requests} requests were answered as well: the window was never reached.`]
}

/**
 * Holds the scripted conversation through a client, one request after the other, each with everything that was
 * said before. After a request that failed it goes on with the reply that was in the script.
 */
async function* holdConversation(
  send: ChatClient,
  { system, tools, steps }: ScriptedConversation,
  model: string,
) {
  const messages: ChatMessage[] = [{ role: 'system', content: system }]
  for (const [index, step] of steps.entries()) {
    if (step.user !== null) messages.push({ role: 'user', content: step.user })
    const metadata = { step: String(index) }
    const answer = await send({ model, messages, tools, metadata, max_tokens: OUTPUT_TOKENS })
    const message = answer instanceof ChatError ? step.reply : answer.message
    messages.push(message)
    for (const { id } of message.tool_calls ?? []) {
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: step.results.get(id) ?? 'There is no such call.',
      })
    }
    // Whether the answer holds the fact that was asked for; null if none was.
    const isFactKept = step.asks === null ? null : (message.content ?? '').includes(step.asks.value)
    yield { step, answer, isFactKept }
  }
}

/**
 * The part of the model: replies with what the script has for the step that the request names. Asked for a fact it
 * gives it back only if the prompt that reached it still holds it.
 */
function replyFromScript({ steps }: ScriptedConversation): DemoUpstreamOptions['reply'] {
  return function reply(index, prompt) {
    const step = steps[Number(index)]
    if (step === undefined) return { role: 'assistant', content: 'I have nothing to say to that.' }
    if (step.asks === null) return step.reply
    const isKnown = prompt.includes(step.asks.value)
    const ending = isKnown ? step.asks.value : 'I cannot find it any more.'
    return { role: 'assistant', content: `${step.reply.content} ${ending}` }
  }
}

// Longer than any reply of the script, so that most of the window is left to the prompt.
const OUTPUT_TOKENS = 512

/** A server of the user's own, and what is asked of it. */
type OwnServer = ChatTarget & { readonly model: string }

/**
 * Tells a model of the user's own four facts, fills the conversation with lines of a log until it is well past the
 * window, asks for the facts, and compares with the last question sent directly.
 */
async function runOwnServer(
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

// A bound on what a run can cost.
const REQUESTS_MAX = 40
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
