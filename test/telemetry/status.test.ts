import { describe, expect, test } from 'vitest'
import type { Settings } from '../../src/config/settings.ts'
import type { BegunRow } from '../../src/telemetry/journal/rows.ts'
import type { HeldOutline, RequestReport } from '../../src/telemetry/request-report.ts'
import { httpStatusOf } from '../../src/errors.ts'
import { failingParts } from '../../src/telemetry/failures.ts'
import { createStatus, statusWords } from '../../src/telemetry/status.ts'
import { failedSummary, plainReport, writtenSummary } from './told-request.ts'

const MINUTE_MS = 60_000

const row = (changes: Partial<BegunRow>): BegunRow => plainReport({ window_source: 'table', ...changes }).row

const upstream = {
  key: null,
  headers: {},
  concurrency: null,
  forward_client_key: true,
  drops_client_key: false,
}
const upstreams: Settings['upstreams'] = new Map([
  ['default', { ...upstream, name: 'default', url: 'http://a/v1', set_by: 'FOLDGATE_UPSTREAM' }],
  ['cheap', { ...upstream, name: 'cheap', url: 'http://b', set_by: 'upstreams.cheap.url in foldgate.yaml' }],
])

/** A status at a clock that only the test moves, from noon on. */
function statusAtNoon(storeTrouble: string | null = null, profiles = '/etc/foldgate/profiles') {
  const clock = { nowMs: Date.UTC(2026, 10, 20, 12) }
  const settings = { upstreams, profiles }
  const status = createStatus(() => clock.nowMs, settings, 'redis://redis:6379', storeTrouble)
  return {
    ...status,
    pass: (milliseconds: number) => (clock.nowMs += milliseconds),
    /** So many requests that end like this, a second each. */
    end: (
      times: number,
      changes: Partial<BegunRow>,
      outcome: 'finished' | 'broken-off' = 'finished',
      refusal: RequestReport['refusal'] = null,
    ) => {
      for (let time = 0; time < times; time += 1) {
        status.ended({ row: row(changes), refusal }, outcome)
        clock.nowMs += 1_000
      }
    },
    /** The same of requests that get their answer. */
    begin: (
      times: number,
      changes: Partial<BegunRow>,
      around: HeldOutline['around'] | null = null,
      everyMs = 1_000,
    ) => {
      for (let time = 0; time < times; time += 1) {
        status.begun(row(changes), around)
        clock.nowMs += everyMs
      }
    },
    lines: () =>
      status
        .tell()
        .troubles.map(({ what, since, advice }) => `${what} since ${since.slice(11, 19)}: ${advice}`),
    kinds: () => status.tell().troubles.map(({ kind }) => kind),
  }
}

const unreachable = { action: 'refused', reason: 'upstream_unreachable', status: 502 } as const
const answered = (status: number) => ({ action: 'relayed', reason: null, status }) as const

test('all is well before anything has happened, and after requests that went well', () => {
  const at = statusAtNoon()
  expect([at.tell(), statusWords(at.tell())]).toEqual([{ well: true, troubles: [] }, 'All well'])
  at.begin(20, {})
  at.end(20, answered(200))
  expect(at.tell().well).toBe(true)
})

