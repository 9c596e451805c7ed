import { ChatError, openChatClient, type ChatClient, type ChatTarget } from './chat-client.ts'
import { scriptedConversation, type ScriptedConversation } from './conversation.ts'
import { startDemoUpstream } from './demo-upstream.ts'
import { openDrawing, type Drawing, type Output } from './drawing.ts'
import { facts } from './facts.ts'
import { holdConversation, replyFromScript } from './hold.ts'
import { grouped } from '../log/grouped.ts'
import { runOwnServer, type OwnServer } from './own-server.ts'
import { costText, openTally, type Tally } from './tally.ts'
import { wires, type DialectName } from './wires.ts'

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
