import { type ApiName, ask, OUTPUT_TOKENS, type Question, type Reply } from './ask.ts'
import { startFoldgate, type FoldgateProgram, startServer } from './real-server.ts'
import type { PackageList } from './programs.ts'
import type { Template } from './models.ts'
import type { SceneReport, Stand } from './scenes.ts'
import { openTap, type Exchange, type Tap } from './tap.ts'
import { requestPoints, type RawMessage } from '../harness/recordings.ts'

export type WindowScene = {
  readonly kind: PackageList
  readonly api?: ApiName
  readonly template: Template
  readonly isStreamed: boolean
  readonly contextTokens: number
  /** Slots, and whether they share one pool. Default: one. */
  readonly slots?: number
  readonly pool?: 'shared' | 'apart'
}

export const windowScenes: readonly WindowScene[] = [
  { kind: 'llama-cpp', template: 'lenient', isStreamed: false, contextTokens: 4096 },
  { kind: 'llama-cpp', template: 'lenient', isStreamed: true, contextTokens: 8192 },
  { kind: 'llama-cpp', template: 'strict', isStreamed: true, contextTokens: 4096 },
  { kind: 'llama-cpp', template: 'strict', isStreamed: false, contextTokens: 8192 },
  { kind: 'llama-cpp', template: 'lenient', isStreamed: true, contextTokens: 8192, slots: 2, pool: 'apart' },
  { kind: 'llama-cpp', template: 'lenient', isStreamed: false, contextTokens: 8192, slots: 4 },
  { kind: 'llama-cpp', api: 'responses', template: 'lenient', isStreamed: false, contextTokens: 4096 },
  { kind: 'llama-cpp', api: 'responses', template: 'lenient', isStreamed: true, contextTokens: 8192 },
  { kind: 'llama-cpp', api: 'responses', template: 'strict', isStreamed: true, contextTokens: 4096 },
  { kind: 'llama-cpp', api: 'messages', template: 'lenient', isStreamed: false, contextTokens: 4096 },
  { kind: 'llama-cpp', api: 'messages', template: 'lenient', isStreamed: true, contextTokens: 8192 },
  { kind: 'llama-cpp', api: 'messages', template: 'strict', isStreamed: true, contextTokens: 4096 },
  { kind: 'llama-cpp-python', template: 'lenient', isStreamed: false, contextTokens: 4096 },
  { kind: 'llama-cpp-python', template: 'lenient', isStreamed: true, contextTokens: 4096 },
  { kind: 'llama-cpp-python', template: 'strict', isStreamed: false, contextTokens: 8192 },
  { kind: 'llama-cpp-python', template: 'strict', isStreamed: true, contextTokens: 8192 },
]

export const windowHead =
  'server|API|template|answers|context|slots|window|requests|compacted|largest|refused|errors|counts off by'.split(
    '|',
  )

export async function runWindowScene(
  scene: WindowScene,
  { pythons, models, conversation }: Stand,
): Promise<SceneReport> {
  const { kind, api = 'chat', template, isStreamed, contextTokens, slots = 1, pool = 'shared' } = scene
  const windowTokens = pool === 'apart' ? contextTokens / slots : contextTokens
  const python = pythons[kind]
  if (python === null) throw new Error(`There is no ${kind} to play this with.`)
  const server = await startServer(python, { kind, model: models[template], contextTokens, slots, pool })
  const tap = await openTap(server.origin)
  const foldgate = await startFoldgate(tap.origin)
  const messages = conversation(requestsPast(windowTokens))
  const walked = await walk(messages, { isStreamed, api }, { foldgate, tap })
  await foldgate.stop()
  await tap.close()
  await server.stop()
  const figures = figuresOf(walked)
  return {
    cells: [
      kind,
      api,
      template,
      isStreamed ? 'streams' : 'plain',
      contextTokens,
      slots === 1 ? '1' : `${slots} ${pool}`,
      figures.window,
      walked.steps.length,
      figures.compacted,
      figures.largest,
      figures.refused,
      figures.errors,
      countsOffBy(figures),
    ],
    missed: [...missedIn(figures, scene, windowTokens)],
  }
}

/**
 * By so much counts may be off, as a share, once the server has counted a prompt: in the median, where most of a prompt was
 * counted before, and by the worst, where a compaction has just put other texts in its place.
 */
const MEDIAN_ERROR_MAX = 0.01
const ERROR_MAX = 0.05

/** Enough for twice the window: a request of the made conversation adds some 500 tokens or more. */
const requestsPast = (windowTokens: number): number => Math.ceil(windowTokens / 280)

type Figures = ReturnType<typeof figuresOf>

