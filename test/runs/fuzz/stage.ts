import {
  startFoldgateProgram,
  type FoldgateProgram,
  type ProgramOptions,
} from '../../support/foldgate-program.ts'
import { openRawClient, requestOf, type Answer, type RawClient } from './wire/raw-exchange.ts'
import {
  answerOf,
  openRecordingUpstream,
  REPLY,
  type Received,
  type RecordingUpstream,
} from './wire/recording-upstream.ts'

/** The real program between raw sockets and an upstream that keeps every byte. */
export type Stage = {
  readonly upstream: RecordingUpstream
  /** The ports of the program that runs now. */
  readonly port: () => number
  readonly adminPort: () => number
  readonly client: RawClient
  /** Forgets what came before. To be called before each input; starts the program again where an input has ended it. */
  readonly begin: () => Promise<void>
  /**
   * Throws unless Foldgate is as it was before the input: it runs, has complained of nothing, takes a bounded amount of
   * memory, counts no failure of its own, has sent nothing but requests, and serves the next client. Returns what the
   * upstream received before that client came.
   */
  readonly afterwards: () => Promise<readonly Received[]>
  readonly close: () => Promise<void>
}

export type StageOptions = Pick<ProgramOptions, 'profiles' | 'env'> & {
  readonly settings?: object
  /** How much memory the program may take, in bytes. */
  readonly memoryBytesMax?: number
}

/** The same with a window so small that whatever is long is compacted, and limits that bodies of a run can reach. */
export const openSmallStage = (limits: object): Promise<Stage> =>
  openStage({
    settings: { limits, usage: { in_streams: 'never' }, ollama: { ask_for_errors: false } },
    profiles: { default: { window: { tokens: 2_000, output_reserve: 256 }, template: 'lenient' } },
  })

export async function openStage(options: StageOptions): Promise<Stage> {
  const upstream = await openRecordingUpstream()
  const settings = {
    ...options.settings,
    // What has a path, and what has none: what is appended to nothing may be taken for a host.
    upstreams: { default: { url: upstream.url }, root: { url: upstream.origin } },
    store: { url: 'memory:' },
  }
  const start = () => startFoldgateProgram({ ...options, settings })
  let program: FoldgateProgram = await start()
  let failuresBefore = 0
  /** Whether its figures tell of an input for good. */
  let isSpent = false
  const client = openRawClient(() => program.port)
  // The client that comes after each input is somebody else.
  const next = openRawClient(() => program.port)
  const admin = openRawClient(() => program.adminPort)
  const memoryBytesMax = options.memoryBytesMax ?? MEMORY_BYTES_MAX

  async function failures(): Promise<number> {
    const answer = await admin.ask(requestOf('/metrics', '', adminHeaders(options), 'GET'), 'GET')
    if (answer.status !== 200) throw new Error(`/metrics answers ${answer.status}`)
    const counts = answer.body.toString().matchAll(/^foldgate_failures_total\{[^}]*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  return {
    upstream,
    port: () => program.port,
    adminPort: () => program.adminPort,
    client,
    begin: async () => {
      if (program.ended() !== null || isSpent) {
        await program.close()
        program = await start()
        failuresBefore = 0
        isSpent = false
      }
      program.complaints()
      upstream.take()
      upstream.takeNonsense()
    },
    afterwards: async () => {
      const alive = () => {
        const ended = program.ended()
        if (ended !== null) throw new Error(`Foldgate ended (${ended}): ${program.complaints().join('')}`)
      }
      alive()
      let answer: Answer
      const received = upstream.take()
      try {
        upstream.answerWith(usual)
        answer = await next.ask(requestOf('/v1/chat/completions', GOOD_BODY))
      } catch (error) {
        alive()
        throw error
      }
      if (answer.status !== 200 || answer.body.toString() !== REPLY)
        throw new Error(`the next client got ${answer.startLine}: ${answer.body.toString().slice(0, 200)}`)
      const taken = upstream.take()
      // What the input left on its way may arrive beside it.
      const good = taken.findIndex(isGood)
      if (good === -1)
        throw new Error(`the next request arrived as ${taken.map(({ startLine }) => startLine).join()}`)
      const nonsense = upstream.takeNonsense()
      if (nonsense.length > 0) throw new Error(`the upstream received no request: ${nonsense.join('; ')}`)
      const failed = (await failures()) - failuresBefore
      failuresBefore += failed
      const complaints = program.complaints()
      if (failed > 0 || complaints.length > 0)
        throw new Error(`${failed} failures of Foldgate's own: ${complaints.join('').slice(0, 2_000)}`)
      const bytes = await program.memoryBytes()
      isSpent = bytes !== null && bytes > memoryBytesMax
      if (isSpent) throw new Error(`Foldgate took ${Math.round((bytes ?? 0) / 1024 / 1024)} MB`)
      return [...received, ...taken.toSpliced(good, 1)]
    },
    close: async () => {
      for (const each of [client, next, admin]) each.close()
      await program.close()
      await upstream.close()
    },
  }
}

/** Several times what it takes under good input, and a small part of what a bomb unpacks to. */
const MEMORY_BYTES_MAX = 900 * 1024 * 1024

const GOOD_BODY = '{"model":"good","messages":[{"role":"user","content":"Is anybody there?"}]}'

const usual = () => answerOf('200 OK', ['content-type: application/json'], REPLY)

const isGood = ({ startLine, body }: Received): boolean =>
  startLine === 'POST /base/v1/chat/completions HTTP/1.1' && body.toString() === GOOD_BODY

/** What a token's holder sends to the admin listener of a stage. */
function adminHeaders({ env }: Pick<StageOptions, 'env'>): readonly string[] {
  const token = env?.['ADMIN_TOKEN']
  return token === undefined ? [] : [`Authorization: Bearer ${token}`]
}
