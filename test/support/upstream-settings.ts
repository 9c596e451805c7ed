import { Secret } from '../../src/config/secret.ts'
import type { UpstreamLimits } from '../../src/upstream/failure.ts'
import { openUpstreams, type Upstreams, type UpstreamSettings } from '../../src/upstream/upstreams.ts'

/** What is set of an upstream: its address, and what else is not as it is where nothing was set. */
export type GivenUpstream = Partial<Omit<UpstreamSettings, 'key'>> & {
  readonly url: string
  /** The key that Foldgate holds for it. */
  readonly key?: () => string
}

/** The way to these upstreams, by their names; of each of which nothing was set but its address, on the command line. */
export function upstreamsAt(
  given: Readonly<Record<string, GivenUpstream>>,
  limits: Partial<UpstreamLimits> = {},
  httpProxy = '',
): Upstreams {
  const upstreams = new Map(
    Object.entries(given).map(([name, { key, ...settings }]): [string, UpstreamSettings] => [
      name,
      {
        set_by: '--upstream',
        headers: {},
        concurrency: null,
        forward_client_key: false,
        ...settings,
        key: key === undefined ? null : { now: () => [new Secret(key())] },
      },
    ]),
  )
  return openUpstreams(
    { upstreams, limits: { connect_s: 5, first_byte_s: 60, idle_s: 60, ...limits } },
    { httpProxy, httpsProxy: '', noProxy: '' },
  )
}
