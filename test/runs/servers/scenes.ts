import { ask, type Reply } from './ask.ts'
import { madeConversation, type Conversations } from './conversations.ts'
import { startFoldgate, startServer } from './real-server.ts'
import { openTap } from './tap.ts'
import type { Template } from './models.ts'

export const poolHead =
  'answers|at once|prompts|pool|failed without|errors|broken off later|attempts|window'.split('|')

/**
 * llama.cpp's default: slots that share one pool. Requests that fit, each by itself, fill it together, and all that are
 * under way are refused. Nothing is to be learnt from that, each has to be answered in the end, and as the client
 * sent it. Of a stream whose output has begun nothing can be taken back: it is counted apart.
 */
export async function runPoolScene(isStreamed: boolean, { pythons, models }: Stand): Promise<SceneReport> {
  const server = await startServer(pythons['llama-cpp'], {
    kind: 'llama-cpp',
    model: models.lenient,
    contextTokens: POOL_TOKENS,
    slots: CONVERSATIONS,
    pool: 'shared',
  })
  const tap = await openTap(server.origin)
  const foldgate = await startFoldgate(tap.origin)
  const conversations = Array.from({ length: CONVERSATIONS }, (_, index) =>
    madeConversation(REQUESTS, index + 1).map(({ text }) => text),
  )
  const askFor = (origin: string, messages: readonly string[]) =>
    ask(origin, { messages, isStreamed, outputTokens: REPLY_TOKENS })
  const askAllAtOnce = async (origin: string) => {
    const replies: Reply[] = []
    for (let round = 0; round < ROUNDS; round += 1)
      replies.push(...(await Promise.all(conversations.map((messages) => askFor(origin, messages)))))
    return replies
  }
  // Each alone, so that it is known to fit; all at once without Foldgate, so that they are known to fill the pool.
  const alone: Reply[] = []
  for (const messages of conversations) alone.push(await askFor(server.origin, messages))
  const direct = await askAllAtOnce(server.origin)
  tap.take()
  const through = await askAllAtOnce(foldgate.origin)
  const exchanges = tap.take()
  const [last] = conversations
  const after = await askFor(foldgate.origin, last ?? [])
  await foldgate.stop()
  await tap.close()
  await server.stop()

  const sizes = alone.map(({ promptTokens }) => promptTokens ?? 0)
  const failedWithout = direct.filter(({ problem }) => problem !== null).length
  const failed = through.filter(({ problem }) => problem !== null)
  const errors = failed.filter(({ hasBegun }) => !hasBegun)
  const changed = exchanges.filter(
    ({ body }) => !conversations.some((messages) => body.includes(messages.join(','))),
  )
  const window = after.header('x-foldgate-window')
  return {
    cells: [
      isStreamed ? 'streams' : 'plain',
      CONVERSATIONS,
      `${Math.min(...sizes)} to ${Math.max(...sizes)}`,
      POOL_TOKENS,
      `${failedWithout} of ${direct.length}`,
      `${errors.length} of ${through.length}`,
      failed.length - errors.length,
      exchanges.length,
      window,
    ],
    missed: [...missed()],
  }

  function* missed(): Generator<string> {
    const [first] = errors
    const misfit = alone.find(({ problem }) => problem !== null)
    if (misfit !== undefined) yield `one alone was not answered: ${misfit.problem}`
    if (failedWithout === 0) yield 'the pool was never full: nothing is shown'
    if (first !== undefined) yield `${errors.length} errors for the client, first ${first.problem}`
    if (changed.length > 0) yield `${changed.length} requests were compacted, although each fits`
    if (window !== `${POOL_TOKENS};source=server`)
      yield `the window is told as ${window}, not ${POOL_TOKENS};source=server`
  }
}

const POOL_TOKENS = 8192
const CONVERSATIONS = 4
/** Of a conversation: two of them fit into the pool together, and not all of them. */
const REQUESTS = 4
const ROUNDS = 3
/** So long that all are under way at the same time, however quickly their prompts are read. */
const REPLY_TOKENS = 128
export const rootHead = ['path', 'from the server', 'through Foldgate']

/**
 * What llama.cpp's server answers beside `/v1` reaches a client through Foldgate as well, although the base that
 * Foldgate was given ends with `/v1`.
 */
export async function runRootPaths({ pythons, models }: Stand): Promise<readonly SceneReport[]> {
  const server = await startServer(pythons['llama-cpp'], {
    kind: 'llama-cpp',
    model: models.lenient,
    contextTokens: 4096,
  })
  const foldgate = await startFoldgate(server.origin)
  const reports: SceneReport[] = []
  for (const [path, body = null] of paths) {
    const direct = await answerOf(server.origin, path, body)
    const through = await answerOf(foldgate.origin, path, body)
    const isKept = direct.status === 200 && direct.shape === through.shape
    const miss = `${path} is answered with ${through.status} ${through.shape}, and not ${direct.shape}`
    reports.push({ cells: [path, direct.status, through.status], missed: isKept ? [] : [miss] })
  }
  await foldgate.stop()
  await server.stop()
  return reports
}

const paths: readonly (readonly [path: string, body?: string])[] = [
  ['/props'],
  ['/slots'],
  ['/metrics'],
  ['/tokenize', '{"content":"to be counted"}'],
  ['/v1/models'],
]

/** The status, and the beginning of the text with its figures left out: some change from one moment to the next. */
async function answerOf(origin: string, path: string, body: string | null) {
  const init = body === null ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
  const answer = await fetch(origin + path, init)
  const text = await answer.text()
  return { status: answer.status, shape: text.slice(0, SHOWN_CHARS).replaceAll(/\d+/g, '…') }
}

const SHOWN_CHARS = 60
export type SceneReport = { readonly cells: readonly (string | number)[]; readonly missed: readonly string[] }

export const shown = (cell: string | number): string =>
  typeof cell === 'number' ? cell.toLocaleString('en-US') : cell

export type Stand = {
  /** The interpreter that has a server. llama-cpp-python's may be missing. */
  readonly pythons: { readonly 'llama-cpp': string; readonly 'llama-cpp-python': string | null }
  readonly models: Readonly<Record<Template, string>>
  readonly conversation: Conversations
}
