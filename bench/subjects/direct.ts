import type { Subject } from './subject.ts'

/** Nothing in between: what client and upstream cost by themselves. */
export function direct(upstreamOrigin: string): Subject {
  return {
    name: 'direct',
    origin: upstreamOrigin,
    pid: null,
    headers: {},
    startMs: null,
    stop: () => Promise.resolve(),
  }
}
