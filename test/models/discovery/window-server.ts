import type { WindowQuestion, WindowTrouble } from '../../../src/models/discovery/ask-json.ts'
import type { HeldKeyMark } from '../../../src/upstream/credential.ts'
import { parseTarget } from '../../../src/upstream/target.ts'
import { createServerWindows, type ServerWindow } from '../../../src/models/discovery/server-windows.ts'
import {
  fakeUpstream,
  type FakeUpstream,
  json,
  type ReceivedRequest,
  type Script,
  silence,
} from '../../support/fake-upstream.ts'
import { type GivenUpstream, upstreamsAt } from '../../support/upstream-settings.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Answers by method and path, the query aside; a value that is no script is sent as JSON. */
export type Routes = Record<string, Script | object>

export const isScript = (answer: Script | object): answer is Script => typeof answer === 'function'

/** A server that knows these endpoints. `routes` may be changed while it runs. */
async function windowServer(
  routes: Routes,
  otherwise: Script = json({ error: 'no such path' }, 404),
): Promise<FakeUpstream> {
  const answer: Script = (request) => {
    const route = routes[`${request.method} ${request.url.split('?')[0] ?? ''}`] ?? otherwise
    return scriptOf(route)
  }
  return fakeUpstream(silence, { onQuestion: answer })
}

/** Answers in one way where this holds of the request, and otherwise in another. */
export const either =
  (
    holds: (request: ReceivedRequest) => boolean,
    one: Script | object,
    other: Script | object = json({}, 404),
  ): Script =>
  (request) =>
    scriptOf(holds(request) ? one : other)

/** The list of a server that tells of these models, at the usual path. */
export const list = (...data: readonly object[]) => ({ 'GET /v1/models': { object: 'list', data } })

/** The same of vLLM, which tells what it has loaded. */
export const vllm = (windowTokens: number, ...ids: string[]) =>
  list(...ids.map((id) => ({ id, owned_by: 'vllm', max_model_len: windowTokens })))

/** The same of a catalogue, which tells of one model. */
export const catalogue = (windowTokens: number) => list({ id: 'm', context_length: windowTokens })

/** What llama.cpp tells of itself. */
export const props = (windowTokens: number) => ({ default_generation_settings: { n_ctx: windowTokens } })

type Given = Partial<WindowQuestion> & { readonly path?: string }

/** A client with a credential of its own. */
export const bearer = (token: string): Given => ({
  credential: token,
  rawHeaders: ['Authorization', `Bearer ${token}`],
})

export type StandOptions = {
  readonly timeBoxMs?: number
  readonly settings?: Partial<GivenUpstream>
  readonly heldKeyMark?: HeldKeyMark
  readonly others?: Record<string, GivenUpstream>
}

/** Window discovery in front of an upstream. The clock only moves when told. */
function windowStand(url: string, given: StandOptions = {}) {
  const upstreams = upstreamsAt({ default: { url, ...given.settings }, ...given.others })
  const troubles: string[] = []
  const clock = { nowMs: 1_000_000 }
  const windows = createServerWindows({
    upstreams,
    nowMs: () => clock.nowMs,
    ...(given.heldKeyMark === undefined ? {} : { heldKeyMark: given.heldKeyMark }),
    onTrouble: (name: string, what: WindowTrouble) => troubles.push(`${name}: ${what}`),
    ...(given.timeBoxMs === undefined ? {} : { timeBoxMs: given.timeBoxMs }),
  })
  async function ask(model: string, rest?: Given): Promise<ServerWindow | null> {
    const asked = question(model, rest)
    windows.lookup(asked)
    await windows.settled(asked, LONG_MS)
    return windows.lookup(asked)
  }
  return {
    windows,
    question,
    troubles,
    clock,
    /** Asks as a first request does, and waits for the answer. */
    ask,
    /** The same, of which only the size is told. */
    tokens: async (model: string, rest?: Given) => (await ask(model, rest))?.tokens,
    /** Asks again as a refusal does, and waits for the answer. */
    refresh: async (model: string) => {
      windows.refresh(question(model))
      await windows.settled(question(model), LONG_MS)
      return windows.lookup(question(model))
    },
    /** What is known at once; asks where it is time to. */
    look: (model: string, rest?: Given) => windows.lookup(question(model, rest))?.tokens,
    shouldWait: (model: string, rest?: Given) => windows.shouldWait(question(model, rest)),
    /** Waits for what is being asked, for so long. */
    settled: async (model: string, waitMs = LONG_MS) => windows.settled(question(model), waitMs),
    [Symbol.asyncDispose]: async () => {
      await windows.close()
      await upstreams.destroy()
    },
  }
}

export type Discovery = Awaited<ReturnType<typeof discovery>>

/** A server that knows these endpoints, with window discovery in front of it at this path. */
export async function discovery(
  routes: Routes,
  given: StandOptions & { readonly otherwise?: Script; readonly base?: string } = {},
) {
  const { otherwise, base = '/v1', ...options } = given
  const server = await windowServer(routes, otherwise)
  const stand = windowStand(`${server.origin}${base}`, options)
  return {
    ...stand,
    server,
    /** What it was asked for, in order. */
    asked: (): readonly string[] => server.questions.map(({ url }) => url),
    [Symbol.asyncDispose]: async () => {
      await stand[Symbol.asyncDispose]()
      await server.close()
    },
  }
}

const scriptOf = (answer: Script | object): Script => (isScript(answer) ? answer : json(answer))

const question = (model: string, { path, ...rest }: Given = {}): WindowQuestion => ({
  upstream: null,
  credential: 'digest',
  model,
  target: parseTarget(path ?? '/v1/chat/completions'),
  rawHeaders: ['Authorization', 'Bearer client'],
  withholdCredential: false,
  ...rest,
})

/** Longer than any test. */
const LONG_MS = 60_000
