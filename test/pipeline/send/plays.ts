import { beforeAll } from 'vitest'
import type { Profile } from '../../../src/profiles/schema.ts'
import { profilesOf } from '../../support/profiles.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion, json, type ReceivedRequest, type Script } from '../../support/fake-upstream.ts'
import { postChat, rawMessages, type ChatReply } from '../../support/post-chat.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { parseObject, textOf } from '../../support/strict-upstream/wire-message.ts'

/** What one test does behind the Foldgate of its file: under a model of its own, with a script and a profile for that. */
export type Play = {
  readonly url: string
  readonly upstream: { readonly requests: readonly ReceivedRequest[] }
  readonly bodies: () => readonly string[]
  /** A body as it is sent: what says `test-model` says the model of this play, and another model is another of its own. */
  readonly spelt: (body: object | string) => string
  readonly post: (body: object | string, headers?: Readonly<Record<string, string>>) => Promise<ChatReply>
}

export const smallWindow = { window: { tokens: 4_096, output_reserve: 512 } }

/** Two users in a row once the rounds between them are folded: what strict templates refuse. */
export const twoWishes: readonly TestMessage[] = [
  ...longRun(16, 4, 0.5),
  { role: 'assistant', content: 'Repaired.' },
  { role: 'user', content: 'Now write the "changelog", please.' },
]

/** The words of such a template. */
export const alternation = json(
  { error: { message: 'Conversation roles must alternate user/assistant/user/assistant/...' } },
  400,
)

export const rolesOf = (request: ReceivedRequest | undefined): readonly string[] =>
  rawMessages(request).map((text) => textOf(parseObject(text)?.['role']))

/** Refuses every request in which user follows user. */
export const strictTemplate =
  (refusal = alternation, good = completion('fine')): Script =>
  (received) => {
    const roles = rolesOf(received)
    return roles.some((role, at) => role === 'user' && roles[at - 1] === 'user') ? refusal : good
  }

export const cut: Script = (_received, outgoing) => void outgoing.destroy()

/** One Foldgate before one upstream for all tests of a file. What is learnt, and what is on record, is kept by model. */
export function openPlays(
  standardProfile: object = {},
  settings: object = {},
): (script: Script | readonly Script[], profile?: object) => Play {
  let profiles: ReadonlyMap<string, Profile> = profilesOf({ default: {} })
  const scripts = new Map<string, readonly Script[]>()
  const received = new Map<string, ReceivedRequest[]>()
  let stand: Stand

  const dispatch: Script = (request) => {
    const [, model = ''] = /"model"\s*:\s*"(play-\d+)/.exec(request.body.toString('latin1')) ?? []
    const [own = [], requests = []] = [scripts.get(model), received.get(model)]
    requests.push(request)
    return own[Math.min(requests.length, own.length) - 1] ?? json({ error: 'of no play' }, 418)
  }

  beforeAll(async () => {
    stand = await standWith(dispatch, { profiles: () => profiles, settings })
    return () => stand[Symbol.asyncDispose]()
  })

  return function play(script, profile = standardProfile) {
    const model = `play-${scripts.size}`
    const requests: ReceivedRequest[] = []
    scripts.set(model, typeof script === 'function' ? [script] : script)
    received.set(model, requests)
    const own = { [model]: { models: [model, `${model}-*`], ...profile } }
    profiles = new Map([...profiles, ...profilesOf(own)])
    const spelt = (body: object | string): string => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return text.replace('"test-model"', `"${model}"`).replace(/"model":"(?!play-)/, `"model":"${model}-`)
    }
    return {
      url: stand.url,
      upstream: { requests },
      bodies: () => requests.map(({ body }) => body.toString()),
      spelt,
      post: (body, headers) => postChat(stand.url, spelt(body), headers),
    }
  }
}
