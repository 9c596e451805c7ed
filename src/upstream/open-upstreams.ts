import type { Settings, ConfiguredUpstream } from '../config/settings.ts'
import type { HttpProxies } from './pools.ts'
import { createUpstreams, type Upstreams, type UpstreamsOptions } from './upstreams.ts'

/** Opens the way to the upstreams of the settings, their keys in hand. */
export function openUpstreams(
  { upstreams, limits }: Settings,
  proxies: HttpProxies,
  onKeyRefused?: UpstreamsOptions['onKeyRefused'],
): Upstreams {
  return createUpstreams({
    upstreams: Object.fromEntries(
      [...upstreams.values()].map((upstream) => [upstream.name, { ...upstream, key: heldKeyOf(upstream) }]),
    ),
    timeouts: {
      connectMs: limits.connect_s * 1000,
      firstByteMs: limits.first_byte_s * 1000,
      idleMs: limits.idle_s * 1000,
    },
    proxies,
    ...(onKeyRefused !== undefined && { onKeyRefused }),
  })
}

// --- internal ---

function heldKeyOf({ key }: ConfiguredUpstream): (() => string) | null {
  return key === null ? null : () => key.now()[0].reveal()
}
