import { createFairShare } from '../../src/scheduling/fair-share.ts'
import { madeBody } from '../../src/upstream/answer-body.ts'
import { createReports } from '../../src/telemetry/request-report.ts'
import { createFailures } from '../../src/telemetry/failures.ts'
import { fakeUpstream, type Script } from '../support/fake-upstream.ts'
import { type GivenUpstream, upstreamsAt } from '../support/upstream-settings.ts'
import { FoldgateError } from '../../src/errors.ts'
import { Lifecycle } from '../../src/server/drain.ts'
import type { ClientAnswer, ClientRequest } from '../../src/pipeline/client-request.ts'
import type { ArrivalLimits } from '../../src/server/receive-body.ts'
import { listen } from '../../src/server/listeners.ts'
import { relay, type RelayParts } from '../../src/pipeline/pass-on.ts'
import { createServer, type ServerOptions } from '../../src/server/server.ts'
import type { Upstreams } from '../../src/upstream/upstreams.ts'

export type ProxyOptions = {
  readonly upstreams?: Record<string, GivenUpstream>
  readonly settings?: Partial<Omit<ServerOptions['settings'], 'limits'>>
  readonly limits?: Partial<ServerOptions['settings']['limits']>
  readonly arrival?: Partial<ArrivalLimits>
  readonly bodyLimits?: Partial<ServerOptions['bodyLimits']>
  readonly handleConversation?: (request: ClientRequest, upstreams: Upstreams) => Promise<ClientAnswer>
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
  const upstreams = upstreamsAt({ default: { url: upstreamUrl }, ...options.upstreams })
  const failureless = createFailures(() => {})
  const parts: RelayParts = {
    upstreams,
    reports: createReports([], failureless),
    warnings: { uncompacted: () => {} },
    failures: failureless,
    nowMs: Date.now,
  }
  const { handleConversation } = options
  const server = createServer({
    settings: {
      host: '0.0.0.0',
      hosts: [],
      cors: { origins: [] },
      scope: { header: null },
      client_keys: [],
      ...options.settings,
      limits: { concurrent: 1_024, headers_s: 60, ...options.limits },
    },
    secret: Buffer.alloc(32, 7),
    upstreams,
    identity: 'secret-of-a-test',
    lifecycle,
    onTurnedAway: (error) => failures.push(error),
    onFailure: (error) => failures.push(error),
    bodyLimits: {
      bodyBytesMax: 64 * 1024 * 1024,
      budget: createFairShare({ max: 512 * 1024 * 1024 }),
      arrival: { silenceMs: 60_000, bytesPerSecondMin: 0, ...options.arrival },
      ...options.bodyLimits,
    },
    handle: (request) =>
      handleConversation === undefined || request.route.kind === 'relay'
        ? relay(request, parts)
        : handleConversation(request, upstreams),
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

/** An answer with this text, and nothing to be told of it. */
export function textAnswer(text: string): ClientAnswer {
  const answer: ClientAnswer['answer'] = {
    status: 200,
    statusText: 'OK',
    rawHeaders: [],
    body: madeBody([Buffer.from(text)]),
    address: 'nowhere',
    hint: null,
    failure: () => new FoldgateError('upstream_broken', 'It broke off.'),
  }
  return { answer, held: [], headers: {}, transform: null, tap: null, ended: () => {} }
}
