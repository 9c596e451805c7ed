import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { newestSuffix, type PolicyInput, roundsOf, type Round } from '../fidelity/policies.ts'
import { sumOf, type Tally } from '../fidelity/figures.ts'
import { held, openReader, openSight, wantedOf } from '../fidelity/wanted.ts'
import { rawMessage, type RawMessage } from '../harness/recordings.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { ask, OUTPUT_TOKENS, type Reply } from './ask.ts'
import { startFoldgate, startServer, type RealServer } from './real-server.ts'
import type { SceneReport, Stand } from './scenes.ts'
import { openTap } from './tap.ts'
import { pointsOf } from './windows.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'

/** What a client that compacts by itself sends of its conversation; it may remember what it did before. */
export type CompactingClient = (input: PolicyInput) => readonly RawMessage[]

/** At every request the newest that fits: nothing is remembered, and from the first cut on each prompt begins anew. */
const slidingWindow = (): CompactingClient => newestSuffix

/**
 * Behind the system message and the task, the older half of the rest goes for good when it does not fit any more. What
 * is left grows at its end until then, so that the server's cache has it.
 */
export function dropHalfWhenFull(): CompactingClient {
  let droppedRounds = 0
  return function sendRest({ messages, budgetTokens, sizeOf }) {
    const head = messages.slice(0, HEAD_MESSAGES)
    const rounds = roundsOf(messages.slice(HEAD_MESSAGES))
    const sizeOfAll = (kept: readonly Round[]) =>
      kept.flat().reduce((sum, message) => sum + sizeOf(message), 0)
    const roomTokens = budgetTokens - sizeOfAll([head])
    if (sizeOfAll(rounds.slice(droppedRounds)) > roomTokens) {
      const half = roomTokens / 2
      while (droppedRounds < rounds.length - 1 && sizeOfAll(rounds.slice(droppedRounds)) > half)
        droppedRounds += 1
    }
    return [...head, ...rounds.slice(droppedRounds).flat()]
  }
}

const HEAD_MESSAGES = 2

/** Who makes the conversation fit: Foldgate under a profile, or the client itself. */
export type Rival =
  | { readonly name: string; readonly profile: object }
  | { readonly name: string; readonly openClient: () => CompactingClient }

export const rivals: readonly Rival[] = [
  { name: 'Foldgate', profile: {} },
  { name: 'Foldgate, target: 0.5', profile: { target: 0.5 } },
  { name: 'sliding window', openClient: slidingWindow },
  { name: 'drop half when full', openClient: dropHalfWhenFull },
]

export const evaluatedHead =
  'who compacts|evaluated|of these anew|sent|compactions|left by each|names|far names|phrases|errors'.split(
    '|',
  )

export const EVALUATED_REQUESTS = 56
export const EVALUATED_WINDOW_TOKENS = 8192

/**
 * What a server has to evaluate of a conversation's prompts, which its cache cannot give it, and what they still hold of
 * what the true next message names and says. Each rival has a server of its own, with nothing in its cache.
 */
export async function runRival(rival: Rival, { pythons, models, conversation }: Stand): Promise<SceneReport> {
  const server = await startServer(pythons['llama-cpp'], {
    kind: 'llama-cpp',
    model: models.lenient,
    contextTokens: EVALUATED_WINDOW_TOKENS,
  })
  const messages = conversation(EVALUATED_REQUESTS)
  const sizeOf = await messageSizes(server.origin, messages)
  const inputAt = (point: number): PolicyInput => ({
    messages: messages.slice(0, point),
    budgetTokens: EVALUATED_WINDOW_TOKENS - OUTPUT_TOKENS - AROUND_TOKENS,
    sizeOf,
  })
  const sender = await openSender(rival, server)
  const read = openReader()
  const [history, suffix, view] = [openSight(), openSight(), openSight()]
  const requests: RequestFigures[] = []
  const tallies: Partial<Tally>[] = []
  let before: readonly string[] = []
  for (const point of pointsOf(messages)) {
    const input = inputAt(point)
    const { reply, received } = await sender.send(input)
    const texts = received.map(({ text }) => text)
    requests.push({ reply, isAnew: !isBeginning(before, texts) })
    before = texts
    const next = messages[point]
    if (next === undefined) continue
    history.show(input.messages.map(read))
    suffix.show(newestSuffix(input).map(read))
    view.show(received.map(read))
    tallies.push(held(wantedOf(read(next), history, suffix), view))
  }
  await sender.close()
  await server.stop()
  return reportOf(rival, requests, sumOf(tallies))
}

