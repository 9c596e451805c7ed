import type { IncomingMessage, Server } from 'node:http'
import type { Settings } from '../config/settings.ts'
import { isLoopback } from '../config/web-address.ts'
import type { FoldgateError } from '../errors.ts'
import type { Log } from '../telemetry/log/log.ts'
import { createThrottle } from '../telemetry/log/throttle.ts'
import type { Warnings } from '../telemetry/log/warnings.ts'
import { createFairShare } from '../scheduling/fair-share.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { Lifecycle } from './drain.ts'
import type { ReceiveBodyOptions } from './receive-body.ts'
import { refusedFacts } from './answer-error.ts'
import { createScopes } from './scope.ts'
import { createServer, type ServerOptions } from './server.ts'

export type OpenHttpOptions = {
  readonly settings: Settings
  /** The installation's secret, under which scopes are told apart. */
  readonly secret: Buffer
  readonly upstreams: Upstreams
  readonly lifecycle: Lifecycle
  /** The secret by which this process proves that it is the one that has written it down. */
  readonly identity: string
  readonly warnings: Warnings
  readonly log: Log
  /** Called for every request that never got to a handler, and why. */
  readonly onTurnedAway: (error: FoldgateError) => void
  /** Called for every other error of Foldgate's own that a client gets. */
  readonly onFailure: (error: FoldgateError, incoming: IncomingMessage) => void
}

/** How requests of clients come in. */
export function openHttp(options: OpenHttpOptions) {
  const { settings, secret, upstreams, warnings, log } = options
  const { limits } = settings
  const idleMs = limits.idle_s === 0 ? ENDLESS_MS : limits.idle_s * 1000
  const timesTurnedAway = createThrottle(() => performance.now(), TURNED_AWAY_GAP_MS)
  const bodyLimits: ReceiveBodyOptions = {
    bodyBytesMax: limits.body_mb * MEGABYTE,
    budget: createFairShare({
      max: limits.bytes_in_flight_mb * MEGABYTE,
      crowdedFrom: CROWDED_BYTES,
    }),
    arrival: { silenceMs: idleMs, bytesPerSecondMin: limits.body_kb_per_s * 1024 },
  }
  return {
    bodyLimits,
    /** The listener, which does not listen yet. */
    serverFor: (handle: ServerOptions['handle']): Server =>
      createServer({
        ...options,
        onTurnedAway: (error, incoming) => {
          options.onTurnedAway(error)
          // Codex asks for one at its every start, and goes on over HTTP.
          if (error.code === 'upgrade_not_supported') {
            warnings.upgrade()
            return
          }
          const times = timesTurnedAway(error.code)
          if (times === 1) options.onFailure(error, incoming)
          else if (times !== null)
            log.warn('requests were refused', { ...refusedFacts(error, incoming), times })
        },
        limits: { concurrent: limits.concurrent, headersMs: limits.headers_s * 1000, stallMs: idleMs },
        bodyLimits,
        corsOrigins: settings.cors.origins,
        hosts: settings.hosts,
        clientKeys: settings.client_keys.map((clientKey) => ({ ...clientKey, keys: clientKey.key.now })),
        guardsPages: isLoopback(settings.host),
        hasUpstream: upstreams.has,
        scopeOf: createScopes({ secret, header: settings.scope.header }),
        handle,
      }),
  }
}

// --- internal ---

const MEGABYTE = 1024 * 1024

/** More than one agent has in flight, however long its conversation: memory counts for more than time then. */
const CROWDED_BYTES = 32 * MEGABYTE

/** How long the log only counts the same refusal, in milliseconds: anybody without a key may ask as often as he likes. */
const TURNED_AWAY_GAP_MS = 1_000

/** The longest time a timer can wait, in milliseconds: a limit of 0 is none. */
const ENDLESS_MS = 2 ** 31 - 1
