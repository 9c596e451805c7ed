import type { WindowTrouble } from '../../../src/models/discovery/ask-json.ts'
import type { HeldKeyMark } from '../../../src/upstream/held-key-marks.ts'
import { parseTarget } from '../../../src/upstream/target.ts'
import { createUpstreams, type UpstreamSettings } from '../../../src/upstream/upstreams.ts'
import {
  createServerWindows,
  type ServerWindow,
  type ServerWindows,
} from '../../../src/models/discovery/server-windows.ts'
import type { WindowQuestion } from '../../../src/models/discovery/window-question.ts'
import { fakeUpstream, json, silence, type FakeUpstream, type Script } from '../../support/fake-upstream.ts'

/** Answers by method and path, the query aside; a value that is no script is sent as JSON. */
export type Routes = Record<string, Script | object>

/** A server that knows these endpoints. `routes` may be changed while it runs. */
export async function windowServer(
  routes: Routes,
  otherwise: Script = json({ error: 'no such path' }, 404),
): Promise<FakeUpstream> {
  const answer: Script = (request, outgoing, incoming) => {
    const route = routes[`${request.method} ${request.url.split('?')[0] ?? ''}`]
    if (route === undefined) return otherwise(request, outgoing, incoming)
    const script = typeof route === 'function' ? route : json(route)
    return script(request, outgoing, incoming)
  }
  return fakeUpstream(silence, { onQuestion: answer })
}

export type WindowStand = {
  readonly windows: ServerWindows
  readonly question: (model: string, given?: Partial<WindowQuestion> & { path?: string }) => WindowQuestion
  /** Asks as a first request does, and waits for the answer. */
  readonly ask: (
    model: string,
    given?: Partial<WindowQuestion> & { path?: string },
  ) => Promise<ServerWindow | null>
  /** Asks again as a refusal does, and waits for the answer. */
  readonly refresh: (model: string) => Promise<ServerWindow | null>
  readonly troubles: string[]
  readonly clock: { nowMs: number }
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Window discovery in front of an upstream. The clock only moves when told. */
export function windowStand(
  url: string,
  given: {
    readonly timeBoxMs?: number
    readonly settings?: Partial<UpstreamSettings>
    readonly heldKeyMark?: HeldKeyMark
    readonly others?: Record<string, Partial<UpstreamSettings> & { url: string }>
  } = {},
): WindowStand {
  const plain = { key: null, headers: {}, concurrency: null, forward_client_key: false }
  const upstreams = createUpstreams({
    upstreams: {
      default: { ...plain, url, ...given.settings },
      ...Object.fromEntries(
        Object.entries(given.others ?? {}).map(([name, settings]) => [name, { ...plain, ...settings }]),
      ),
    },
    timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000 },
    proxies: { httpProxy: '', httpsProxy: '', noProxy: '' },
  })
  const troubles: string[] = []
  const clock = { nowMs: 1_000_000 }
  const windows = createServerWindows({
    upstreams,
    nowMs: () => clock.nowMs,
    ...(given.heldKeyMark === undefined ? {} : { heldKeyMark: given.heldKeyMark }),
    onTrouble: (name: string, what: WindowTrouble) => troubles.push(`${name}: ${what}`),
    ...(given.timeBoxMs === undefined ? {} : { timeBoxMs: given.timeBoxMs }),
  })
  return {
    windows,
    question,
    troubles,
    clock,
    ask: async (model, rest) => {
      const asked = question(model, rest)
      windows.lookup(asked)
      await windows.settled(asked, LONG_MS)
      return windows.lookup(asked)
    },
    refresh: async (model) => {
      windows.refresh(question(model))
      await windows.settled(question(model), LONG_MS)
      return windows.lookup(question(model))
    },
    [Symbol.asyncDispose]: async () => {
      await windows.close()
      await upstreams.destroy()
    },
  }
}

// --- internal ---

const question: WindowStand['question'] = (model, { path, ...rest } = {}) => ({
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
