import { hash } from 'node:crypto'
import { cheapUpstream, withCheapSummaries, startSummaryModel } from '../../support/summary-model.ts'
import { openJudge } from '../../support/strict-upstream/judgement.ts'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { openPromptCounter, REPLY_TOKENS } from '../../support/strict-upstream/prompt-tokens.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { messagesOf, textsBefore, toolsIn, type RawMessage, type Recording } from '../harness/recordings.ts'
import { openOllamaStage } from '../harness/ollama.ts'
import { openStage, refusedIn, type Exchange, type ReceivedRequest } from '../harness/stage.ts'
import { bodyOf, rulesFor } from '../harness/subject.ts'
import type { Tally } from './figures.ts'
import type { Policy, PolicyInput } from './policies.ts'
import { wantsSummaries } from './rows.ts'

/** What the upstream got for one request. */
export type Sent = {
  /** What it answered, or refused last; null where nothing reached it. */
  readonly received:
    | (Pick<ReceivedRequest, 'rawMessages' | 'promptTokens' | 'cachedTokens'> & {
        /** What it got in the Responses API, of which `rawMessages` are the reading. */
        readonly rawItems?: readonly string[]
      })
    | null
  /** What went wrong. */
  readonly faults: Partial<Tally>
  /** What Foldgate asked of a summary model since the request before. */
  readonly summaries?: Pick<Tally, 'summaryCalls' | 'summaryTokens'>
}

/** Makes the request of so many messages. */
export type Sender = {
  readonly send: (point: number) => Promise<Sent>
  readonly close: () => Promise<void>
}

export type Room = {
  readonly windowTokens: number
  /** What is left for the reply. */
  readonly reserveTokens: number
}

/** What a policy is given of a recording at each of its requests. */
export function openPolicyInput(
  recording: Recording,
  room: Room,
  count: (text: string) => number,
): (point: number) => PolicyInput {
  const counter = openPromptCounter(count)
  const aroundTokens = REPLY_TOKENS + counter.tools(hash('sha1', recording.tools), toolsIn(recording))
  const sizes = new Map<string, number>()
  const sizeOf = ({ text, message }: RawMessage) => {
    const known = sizes.get(text) ?? counter.message(hash('sha1', text), message)
    sizes.set(text, known)
    return known
  }
  const budgetTokens = room.windowTokens - room.reserveTokens - aroundTokens
  return (point) => ({ messages: recording.messages.slice(0, point), budgetTokens, sizeOf })
}

/** A client that compacts by itself: its bodies go to the judge that stands in the upstream, without a window. */
export function openPolicySender(
  policy: Policy,
  recording: Recording,
  inputAt: (point: number) => PolicyInput,
  count: (text: string) => number,
): Sender {
  const judge = openJudge({
    windowTokens: Number.POSITIVE_INFINITY,
    template: 'lenient',
    rules: 'unchecked',
    outputReserveChecked: false,
    count,
  })
  return {
    send: async (point) => {
      const texts = policy(inputAt(point)).map(({ text }) => text)
      const body = requestBody(recording, texts, 1)
      return { received: judge(body.toString('utf8'), 'client'), faults: {} }
    },
    close: async () => {},
  }
}

export type FoldgateSenderOptions = {
  readonly recording: Recording
  /** As its file would say it. */
  readonly profile: object
  readonly room: Room
  /** The upstream's. */
  readonly count: (text: string) => number
  /** `ollama`: the recording is one of its chats. Default: chat completions. */
  readonly dialect?: 'ollama'
}

/**
 * A Foldgate of its own before a recording upstream, which is asked for one conversation as an agent would. Where its
 * profile asks for summaries, a stand-in writes them, which is an upstream of its own: what the recording upstream gets
 * is the client's. An agent's next request comes after its tools have run; here it comes once nothing is asked of the
 * stand-in any more.
 */
export async function openFoldgateSender(options: FoldgateSenderOptions): Promise<Sender> {
  const { recording, profile, room, count, dialect } = options
  const all = messagesOf(recording.messages)
  const model = wantsSummaries(profile) ? await startSummaryModel() : null
  // A recording that is broken itself has to get through as well; what is sent is compared with it below.
  const asked = { rules: rulesFor(recording.messages), statesUsage: true, count }
  const stage =
    dialect === 'ollama'
      ? await openOllamaStage({ ...asked, profile, temperament: 'errors' })
      : await openStage({
          ...asked,
          profile: model === null ? profile : withCheapSummaries(withoutNoWriter(profile)),
          ...(model !== null && { upstreams: cheapUpstream(model) }),
          windowTokens: room.windowTokens,
        })
  return {
    send: async (point) => {
      const body = requestBody(recording, textsBefore(recording, point), room.reserveTokens)
      const exchange = await stage.ask(body, 'Bearer agent')
      await model?.quiet()
      const summaries = { summaryCalls: model?.calls.length ?? 0, summaryTokens: model?.promptTokens() ?? 0 }
      model?.forget()
      const received = exchange.received.at(-1) ?? null
      const came = ruleBreaks(all.slice(0, point), 'lenient').length
      const sent = received === null ? 0 : ruleBreaks(received.messages, 'lenient').length
      return { received, faults: faultsOf(exchange, sent > came), summaries }
    },
    close: async () => {
      await stage.close()
      await model?.close()
    },
  }
}

/** What went wrong with one request of Foldgate's. */
export const faultsOf = (
  exchange: Exchange<{ readonly rejected: unknown }>,
  isMoreBroken: boolean,
): Sent['faults'] => ({
  refused: refusedIn(exchange),
  errors: exchange.isReply ? 0 : 1,
  failedOpen: exchange.action.startsWith('failed-open') ? 1 : 0,
  broken: isMoreBroken ? 1 : 0,
})

/** A plain request of these messages with the recording's tools, which asks for so many tokens at most. */
function requestBody(recording: Recording, texts: readonly string[], outputTokens: number): Buffer {
  const before = withoutOwn(recording.before)
  return bodyOf({ ...recording, before }, texts, { outputTokens })
}

/** A resolved profile says that nobody writes its summaries: then the stand-in does. */
function withoutNoWriter(profile: object): object {
  if (!('summary' in profile) || !isObject(profile.summary)) return profile
  const named = Object.entries(profile.summary).filter(
    ([key, value]) => value !== null || (key !== 'upstream' && key !== 'model'),
  )
  return { ...profile, summary: Object.fromEntries(named) }
}

/** A recorded request has tools and a limit of its own, and no member is to stand there twice. */
function withoutOwn(members: string): string {
  const body: unknown = JSON.parse(`{${members}}`)
  if (!isObject(body)) return members
  const { tools: _tools, max_tokens: _old, max_completion_tokens: _new, ...others } = body
  return JSON.stringify(others).slice(1, -1)
}
