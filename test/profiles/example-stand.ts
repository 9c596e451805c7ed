import { join } from 'node:path'
import { readProfileFiles } from '../../src/config/configuration.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { assistant, round, system, user } from '../compaction/sending.ts'
import { root } from '../docs/pages.ts'
import { exactUpstream } from '../support/exact-upstream.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { postChat, type ChatReply } from '../support/post-chat.ts'
import { openPromptCounter, REPLY_TOKENS } from '../support/strict-upstream/prompt-tokens.ts'
import { textsOf } from '../support/strict-upstream/wire-message.ts'
import { times } from '../support/times.ts'

export const builtInDirectory = join(root, 'profiles')
export const examplesDirectory = join(builtInDirectory, 'examples')

/** A message as the upstream received it. */
export type ReceivedMessage = {
  readonly role: unknown
  /** Its content, where that is a text. */
  readonly text: string
  /** Its bytes. */
  readonly raw: string
}

export type Received = {
  readonly messages: readonly ReceivedMessage[]
  readonly raw: readonly string[]
  readonly reply: ChatReply
  /** Which kinds of rewriting stand in it; empty for none. */
  readonly passes: readonly string[]
  /** Of the conversation before it was rewritten. */
  readonly incomingTokens: number
  readonly sentTokens: number
}

/**
 * Tells the client's requests from those that Foldgate may make of its own accord. A summary that is asked for of the
 * request's own model carries its other headers, and may be there before the client has read its answer.
 */
const CLIENT_HEADER = 'x-request-id'

/**
 * A Foldgate that reads the example profiles, before an upstream that refuses whatever is invalid or beyond its
 * window and reports what it counted. The model's tokens are counted exactly, so that figures are what they say.
 */
