import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { newestSuffix, type PolicyInput } from '../fidelity/policies.ts'
import { sumOf, type Tally } from '../fidelity/figures.ts'
import { held, openReader, openSight, wantedOf } from '../fidelity/wanted.ts'
import { rawMessage, type RawMessage } from '../harness/recordings.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { ask, OUTPUT_TOKENS, type Reply } from './ask.ts'
import { dropHalfWhenFull, slidingWindow, type CompactingClient } from './clients.ts'
import { startFoldgate } from './foldgate.ts'
import { messageSizes } from './message-sizes.ts'
import { startServer, type RealServer } from './real-server.ts'
import type { SceneReport } from './report.ts'
import type { Stand } from './stand.ts'
import { openTap } from './tap.ts'
import { pointsOf } from './walk.ts'

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

// --- internal ---

/** Before the first message and after the last: no client is held to one that it cannot know. */
const AROUND_TOKENS = 16

type RequestFigures = {
  readonly reply: Reply
  /** Whether the prompt before is no beginning of this one. */
  readonly isAnew: boolean
}

type Sender = {
  readonly send: (input: PolicyInput) => Promise<{ reply: Reply; received: readonly RawMessage[] }>
  readonly close: () => Promise<void>
}

async function openSender(rival: Rival, server: RealServer): Promise<Sender> {
  if ('openClient' in rival) {
    const compact = rival.openClient()
    return {
      send: async (input) => {
        const received = compact(input)
        const reply = await ask(server.origin, {
          messages: received.map(({ text }) => text),
          isStreamed: false,
        })
        return { reply, received }
      },
      close: async () => {},
    }
  }
  const tap = await openTap(server.origin)
  const foldgate = await startFoldgate(tap.origin, rival.profile)
  return {
    send: async ({ messages }) => {
      const reply = await ask(foldgate.origin, {
        messages: messages.map(({ text }) => text),
        isStreamed: false,
      })
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
  const evaluated = (chosen: readonly RequestFigures[]) =>
    chosen.reduce((sum, { reply }) => sum + (reply.prompt?.evaluatedTokens ?? 0), 0)
  const sent = (chosen: readonly RequestFigures[]) =>
    chosen.reduce((sum, { reply }) => sum + (reply.prompt?.tokens ?? 0), 0)
  const anew = requests.filter(({ isAnew }) => isAnew)
  const problems = requests.flatMap(({ reply }) => reply.problem ?? [])
  return {
    cells: [
      rival.name,
      evaluated(requests),
      evaluated(anew),
      sent(requests),
      anew.length,
      anew.length === 0 ? '-' : Math.round(sent(anew) / anew.length),
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

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`
}