function figuresOf({ steps, countErrors }: Walk) {
  const exchanges = steps.flatMap((step) => step.exchanges)
  const problems = steps.flatMap(({ reply }, index) =>
    reply.problem === null ? [] : [`request ${index + 1}: ${reply.problem}`],
  )
  return {
    window: steps.at(-1)?.reply.header('x-foldgate-window') ?? '',
    compacted: steps.filter(isRewritten).length,
    largest: Math.max(...steps.map(({ reply }) => reply.promptTokens ?? 0)),
    refused: exchanges.filter(isRefusal).length,
    errors: problems.length,
    firstProblem: problems[0] ?? null,
    failedOpen: steps.filter(({ reply }) => reply.header('x-foldgate-action').startsWith('failed-open'))
      .length,
    countErrors: countErrors.toSorted((one, other) => one - other),
  }
}

function* missedIn(figures: Figures, scene: WindowScene, windowTokens: number): Generator<string> {
  const isStated = scene.kind === 'llama-cpp'
  const window = `${windowTokens};source=${isStated ? 'server' : 'learnt'}`
  if (figures.window !== window) yield `the window is told as ${figures.window}, not ${window}`
  if (figures.firstProblem !== null)
    yield `${figures.errors} errors for the client, first ${figures.firstProblem}`
  if (figures.failedOpen > 0) yield `${figures.failedOpen} requests failed open`
  if (figures.compacted === 0) yield 'nothing was compacted: the conversation is too short to show anything'
  // A window that nobody states is learnt from one refusal, and where a stream just ends from one more that can be read;
  // that roles must alternate from another.
  const learning = scene.isStreamed ? 2 : 1
  const refusalsMax = (isStated ? 0 : learning) + (scene.template === 'strict' ? 1 : 0)
  // Who is never told what a prompt came to cannot know where the window ends: then it is enough that it is recovered.
  if (figures.countErrors.length > 0 && figures.refused > refusalsMax)
    yield `the server refused ${figures.refused} times, not ${refusalsMax} at most`
  const { median, largest } = errorsOf(figures)
  if (median > MEDIAN_ERROR_MAX || largest > ERROR_MAX) yield `counts are off by ${countsOffBy(figures)}`
}

const errorsOf = ({ countErrors }: Figures) => ({
  median: countErrors[countErrors.length >> 1] ?? 0,
  largest: countErrors.at(-1) ?? 0,
})

function countsOffBy(figures: Figures): string {
  if (figures.countErrors.length === 0) return 'not told'
  const { median, largest } = errorsOf(figures)
  return `${(median * 100).toFixed(2)} %, ${(largest * 100).toFixed(2)} %`
}

const isRewritten = ({ reply }: Step): boolean =>
  /^(?:compacted|recovered)/.test(reply.header('x-foldgate-action'))

/**
 * A status that says so, or a stream that ends without having said anything. A connection that was closed under a request
 * is none: its error is the client's, unless Foldgate asks again.
 */
const isRefusal = ({ status, answer }: Exchange): boolean =>
  status !== null && (status !== 200 || !/"finish_reason"|"status":"completed"|"stop_reason":"/.test(answer))

export type Step = { readonly reply: Reply; readonly exchanges: readonly Exchange[] }

type Walk = Awaited<ReturnType<typeof walk>>

/** Makes every request of a conversation through Foldgate, one after the other, and one with all of it in the end. */
async function walk(
  messages: readonly RawMessage[],
  how: Pick<Question, 'isStreamed' | 'api'>,
  { foldgate, tap }: { readonly foldgate: FoldgateProgram; readonly tap: Tap },
) {
  const steps: Step[] = []
  tap.take()
  for (const point of pointsOf(messages)) {
    const texts = messages.slice(0, point).map(({ text }) => text)
    const reply = await ask(foldgate.origin, { ...how, messages: texts })
    steps.push({ reply, exchanges: tap.take() })
  }
  const conversation = steps.at(-1)?.reply.header('x-foldgate-conversation') ?? ''
  const rows = await foldgate.requests(conversation)
  // By how much Foldgate's count of each prompt, before its answer, was off what the server then counted: a share. How a server
  // counts is learnt from its first answer.
  return { steps, countErrors: rows.slice(1).flatMap(countError) }
}

/** The lengths of the requests that led to a conversation, and of one with all of it. */
export const pointsOf = (messages: readonly RawMessage[]): readonly number[] => [
  ...requestPoints(messages),
  messages.length,
]

/**
 * What Foldgate tells of a prompt is its share of the budget, by the server's count as far as that is known. Nothing
 * where it only had an upper bound, or where the server said nothing.
 */
function countError(row: Record<string, unknown>): readonly number[] {
  const { sent_pressure: share, window_tokens: windowTokens, prompt_tokens: promptTokens } = row
  if (row['tokens_are_bounds'] === true) return []
  if (typeof share !== 'number' || typeof windowTokens !== 'number' || typeof promptTokens !== 'number')
    return []
  return [Math.abs((share * (windowTokens - OUTPUT_TOKENS)) / promptTokens - 1)]
}