export async function exampleStand(profile: string, windowTokens: number) {
  let clients = 0
  const files = await readProfileFiles({
    builtInDirectory,
    directory: examplesDirectory,
    upstreams: new Set(),
  })
  const upstream = await exactUpstream(windowTokens)
  const foldgate = await startFoldgate({ upstream: upstream.url, profiles: files.profiles })

  /** By default of a client of its own, of whom nothing is known. */
  async function send(messages: readonly object[], client = (clients += 1)): Promise<Received> {
    const body = { model: 'gpt-4o', max_tokens: replyTokens(windowTokens), messages }
    const reply = await postChat(foldgate.url, body, {
      'x-foldgate-profile': profile,
      [CLIENT_HEADER]: 'yes',
      authorization: `Bearer client ${client}`,
    })
    const request = upstream.requests.findLast(({ headers }) => headers[CLIENT_HEADER] === 'yes')
    if (reply.status !== 200 || request === undefined) throw new Error(`${reply.status}: ${reply.text}`)
    const [incoming = '', sent = ''] = (reply.header('x-foldgate-tokens') ?? '').split(';sent=')
    return {
      messages: request.messages.map(({ role, content }, index) => ({
        role,
        text: textsOf(content).join('\n'),
        raw: request.rawMessages[index] ?? '',
      })),
      raw: request.rawMessages,
      reply,
      passes: (reply.header('x-foldgate-passes') ?? '').split(',').filter((pass) => pass !== ''),
      incomingTokens: Number(incoming),
      sentTokens: Number(sent),
    }
  }

  return {
    send,
    /** How many requests the upstream received that no client made. */
    summaryCalls: () => upstream.requests.filter(({ headers }) => headers[CLIENT_HEADER] !== 'yes').length,
    close: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}

export const rawOf = (messages: readonly object[]): readonly string[] =>
  messages.map((message) => JSON.stringify(message))

/** The messages that stand for folded ones: written by a model, or without one. */
export const standIns = ({ messages }: Received): readonly ReceivedMessage[] =>
  messages.filter(({ text }) => /^<conversation-(?:recap|summary)>/.test(text))

/** A text of so many tokens in o200k_base, some for the label among them; one word again and again is cheap to count. */
export const words = (label: string, tokens: number): string =>
  `${label}:${' word'.repeat(Math.max(0, tokens - LABEL_TOKENS))}`

/**
 * A system message and the task. The system message takes a small share of the window, as does the reply's limit: what
 * stands around a conversation is part of what thresholds are reckoned with.
 */
export const openingFor = (windowTokens: number): readonly object[] => [
  system(words('You repair programs', windowTokens * AROUND_SHARE)),
  user('Repair the nightly run of build 7c1f09ab.'),
]

/** The reply's limit, as small a share of the window. */
const replyTokens = (windowTokens: number): number => windowTokens * AROUND_SHARE

/** The assistant thinking aloud and the user answering, in messages of so many tokens, up to so many in all. */
export function talk(tokensMax: number, messageTokens: number): readonly object[] {
  const messages: object[] = []
  while ((messages.length + 2) * (messageTokens + MESSAGE_TOKENS) <= tokensMax) {
    const number = messages.length / 2
    messages.push(assistant(words(`thought ${number}`, messageTokens)))
    messages.push(user(words(`remark ${number}`, messageTokens)))
  }
  return messages
}

/** Tool rounds with results of so many tokens, up to so many in all. */
export function work(tokensMax: number, resultTokens: number, toolOf: (round: number) => string = readFile) {
  const messages: object[] = []
  while ((messages.length / 2 + 1) * (resultTokens + ROUND_TOKENS) <= tokensMax) {
    const number = messages.length / 2
    const text = words(`result ${number}`, resultTokens)
    messages.push(...round(`call_${number}`, text, toolOf(number)))
  }
  return messages
}

/** One round whose results have so many tokens together: a step from one request to the next. */
export function lastRound(tokens: number, results = 1): readonly object[] {
  const calls = times(results, (index) =>
    round(`call_last_${index}`, words(`last result ${index}`, Math.ceil(tokens / results))),
  )
  return joinedRounds(calls)
}

/** The conversation, and one round more with which it has so many tokens in all. */
export async function grownTo(
  tokens: number,
  conversation: readonly object[],
  results = 1,
): Promise<readonly object[]> {
  const missing = tokens - (await tokensOf(conversation)) - REPLY_TOKENS - results * ROUND_TOKENS
  return [...conversation, ...lastRound(missing, results)]
}

/**
 * The same to a share of what is not fixed: of what system message, task and latest user message leave of the
 * window less the reply.
 */
export async function grownToShare(
  share: number,
  windowTokens: number,
  conversation: readonly object[],
): Promise<readonly object[]> {
  const users = conversation.filter((message) => 'role' in message && message.role === 'user')
  const pinned = new Set([...conversation.slice(0, 2), ...users.slice(-1)])
  const fixedTokens = await tokensOf([...pinned])
  const budgetTokens = windowTokens - replyTokens(windowTokens)
  return grownTo(fixedTokens + share * (budgetTokens - fixedTokens), conversation)
}

/** What the system message takes of a window, and what a reply may. */
const AROUND_SHARE = 1 / 16

async function tokensOf(messages: readonly object[]): Promise<number> {
  const { count } = await loadCounter('o200k_base')
  const counter = openPromptCounter(count)
  return messages.reduce((sum, message) => sum + counter.message(JSON.stringify(message), message), 0)
}

/** What `words` begins with, about. */
const LABEL_TOKENS = 4

/** Role and framing of a message. */
const MESSAGE_TOKENS = 5

/** A call with its arguments, and the framing of both messages. */
const ROUND_TOKENS = 35

const readFile = (): string => 'read_file'

/** Rounds of one call each as one round that makes all of the calls. */
function joinedRounds(rounds: readonly (readonly object[])[]): readonly object[] {
  const asking = rounds.flatMap(([message]) => (message === undefined ? [] : [message]))
  const calls = asking.flatMap((message) => ('tool_calls' in message ? message.tool_calls : []))
  return [{ role: 'assistant', content: null, tool_calls: calls }, ...rounds.flatMap((each) => each.slice(1))]
}
