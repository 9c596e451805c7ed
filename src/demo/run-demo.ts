import { type ChatClient, ChatError, type ChatTarget, openChatClient } from './chat-client.ts'
import { facts, scriptedConversation, type ScriptedConversation, type ScriptedStep } from './conversation.ts'
import { type DemoUpstreamOptions, startDemoUpstream } from './demo-upstream.ts'
import { costText, type Drawing, openDrawing, openTally, type Output, type Tally } from './drawing.ts'
import { grouped } from '../log/grouped.ts'
import { type OwnServer, runOwnServer } from './own-server.ts'
import { type DialectName, wires } from './wires.ts'
import type { ChatAnswer, ChatMessage } from './wire.ts'

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
  /** In which the conversation is held. Default: chat completions. */
  readonly dialect?: DialectName
  /** How clients are made; tests replace it. */
  readonly clients?: (target: ChatTarget) => ChatClient
}

/**
 * Shows what Foldgate does: a long conversation of an agent with tools is held through it and drawn as it goes,
 * then the same one without it. `failed` counts the requests through Foldgate that were not answered.
 */
export async function runDemo(options: DemoOptions): Promise<{ failed: number }> {
  const { startFoldgate, count, upstream: own, dialect = 'chat-completions' } = options
  const wire = wires[dialect]
  const { clients = (target: ChatTarget) => openChatClient(target, wire) } = options
  const drawing = openDrawing(options)
  if (own !== undefined) {
    const foldgate = await startFoldgate({ url: own.url, windowTokens: null })
    return runOwnServer(own, foldgate.url, drawing, clients).finally(foldgate.close)
  }
  const conversation = scriptedConversation()
  const reply = replyFromScript(conversation)
  const upstream = await startDemoUpstream({ wire, windowTokens: WINDOW_TOKENS, count, reply })
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

/** A request of the conversation as it went. */
type HeldRequest = {
  readonly step: ScriptedStep
  readonly answer: ChatAnswer | ChatError
  /** Whether the answer holds the fact that was asked for; null if none was. */
  readonly isFactKept: boolean | null
}

/**
 * Holds the scripted conversation through a client, one request after the other, each with everything that was
 * said before. After a request that failed it goes on with the reply that was in the script.
 */
async function* holdConversation(
  send: ChatClient,
  { system, tools, steps }: ScriptedConversation,
  model: string,
): AsyncGenerator<HeldRequest> {
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