// An outage did not show: 52 of 143 requests had failed under a green "Live" and a sentence about savings.
describe('an upstream', () => {
  test('that is dead is told with its share, since when, and what to do', () => {
    const at = statusAtNoon()
    at.end(3, answered(200))
    at.pass(MINUTE_MS)
    at.end(21, unreachable)
    expect(at.lines()).toEqual([
      '21 of the last 21 requests failed: default (http://a/v1) cannot be reached since 12:01:03: check that it runs and that FOLDGATE_UPSTREAM names it',
    ])
    expect(statusWords(at.tell())).toBe('1 thing is not well')
  })

  test('is named with the setting that is its own, and each goes by itself', () => {
    const at = statusAtNoon()
    at.end(4, answered(200))
    at.end(1, { ...unreachable, upstream: 'cheap' })
    expect(at.lines()).toEqual([
      '1 of the last 1 requests failed: cheap (http://b) cannot be reached since 12:00:04: check that it runs and that upstreams.cheap.url in foldgate.yaml names it',
    ])
  })

  // Clients give up: a minute later the page would have been green again, and nobody had seen the upstream come back.
  test('that was not reached is not well again because nobody asks any more, but as soon as it answers', () => {
    const at = statusAtNoon()
    at.end(2, unreachable)
    at.pass(60 * MINUTE_MS)
    expect(at.lines()[0]).toContain(
      '2 of the last 2 requests failed: default (http://a/v1) cannot be reached since 12:00:00',
    )
    at.end(20, answered(200))
    expect(at.tell().well).toBe(true)
  })

  test('that is away for hours is away since its first failure', () => {
    const at = statusAtNoon()
    at.end(4_000, unreachable)
    expect(at.lines()[0]).toContain('cannot be reached since 12:00:00')
    expect(at.lines()[0]).toMatch(/^(?:59|60) of the last (?:59|60) requests/)
  })

  test('that limits rates has a sentence of its own, and what else fails is counted together', () => {
    const at = statusAtNoon()
    at.end(20, answered(200))
    at.end(10, answered(429))
    at.end(8, answered(500))
    at.end(5, answered(200), 'broken-off')
    at.end(2, answered(503))
    expect(at.kinds()).toEqual(['upstream', 'rate-limit'])
    expect(at.lines()).toEqual([
      '15 of the last 45 requests failed: default (http://a/v1) answers 500 since 12:00:30: see what its own log says',
      '10 of the last 45 requests failed: default (http://a/v1) limits rates (429) since 12:00:20: send less at a time (concurrency of the upstream), or have its limit raised',
    ])
    at.pass(MINUTE_MS)
    expect(at.tell().well).toBe(true)
  })

  test('is not at fault for what single clients send, for refusals of Foldgate’s own, or for clients that leave', () => {
    const at = statusAtNoon()
    at.end(10, answered(200))
    at.end(4, answered(400))
    at.end(10, { action: 'refused', reason: 'invalid_header', status: 400 })
    at.end(10, { action: 'left', reason: null, status: null })
    expect(at.tell().well).toBe(true)
    at.end(12, answered(400))
    expect(at.lines()[0]).toMatch(
      /^16 of the last 26 requests failed: default \S+ answers 400 since .*: its answers, which/,
    )
  })
})

// Three statuses at a third each stayed below the share of each, and every request failed under "All well". One request of one
// client was enough for the opposite, and an upstream that answered again was out of reach for a minute.
describe('how many are enough', () => {
  test('is counted over all refusals, and over all failures', () => {
    const at = statusAtNoon()
    for (let round = 0; round < 9; round += 1)
      for (const status of [400, 413, 422]) at.end(1, answered(status))
    expect(at.lines()[0]).toMatch(/^27 of the last 27 requests failed: default \S+ answers 4\d\d/)
    const other = statusAtNoon()
    for (const status of [500, 502, 503]) other.end(1, answered(status))
    other.end(17, answered(200))
    expect(other.lines()[0]).toMatch(/^3 of the last 20 requests failed/)
  })

  test('is not one alone, but for what no client is to blame for', () => {
    const at = statusAtNoon()
    at.end(1, answered(400))
    at.end(1, answered(500))
    at.end(1, answered(200), 'broken-off')
    expect(at.tell().well).toBe(true)
    at.end(1, answered(401))
    expect(at.lines()[0]).toMatch(/^1 of the last 4 requests failed: default \S+ refuses the key/)
  })

  test('of what cannot be reached is one after many answers, and it ends with the next', () => {
    const at = statusAtNoon()
    at.end(50, answered(200))
    at.end(1, unreachable)
    expect(at.lines()[0]).toMatch(/^1 of the last 51 requests failed: default \S+ cannot be reached/)
    at.end(30, unreachable)
    at.end(1, answered(200))
    expect(at.tell().well).toBe(true)
  })

  test('is of each upstream, whatever models clients name meanwhile', () => {
    const at = statusAtNoon()
    at.end(3, { ...unreachable, upstream: 'cheap' })
    at.begin(400, { model: 'made-up' })
    for (let number = 0; number < 400; number += 1)
      at.begin(1, { model: `m${number}`, compaction: 'trigger' }, null, 0)
    expect(at.lines().some((line) => line.includes('cheap (http://b) cannot be reached'))).toBe(true)
  })
})

