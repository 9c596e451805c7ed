import { extractiveSummary } from '../../support/extractive-summary.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { textsOf } from '../../support/strict-upstream/wire-message.ts'
import { sumOf, type Tally } from '../fidelity/figures.ts'
import { newestSuffix, type Policy } from '../fidelity/policies.ts'
import { openPolicyInput, type Room } from '../fidelity/senders.ts'
import { held, openReader, openSight, wantedOf } from '../fidelity/wanted.ts'
import { MODEL, rawMessage, type RawMessage, type Recording } from '../harness/recordings.ts'
import { openClient, type Client, type Headers, type ReceivedRequest } from '../harness/stage.ts'
import type { Walk } from './plan.ts'

export type Upstream = Awaited<ReturnType<typeof openUpstream>>

/** What the requests through one gateway came to. */
export type Outcome = {
  readonly requests: number
  readonly answered: number
  /** Refusals as too long, as broken, and everything else that a client got in place of an answer. */
  readonly overflows: number
  readonly broken: number
  readonly others: number
  /** What was held, and the prompts of the answers that reached the client. */
  readonly tally: Tally
  /** Of the recall, what counts where an answer came. */
  readonly answeredTally: Tally
  /** Prompts that the gateway had answered for itself. */
  readonly ownTokens: number
  /** The first words of the first failure of each kind, for whoever looks into it. */
  readonly firstFailure: string | null
}

type Count = (text: string) => number

/**
 * OpenAI's strictness on a port of this machine. Each answer has a number, so that it shows which request became the
 * client's answer. What a gateway asks for itself, a summary, is answered by a stand-in that picks out phrases.
 */
export async function openUpstream(room: Room, count: Count) {
  let answers = 0
  const upstream = await startStrictUpstream({
    windowTokens: room.windowTokens,
    template: 'lenient',
    outputReserveChecked: true,
    count,
    reply: ({ body, messages }) => {
      answers += 1
      const number = answerText(answers)
      if (body['user'] === CLIENT) return { content: number }
      const text = messages.flatMap(({ content }) => textsOf(content)).join('\n')
      const summary = extractiveSummary(text, {
        tokensMax: room.reserveTokens,
        count,
        isCarried: () => false,
      })
      return { content: `${number}\n${summary}` }
    },
  })
  return { ...upstream, answers: () => answers }
}

/** Whether a greeting gets through to the upstream: else somebody else may have taken the gateway's port. */
export async function reaches({ url, headers }: Target, upstream: Upstream): Promise<boolean> {
  upstream.forget()
  const client = openClient(url)
  const body = `{"model":"${MODEL}","user":"${CLIENT}","messages":[{"role":"user","content":"Hello."}]}`
  await client.post('chat/completions', body, { ...ownHeaders, ...headers }).catch(() => null)
  await client.close()
  return upstream.requests.some(({ method }) => method === 'POST')
}

/** Where the client sends to, and what it says to it. */
type Target = { readonly url: string; readonly headers: Headers }

const ownHeaders: Headers = { authorization: 'Bearer sk-peers' }

type WalkOptions = Target & {
  readonly upstream: Upstream
  readonly room: Room
  readonly count: Count
  /** What the client itself sends of a conversation. */
  readonly policy: Policy
}

/** Makes the requests of all conversations, one after the other. */
export async function walkAll(walks: readonly Walk[], options: WalkOptions): Promise<Outcome> {
  const client = openClient(options.url)
  try {
    const outcomes: Outcome[] = []
    for (const walk of walks) outcomes.push(await walkOne(walk, client, options))
    return addOutcomes(outcomes)
  } finally {
    await client.close()
  }
}

