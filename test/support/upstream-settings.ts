import type { UpstreamSettings } from '../../src/upstream/upstreams.ts'

/** An upstream of which nothing was set but its address, on the command line. */
export const plainUpstream: Omit<UpstreamSettings, 'url'> = {
  set_by: '--upstream',
  key: null,
  headers: {},
  concurrency: null,
  forward_client_key: false,
}