describe('a store', () => {
  test('that could not be opened is told since the start, with what to do', () => {
    const trouble = 'redis://redis:6379 cannot be used (ECONNREFUSED): see that it runs'
    expect(statusAtNoon(trouble).lines()).toEqual([
      `records are kept in memory, and end with the process, since 12:00:00: ${trouble}`,
    ])
  })

  test('that fails in the middle of work is told while it does, and of a later time since then', () => {
    const at = statusAtNoon()
    for (let time = 0; time < 30; time += 1) {
      at.failed('store', 'ECONNREFUSED')
      at.pass(10_000)
    }
    expect(at.lines()).toEqual([
      'the store redis://redis:6379 fails (ECONNREFUSED) since 12:00:00: requests go on without it, and what there is to tell of them waits in memory; see that the server runs, can be reached and takes writes',
    ])
    at.pass(MINUTE_MS)
    expect(at.tell().well).toBe(true)
    at.failed('store', 'OOM')
    expect(at.lines()[0]).toContain('fails (OOM) since 12:06:00')
  })
})

// Of all that can fail the status knew the store and the upstream: an archive on a full disk, a Foldgate without a free place
// and a fault of its own in each request stood under "All well".
describe('Foldgate itself', () => {
  test.each(failingParts.filter((part) => part !== 'store'))(
    'a part of it that fails is told: %s',
    (part) => {
      const at = statusAtNoon()
      at.failed(part, part === 'archive' ? 'ENOSPC' : null)
      expect(at.lines()).toEqual([
        part === 'archive'
          ? 'a part of Foldgate fails: archive (ENOSPC) since 12:00:00: requests go on without it; see that its folder takes writes'
          : `a part of Foldgate fails: ${part} since 12:00:00: requests go on without it; report what the log says of it`,
      ])
      expect(at.kinds()).toEqual(['foldgate'])
      at.pass(11 * MINUTE_MS)
      expect(at.tell().well).toBe(true)
    },
  )

  const own = Object.entries(httpStatusOf).filter(([code]) => !code.startsWith('upstream_'))
  test.each(own)('what it refuses is told if its status is a server’s fault: %s', (code, status) => {
    const [gate, handler] = [statusAtNoon(), statusAtNoon()]
    for (const at of [gate, handler]) at.end(9, answered(200))
    for (let time = 0; time < 3; time += 1) gate.refused(code, status)
    handler.end(3, { action: 'refused', reason: code, status })
    for (const at of [gate, handler]) {
      expect(at.kinds()).toEqual(status >= 500 ? ['foldgate'] : [])
      const what = `3 of the last 12 requests failed: Foldgate itself ${code === 'overloaded' ? 'is full' : `answers ${code}`} since`
      if (status >= 500) expect(at.lines()[0]).toContain(what)
    }
  })

  test('one that is full says which limits hold it, and is well once it has places again', () => {
    const at = statusAtNoon()
    for (let time = 0; time < 5; time += 1) at.refused('overloaded', 503)
    expect(at.lines()[0]).toContain('raise limits.concurrent or limits.bytes_in_flight_mb')
    at.end(60, answered(200))
    expect(at.tell().well).toBe(true)
  })
})

// Most requests of a model were refused as too long, however small they were made: "All well" as long as they were fewer than
// half of all, then "default answers 400: its answers say why". And where each was sent twice it was "All well" with success.
describe('an overflow', () => {
  const model = { model: 'qwen3:8b' }
  const advice =
    'write a profile into /etc/foldgate/profiles, with models: [NAME] and window: {tokens: NUMBER}'

  test('that stands is told from the third on, in whatever share of the requests to its upstream', () => {
    const at = statusAtNoon()
    at.end(40, { ...answered(200), model: 'other' })
    at.end(2, { ...answered(400), ...model }, 'finished', 'overflow')
    expect(at.tell().well).toBe(true)
    at.end(1, { ...answered(400), ...model }, 'finished', 'overflow')
    expect(at.kinds()).toEqual(['overflow'])
    expect(at.lines()).toEqual([
      `3 of the last 43 requests failed: default (http://a/v1) refuses prompts as too long, in every form since 12:00:40: its answers say how much it takes: ${advice.replace('NAME', '"qwen3:8b"')}`,
    ])
  })

  // The model was written into the path of the folder: "/srv/"qwen3:8b"/profiles, with models: [NAME]".
  test('is told with the folder of profiles, whatever that is called', () => {
    const at = statusAtNoon(null, '/srv/NAME/profiles')
    at.end(3, { ...answered(400), ...model }, 'finished', 'overflow')
    expect(at.lines()[0]).toContain('write a profile into /srv/NAME/profiles, with models: ["qwen3:8b"] and')
  })

  test('that most requests meet is told although they were answered in the end; one now and then is not', () => {
    const at = statusAtNoon()
    const recovered = { ...answered(200), ...model, action: 'recovered' } as const
    at.begin(2, recovered)
    at.begin(8, { ...answered(200), ...model })
    expect(at.tell().well).toBe(true)
    at.begin(6, recovered)
    expect(at.lines()).toEqual([
      `8 of the last 16 requests of qwen3:8b had to be sent twice: too long for default (http://a/v1) at first, since 12:00:10: ${advice}`,
    ])
  })
})

