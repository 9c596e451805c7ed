import type { ChatClient, ChatTarget } from './chat-client.ts'
import { openClients } from './clients.ts'
import { scriptedConversation } from './conversation.ts'
import { grouped, openDrawing, percent, type Drawing, type Terminal } from './drawing.ts'
import { facts } from './facts.ts'
import { holdConversation, replyFromScript } from './hold.ts'
import { runOwnServer, type OwnServer } from './own-server.ts'
import { startStrictUpstream } from './strict-upstream.ts'
import { addRequest, openTally, weightedTokens, type Tally } from './tally.ts'

export type DemoOptions = Terminal & {
  /** Starts Foldgate in front of an upstream. `windowTokens` is null where it has to find out by itself. */
  readonly startFoldgate: (upstream: {
    readonly url: string
    readonly windowTokens: number | null
  }) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>
  /** Counts tokens, for the embedded upstream. */
  readonly count: (text: string) => number
  /** The user's own server. Without it the demo brings one along and needs no network. */
  readonly upstream?: OwnServer
  /** How clients are made; tests replace it. */
  readonly clients?: (target: ChatTarget) => ChatClient
}

/**
 * Shows what Foldgate does: a long conversation of an agent with tools is held through it and drawn as it goes,
 * then the same one without it. `failed` counts the requests through Foldgate that were not answered.
 */
export async function runDemo(options: DemoOptions): Promise<{ failed: number }> {
  const clientFor = options.clients ?? (await openClients())
  const drawing = openDrawing(options)
  if (options.upstream === undefined) return runEmbedded(options, drawing, clientFor)
  const { url, windowTokens = null } = options.upstream
  const foldgate = await options.startFoldgate({ url, windowTokens })
  try {
    return await runOwnServer(options.upstream, foldgate.url, drawing, clientFor)
  } finally {
    await foldgate.close()
  }
}

// --- internal ---

// Small enough that the conversation outgrows it several times.
const WINDOW_TOKENS = 8192
const MODEL = 'strict-model'
// After so many failures in a row the rest would tell nothing more.
const FAILURES_IN_A_ROW_MAX = 3

async function runEmbedded(
  options: DemoOptions,
  drawing: Drawing,
  clientFor: (target: ChatTarget) => ChatClient,
): Promise<{ failed: number }> {
  const conversation = scriptedConversation()
  const upstream = await startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template: 'lenient',
    outputReserveChecked: true,
    count: options.count,
    reply: replyFromScript(conversation),
    record: false,
  })
  try {
    const foldgate = await options.startFoldgate({ url: upstream.url, windowTokens: WINDOW_TOKENS })
    try {
      const requests = conversation.steps.length
      const through = clientFor({ url: foldgate.url, apiKey: 'demo-through-foldgate' })
      drawing.text(
        `An agent with tools holds a conversation of ${requests} requests with a server whose window is ${grouped(WINDOW_TOKENS)} tokens.`,
      )
      drawing.text(`Nothing leaves this machine. The client is ${through.name}.`)
      drawing.line()
      const tally = await drawConversation(drawing, through, conversation)
      const direct = clientFor({ url: upstream.url, apiKey: 'demo-without-foldgate' })
      drawing.line()
      drawing.section('Through Foldgate', totals(tally, requests))
      drawing.line()
      drawing.section('Without Foldgate', await withoutFoldgate(direct, conversation))
      return { failed: tally.failed + (requests - tally.requests) }
    } finally {
      await foldgate.close()
    }
  } finally {
    await upstream.close()
  }
}

type Conversation = ReturnType<typeof scriptedConversation>

async function drawConversation(
  drawing: Drawing,
  client: ChatClient,
  conversation: Conversation,
): Promise<Tally> {
  const tally = openTally()
  let failuresInARow = 0
  drawing.heading()
  for await (const held of holdConversation(client, conversation, MODEL)) {
    const figures = addRequest(tally, held.answer, held.isFactKept)
    if (figures !== null) drawing.request(held.step.turn, tally.requests, WINDOW_TOKENS, figures)
    else drawing.failure(held.step.turn, tally.requests, held.error?.message ?? '')
    failuresInARow = figures === null ? failuresInARow + 1 : 0
    if (failuresInARow >= FAILURES_IN_A_ROW_MAX) break
  }
  return tally
}

function totals(tally: Tally, requests: number): readonly string[] {
  const grown = tally.largestConversationTokens / WINDOW_TOKENS
  return [
    `${tally.requests - tally.failed} of ${requests} requests answered, ${tally.factsKept} of ${facts.length} early facts given back late.`,
    `The conversation grew to ${grouped(tally.largestConversationTokens)} tokens, ${grown.toFixed(1)} times the window; the largest prompt sent had ${grouped(tally.largestSentTokens)}.`,
    `${grouped(tally.conversationTokens)} prompt tokens came in, ${grouped(tally.sentTokens)} were sent, ${percent(tally.cachedTokens / Math.max(1, tally.sentTokens))} of them from the prompt cache: as dear as ${grouped(weightedTokens(tally))} with cached tokens at a tenth.`,
    `Compacted ${tally.compactions} times (◂)${tally.recovered > 0 ? `, recovered from ${tally.recovered} refusals` : ''}.`,
  ]
}

async function withoutFoldgate(client: ChatClient, conversation: Conversation): Promise<readonly string[]> {
  const requests = conversation.steps.length
  const tally = openTally()
  for await (const held of holdConversation(client, conversation, MODEL)) {
    addRequest(tally, held.answer, held.isFactKept)
    if (held.error === null) continue
    return [
      `The same conversation ended at request ${tally.requests} of ${requests}, in turn ${held.step.turn}:`,
      held.error.message,
      `${requests - tally.requests + 1} requests were never answered, ${tally.factsKept} of ${facts.length} early facts given back.`,
    ]
  }
  return [`All ${requests} requests were answered as well: the window was never reached.`]
}
