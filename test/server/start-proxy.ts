import { createFailures } from '../../src/telemetry/failures.ts'
import { fakeUpstream, type Script } from '../support/fake-upstream.ts'
import type { FoldgateError } from '../../src/errors.ts'
import { Lifecycle } from '../../src/server/drain.ts'
import type { ClientRequest } from '../../src/server/client-request.ts'
import { createScopes } from '../../src/server/scope.ts'
import type { ArrivalLimits } from '../../src/server/arrival-clock.ts'
import { listen } from '../../src/server/listen.ts'
import { createRelay } from '../../src/server/relay.ts'
import { createServer, type ServerOptions } from '../../src/server/server.ts'
import { createUpstreams, type Upstreams, type UpstreamSettings } from '../../src/upstream/upstreams.ts'
import type { UpstreamTimeouts } from '../../src/upstream/failure.ts'

export type ProxyOptions = Partial<Omit<ServerOptions, 'handleConversation' | 'limits'>> & {
  readonly upstreams?: Record<string, Partial<UpstreamSettings> & { url: string }>
  readonly arrival?: Partial<ArrivalLimits>
  readonly timeouts?: Partial<UpstreamTimeouts>
  readonly limits?: Partial<ServerOptions['limits']>
  readonly handleConversation?: (exchange: ClientRequest, upstreams: Upstreams) => Promise<unknown>
}

export type TestProxy = Awaited<ReturnType<typeof startProxy>>

export type ProxyStand = Awaited<ReturnType<typeof proxyBefore>>

/** The same before an upstream of its own that plays a script; `await using` ends both. */
export async function proxyBefore(
  script: Script | readonly Script[],
  options: ProxyOptions & { readonly readBody?: boolean } = {},
) {
  const { readBody = true, ...more } = options
  const upstream = await fakeUpstream(script, { readBody })
  const proxy = await startProxy(upstream.url, more)
  return {
    ...proxy,
    upstream,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]()
      await upstream.close()
    },
  }
}

/** A server of the true parts on a free port; without `handleConversation`, chat completions are relayed too. */
export async function startProxy(upstreamUrl: string, options: ProxyOptions = {}) {
  const failures: FoldgateError[] = []
  const lifecycle = new Lifecycle()
  const settings: Record<string, UpstreamSettings> = {}
  for (const [name, given] of Object.entries({ default: { url: upstreamUrl }, ...options.upstreams })) {
    settings[name] = { key: null, headers: {}, concurrency: null, forward_client_key: false, ...given }
  }
  const upstreams = createUpstreams({
    upstreams: settings,
    timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000, ...options.timeouts },
    proxies: { httpProxy: '', httpsProxy: '', noProxy: '' },
  })
  const relay = createRelay({
    upstreams,
    reports: { begin: () => {}, end: () => {}, relayed: () => {} },
    arrival: { silenceMs: 60_000, bytesPerSecondMin: 0, ...options.arrival },
    failures: createFailures(() => {}),
    nowMs: Date.now,
    onFailure: (error) => failures.push(error),
  })
  const { handleConversation } = options
  const server = createServer({
    corsOrigins: [],
    hosts: [],
    clientKeys: [],
    guardsPages: false,
    identity: 'secret-of-a-test',
    hasUpstream: upstreams.has,
    scopeOf: createScopes({ secret: Buffer.alloc(32, 7), header: null }),
    lifecycle,
    relay,
    onTurnedAway: (error) => failures.push(error),
    onFailure: (error) => failures.push(error),
    ...options,
    limits: { concurrent: 1_024, headersMs: 60_000, ...options.limits },
    handleConversation:
      handleConversation === undefined
        ? (exchange) => relay(exchange)
        : (exchange) => handleConversation(exchange, upstreams),
  })
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { host: '--host', port: '--port' })
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    lifecycle,
    failures,
    server,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await upstreams.destroy()
    },
  }
}