async function walkOne(
  { recording, points }: Walk,
  client: Client,
  { headers, upstream, room, count, policy }: WalkOptions,
): Promise<Outcome> {
  const inputAt = openPolicyInput(recording, room, count)
  const read = openReader()
  const [history, suffix, view] = [openSight(), openSight(), openSight()]
  const outcomes: Outcome[] = []
  for (const point of points) {
    const input = inputAt(point)
    upstream.forget()
    const exchange = await ask(bodyOf(recording, policy(input), room.reserveTokens))
    const received = exchange.answered
    const isAnswered = received !== null
    const next = recording.messages[point]
    history.show(input.messages.map(read))
    suffix.show(newestSuffix(input).map(read))
    // Nothing is in view of a model that was not reached.
    view.show((received?.rawMessages ?? []).map(rawMessage).map(read))
    const recalled = next === undefined ? {} : held(wantedOf(read(next), history, suffix), view)
    const { promptTokens = 0, cachedTokens = 0 } = received ?? {}
    outcomes.push({
      requests: 1,
      answered: isAnswered ? 1 : 0,
      overflows: exchange.failure === 'overflow' ? 1 : 0,
      broken: exchange.broken,
      others: exchange.failure === 'other' ? 1 : 0,
      tally: sumOf([{ ...recalled, promptTokens, cachedTokens }]),
      answeredTally: sumOf(isAnswered ? [recalled] : []),
      ownTokens: exchange.ownTokens,
      firstFailure: exchange.failure === 'other' ? exchange.said.slice(0, SAID_CHARS) : null,
    })
  }
  return addOutcomes(outcomes)

  async function ask(body: string) {
    const answer = await client
      .post('chat/completions', body, { ...ownHeaders, ...headers })
      .catch((error: unknown) => ({ status: 0, text: String(error) }))
    const posted = upstream.requests.filter(({ method }) => method === 'POST')
    const before = upstream.answers() - posted.filter(({ status }) => status === 200).length
    const numbered = posted.filter(({ status }) => status === 200)
    const place = numbered.findIndex((_, index) => answer.text.includes(answerText(before + index + 1)))
    const answered = answer.status === 200 ? (numbered[place] ?? null) : null
    return {
      answered,
      said: `${answer.status} ${answer.text}`,
      failure: answered !== null ? null : failureOf(posted),
      broken: posted.filter(({ rejected }) => rejected !== null && rejected.reason !== 'window').length,
      ownTokens: numbered.reduce((sum, one) => sum + (one === answered ? 0 : one.promptTokens), 0),
    }
  }
}

/** What the upstream refused last, where it refused; a broken sequence has a column of its own. */
function failureOf(posted: readonly ReceivedRequest[]): 'overflow' | 'broken' | 'other' {
  const reason = posted.at(-1)?.rejected?.reason
  if (reason === undefined) return 'other'
  return reason === 'window' ? 'overflow' : 'broken'
}

const noOutcome: Outcome = {
  requests: 0,
  answered: 0,
  overflows: 0,
  broken: 0,
  others: 0,
  tally: sumOf([]),
  answeredTally: sumOf([]),
  ownTokens: 0,
  firstFailure: null,
}

const addOutcomes = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce(
    (sum, one) => ({
      requests: sum.requests + one.requests,
      answered: sum.answered + one.answered,
      overflows: sum.overflows + one.overflows,
      broken: sum.broken + one.broken,
      others: sum.others + one.others,
      tally: sumOf([sum.tally, one.tally]),
      answeredTally: sumOf([sum.answeredTally, one.answeredTally]),
      ownTokens: sum.ownTokens + one.ownTokens,
      firstFailure: sum.firstFailure ?? one.firstFailure,
    }),
    noOutcome,
  )

/** Plain JSON without oddities: a gateway that reads it and writes it anew is not to stumble over a number. */
function bodyOf({ tools }: Recording, messages: readonly RawMessage[], outputTokens: number): string {
  const after = `${tools === '' ? '' : `"tools":${tools},`}"max_tokens":${outputTokens}`
  const texts = messages.map(({ text }) => text).join(',')
  return `{"model":"${MODEL}","user":"${CLIENT}","stream":false,"messages":[${texts}],${after}}`
}

/** Says in a request's body that it is the client's, unless the gateway drops it. What a gateway asks for itself does not say so. */
const CLIENT = 'client-of-peers'
const SAID_CHARS = 200

const answerText = (number: number): string => `Answer number ${number}.`