test('summaries are told when most of them fail; one that fails, and those that are given up, are not', () => {
  const at = statusAtNoon()
  at.summary(failedSummary('declined'))
  for (let time = 0; time < 9; time += 1) at.summary(failedSummary('cancelled'))
  expect(at.tell().well).toBe(true)
  at.summary(writtenSummary())
  at.summary(failedSummary('unauthorized'))
  expect(at.lines()[0]).toContain(
    '2 of the last 3 summaries failed (unauthorized) since 12:00:00: recaps stand',
  )
  for (let time = 0; time < 3; time += 1) at.summary(writtenSummary())
  expect(at.tell().well).toBe(true)
})

describe('a model', () => {
  const around = { tools: { tokens: 5_800, bytes: 20_000 }, system: { tokens: 1_200, bytes: 5_000 } }
  const pressed = { model: 'qwen3:8b', budget_tokens: 8_000, compaction: 'trigger' }

  test('whose nearly every request is compacted is told with what fills its window', () => {
    const at = statusAtNoon()
    // A local model takes a minute for an answer.
    at.begin(4, pressed, around, MINUTE_MS)
    expect(at.tell().well).toBe(true)
    at.begin(1, { ...pressed, compaction: null }, around, MINUTE_MS)
    at.begin(4, pressed, { ...around, system: { tokens: 1_400, bytes: 6_000 } }, MINUTE_MS)
    expect(at.lines()).toEqual([
      '8 of the last 9 requests of qwen3:8b had to be compacted, while system text (1,400 tokens) and tools (5,800) fill 90% of its budget, since 12:05:00: raise window.tokens, lower target in its profile, or give the agent fewer tools',
    ])
  })

  test('that is compacted now and then, because it was asked for, or by the settings, is well', () => {
    const at = statusAtNoon()
    for (let time = 0; time < 10; time += 1) {
      at.begin(1, pressed, around)
      at.begin(1, { ...pressed, compaction: null }, around)
    }
    at.begin(20, { model: 'other', compaction: 'forced' }, around)
    at.begin(20, { model: 'other', compaction: 'every' }, around)
    expect(at.tell().well).toBe(true)
  })

  test('whose window is a guess is told until it is known, unless it only ever failed', () => {
    const at = statusAtNoon()
    at.begin(1, { model: 'nobody-knows', window_source: 'default', window_tokens: 128_000, status: 404 })
    expect(at.tell().well).toBe(true)
    at.begin(2, { model: 'nobody-knows', window_source: 'default', window_tokens: 128_000 })
    expect(at.lines()).toEqual([
      'requests meet a window that is a guess: nobody-knows at default (http://a/v1) (128,000 tokens) since 12:00:01: write a profile into /etc/foldgate/profiles, with models: [NAME] and window: {tokens: NUMBER}',
    ])
    at.begin(1, { model: 'nobody-knows', window_source: 'config' })
    expect(at.tell().well).toBe(true)
  })

  test('may be named as clients like: neither memory nor the status grows with that', () => {
    const at = statusAtNoon()
    for (let number = 0; number < 300; number += 1)
      at.begin(1, { model: `${'x'.repeat(1_000)}${number}`, window_source: 'default' }, null, 1)
    for (let number = 0; number < 300; number += 1)
      at.begin(1, { model: `${number}`, window_source: 'default' }, null, 1)
    expect(at.lines()).toHaveLength(1)
    expect(at.lines()[0]).toMatch(/^requests meet a window that is a guess: 299 .* and 297 more since/)
    expect(JSON.stringify(at.tell()).length).toBeLessThan(3_000)
  })
})