/** Before the first message and after the last: no client is held to one that it cannot know. */
const AROUND_TOKENS = 16

type RequestFigures = {
  readonly reply: Reply
  /** Whether the prompt before is no beginning of this one. */
  readonly isAnew: boolean
}

const askWith = (origin: string, messages: readonly RawMessage[]) =>
  ask(origin, { messages: messages.map(({ text }) => text), isStreamed: false })

async function openSender(rival: Rival, server: RealServer) {
  if ('openClient' in rival) {
    const compact = rival.openClient()
    return {
      send: async (input: PolicyInput) => {
        const received = compact(input)
        return { reply: await askWith(server.origin, received), received }
      },
      close: async () => {},
    }
  }
  const tap = await openTap(server.origin)
  const foldgate = await startFoldgate(tap.origin, rival.profile)
  return {
    send: async ({ messages }: PolicyInput) => {
      const reply = await askWith(foldgate.origin, messages)
      const body = tap.take().at(-1)?.body ?? '{"messages":[]}'
      return { reply, received: cutRawRequest(body).messages.map(rawMessage) }
    },
    close: async () => {
      await foldgate.stop()
      await tap.close()
    },
  }
}

function reportOf(rival: Rival, requests: readonly RequestFigures[], tally: Tally): SceneReport {
  const all = (chosen: readonly RequestFigures[], figure: 'tokens' | 'evaluatedTokens') =>
    chosen.reduce((sum, { reply }) => sum + (reply.prompt?.[figure] ?? 0), 0)
  const anew = requests.filter(({ isAnew }) => isAnew)
  const problems = requests.flatMap(({ reply }) => reply.problem ?? [])
  return {
    cells: [
      rival.name,
      all(requests, 'evaluatedTokens'),
      all(anew, 'evaluatedTokens'),
      all(requests, 'tokens'),
      anew.length,
      anew.length === 0 ? '-' : Math.round(all(anew, 'tokens') / anew.length),
      share(tally.thingsHeld, tally.things),
      share(tally.farThingsHeld, tally.farThings),
      share(tally.runsHeld, tally.runs),
      problems.length,
    ],
    // A client that compacts by itself sends its newest round whatever it takes.
    missed:
      'profile' in rival
        ? problems.slice(0, 1).map((first) => `${problems.length} errors, first ${first}`)
        : [],
  }
}

const share = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

async function messageSizes(
  origin: string,
  messages: readonly RawMessage[],
): Promise<(message: RawMessage) => number> {
  const promptTokens = async (texts: readonly string[]): Promise<number> => {
    const written = await askJson(origin, '/apply-template', `{"messages":[${texts.join(',')}]}`)
    const prompt = JSON.stringify(written['prompt'])
    const counted = await askJson(origin, '/tokenize', `{"content":${prompt},"add_special":false}`)
    return Array.isArray(counted['tokens']) ? counted['tokens'].length : 0
  }
  // Behind an assistant message the server would write on.
  const behind = '{"role":"user","content":"Go on."}'
  const behindTokens = await promptTokens([behind])
  const sizes = new Map<string, number>()
  for (const { text } of messages) sizes.set(text, (await promptTokens([text, behind])) - behindTokens)
  return ({ text }) => sizes.get(text) ?? 0
}

async function askJson(origin: string, path: string, body: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(origin + path, { method: 'POST', headers, body })
  const value: unknown = await answer.json()
  if (answer.ok && isObject(value)) return value
  throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(value)}`)
}
