import { join } from 'node:path'
import { readProfileFiles } from '../../../src/config/profile-files.ts'
import { textsOf } from '../../support/strict-upstream/wire-message.ts'
import { root } from '../../docs/pages.ts'
import { postChat, type ChatReply } from '../../support/post-chat.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { replyTokens } from './example-conversation.ts'

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
  const files = await readProfileFiles({
    builtInDirectory,
    directory: examplesDirectory,
    upstreams: new Set(),
  })
  const upstream = await exactUpstream(windowTokens)
  const foldgate = await startFoldgate({ upstream: upstream.url, profiles: files.profiles })

  async function send(messages: readonly object[]): Promise<Received> {
    const body = { model: 'gpt-4o', max_tokens: replyTokens(windowTokens), messages }
    const reply = await postChat(foldgate.url, body, {
      'x-foldgate-profile': profile,
      [CLIENT_HEADER]: 'yes',
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
    [Symbol.asyncDispose]: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}

export function rawOf(messages: readonly object[]): readonly string[] {
  return messages.map((message) => JSON.stringify(message))
}

/** The messages that stand for folded ones: written by a model, or without one. */
export function standIns({ messages }: Received): readonly ReceivedMessage[] {
  return messages.filter(({ text }) => /^<conversation-(?:recap|summary)>/.test(text))
}
