import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { describe, expect, test } from 'vitest'
import { statusSchema } from '../../src/telemetry/status.ts'
import { openRedisStore } from '../../src/storage/redis-store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import type { FoldgateOptions } from '../support/foldgate.ts'
import { growing, longRun } from '../support/conversations.ts'
import { eventually } from '../support/eventually.ts'
import { fakeRedis } from '../support/fake-redis.ts'
import { completion, events, json, overflow, type Script, silence } from '../support/fake-upstream.ts'
import { freePort } from '../support/free-port.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { cheapUpstream, startSummaryModel, withCheapSummaries } from '../support/summary-model.ts'
import { reportStand, type ReportStand } from './report/report-stand.ts'

// An outage did not show: of 143 requests 52 had failed, and the page said "Live" in green and what was saved. The log had
// no line for answers of 429 and 500, and of a Redis that had died it named a line of its client.

/** Where a Foldgate of these tests looks for profiles. */
const folder = fileURLToPath(new URL('../support/', import.meta.url))

const rootSchema = z.object({ version: z.string(), clients: z.string(), status: statusSchema })

async function statusOf(at: ReportStand) {
  const answer = await at.admin('/', { headers: { accept: 'application/json' } })
  return rootSchema.parse(JSON.parse(answer.text)).status
}

/** What is not well, without its times. */
const troublesOf = async (at: ReportStand): Promise<readonly string[]> =>
  (await statusOf(at)).troubles.map(({ kind, what, advice }) => `${kind}: ${what}: ${advice}`)

const pageOf = async (at: ReportStand): Promise<string> =>
  (await at.admin('/', { headers: { accept: 'text/html' } })).text

/** Lines of the log of this level, as objects. */
const logged = (at: ReportStand, level: 'warn' | 'error') =>
  at.foldgate.log.map((line) => JSON.parse(line)).filter((line) => line.level === level)

/** A model that the table knows, so that its window is no guess. */
const known = { model: 'gpt-4o' }

async function ask(at: ReportStand, times: number, more: object = known): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let time = 0; time < times; time += 1) {
    const body = chatOf([{ role: 'user', content: `PLANTED-WORDS ${time}` }], more)
    const reply = await postChat(at.url, body).catch(() => ({ status: 0 }))
    statuses.push(reply.status)
  }
  return statuses
}

const standWith = (script: Script | readonly Script[], options: Parameters<typeof reportStand>[1] = {}) =>
  reportStand(script, options)

test('a healthy day is all well, on the page, in JSON and in the log', async () => {
  await using at = await standWith(completion('fine'))
  await ask(at, 12)
  expect(await statusOf(at)).toEqual({ well: true, troubles: [] })
  const page = await pageOf(at)
  expect(page).toMatch(/<p id="status" class="status well"[^>]*>\s*All well\s*<\/p>/)
  expect(page).toMatch(/<section\s+id="troubles"[^>]*hidden/)
  expect([...logged(at, 'warn'), ...logged(at, 'error')]).toEqual([])
})

test('an upstream that is dead: each request is one of so many, and the log has one line', async () => {
  const upstream = `http://127.0.0.1:${await freePort()}/v1`
  await using at = await standWith(completion('never'), { upstream })
  expect(await ask(at, 5)).toEqual([502, 502, 502, 502, 502])
  await at.rows(5)
  expect(await troublesOf(at)).toEqual([
    `upstream: 5 of the last 5 requests failed: default (${upstream}) cannot be reached: check that it runs and that --upstream names it`,
  ])
  const page = await pageOf(at)
  expect(page).toMatch(/class="status bad"[^>]*>\s*<a href="#troubles">1 thing is not well<\/a>/)
  expect(page).toContain(
    `5 of the last 5 requests failed: default (${upstream}) cannot be reached</bdi> since <time`,
  )
  // Foldgate has refused nothing.
  expect(page).toContain('the upstream could not be reached')
  expect(page).not.toMatch(/refused: upstream/)
  const lines = logged(at, 'warn')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ code: 'upstream_unreachable', times: 1, user_agent: 'node' })
  expect(lines[0].why).toContain(`${upstream} cannot be reached (ECONNREFUSED). Check that it runs`)
  expect(at.foldgate.log.join('')).not.toMatch(/PLANTED|key-of-a-test/)
})

test('an upstream that breaks off in the middle of its answers', async () => {
  const begun = `data: ${JSON.stringify({ choices: [{ delta: { content: 'so' } }] })}\n\n`
  await using at = await standWith(events([begun], 'cut'))
  await ask(at, 3, { ...known, stream: true })
  await at.rows(3)
  expect(await troublesOf(at)).toEqual([
    `upstream: 3 of the last 3 requests failed: default (${at.upstream.url}) breaks off: see what its own log says`,
  ])
  expect(logged(at, 'warn').map(({ code }) => code)).toEqual(['upstream_broken'])
})

test.each([
  [429, 'rate-limit', 'limits rates (429): send less at a time'],
  [500, 'upstream', 'answers 500: see what its own log says'],
  [401, 'upstream', 'refuses the key (401): see whose key it gets: x-foldgate-hint'],
  [404, 'upstream', 'has no such path or model (404): check the model that clients ask for, and --upstream'],
])('an upstream that answers %i has words of its own, the log one line', async (status, what, told) => {
  await using at = await standWith(json({ error: { message: 'PLANTED-ANSWER' } }, status))
  expect(new Set(await ask(at, 5))).toEqual(new Set([status]))
  await at.rows(5)
  const troubles = await troublesOf(at)
  const line = `${what}: 5 of the last 5 requests failed: default (${at.upstream.url}) ${told}`
  expect(troubles).toEqual([expect.stringContaining(line)])
  expect(await pageOf(at)).toContain(`the upstream answered ${status}`)
  const lines = logged(at, 'warn').filter(({ message }) => message.startsWith('requests failed: default '))
  expect(lines).toEqual([expect.objectContaining({ upstream: 'default', status, times: 1 })])
  expect(at.foldgate.log.join('')).not.toMatch(/PLANTED|key-of-a-test/)
})

test('a minute later the log says how often it was', async () => {
  let nowMs = Date.UTC(2026, 10, 20, 12)
  await using at = await standWith(json({}, 429), { nowMs: () => nowMs })
  await ask(at, 30)
  await at.rows(30)
  nowMs += 60_000
  await ask(at, 1)
  await at.rows(31)
  expect(logged(at, 'warn').map(({ status, times }) => [status, times])).toEqual([
    [429, 1],
    [429, 30],
  ])
})

test('a store that could not be opened', async () => {
  const storeTrouble = 'redis://redis:6379 cannot be used (ECONNREFUSED): see that it runs'
  await using at = await standWith(completion('fine'), { storeTrouble })
  await ask(at, 1)
  expect(await troublesOf(at)).toEqual([
    `store: records are kept in memory, and end with the process,: ${storeTrouble}`,
  ])
})

async function redisStand(options: Omit<FoldgateOptions, 'upstream'> = {}) {
  const redis = await fakeRedis()
  const store = await openRedisStore({ url: redis.url, bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
  const at = await standWith(completion('fine'), { ...options, store })
  return {
    redis,
    store,
    at,
    [Symbol.asyncDispose]: async () => {
      await at[Symbol.asyncDispose]()
      await store.close()
      await redis.kill()
    },
  }
}

describe('a Redis', () => {
  test('that dies in the middle of work is told with its address, what follows and what to do; it comes back', async () => {
    let nowMs = Date.UTC(2026, 10, 20, 12)
    await using stand = await redisStand({ nowMs: () => nowMs })
    const { at, redis } = stand
    await ask(at, 2)
    await redis.kill()
    expect(await ask(at, 3)).toEqual([200, 200, 200])
    const advice =
      'requests go on without it, and what there is to tell of them waits in memory; see that the server runs, can be reached and takes writes'
    await eventually(async () =>
      expect(await troublesOf(at)).toEqual([
        `store: the store ${redis.name} fails (ECONNREFUSED): ${advice}`,
      ]),
    )
    const lines = logged(at, 'error')
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: `the store fails: ${advice}`,
        store: redis.name,
        part: 'store',
        reason: 'ECONNREFUSED',
      }),
    )
    expect(lines.filter((line) => 'error' in line)).toEqual([])
    expect(at.foldgate.log.join('')).not.toMatch(/PLANTED|node_modules/)
    await redis.restart()
    const before = redis.asked.commands
    await eventually(async () => {
      await ask(at, 1)
      expect(redis.asked.commands).toBeGreaterThan(before)
    })
    nowMs += 60_000
    expect((await statusOf(at)).well).toBe(true)
  })

  // What was on its way when the connection was given up was logged as a failure of the store, at every other stop.
  test('that answers a little later is waited for at a stop: nothing has failed', async () => {
    const stand = await redisStand()
    const { at, redis, store } = stand
    await ask(at, 2)
    redis.asked.delayMs = 60
    const written = store.put([{ key: 'late', value: 'value' }])
    const closed = store.close()
    await expect(written).resolves.toBeUndefined()
    await closed
    await stand[Symbol.asyncDispose]()
    expect(at.foldgate.log.join('')).not.toMatch(/DisconnectsClientError/)
  })
})

test('summaries that fail one after the other', async () => {
  await using summaries = await startSummaryModel({ quality: 'empty' })
  await using at = await standWith(completion('fine'), {
    profile: withCheapSummaries({
      window: { tokens: 6_000, output_reserve: 1_000 },
      clear: { enabled: false },
    }),
    upstreams: cheapUpstream(summaries),
  })
  for (const seed of [1, 2, 3]) {
    for (const messages of growing(longRun(10, seed))) await postChat(at.url, chatOf(messages, known))
    await summaries.quiet()
  }
  await eventually(async () =>
    expect((await troublesOf(at)).join()).toMatch(
      /summaries: \d of the last \d summaries failed \(empty\): recaps stand in their place/,
    ),
  )
})

test('a window that is filled by system text and tools: every request is compacted anew', async () => {
  await using at = await standWith(completion('fine'), {
    profile: { window: { tokens: 6_000, output_reserve: 1_000 }, recap: { tell: [] } },
  })
  const tools = Array.from({ length: 40 }, (_, number) => ({
    type: 'function',
    function: {
      name: `tool_${number}`,
      description: 'Does one thing, and says at length how it went. '.repeat(7),
    },
  }))
  const run = longRun(24, 5)
  for (const messages of [...growing(run)].slice(8))
    await postChat(at.url, chatOf(messages, { ...known, tools }))
  const found = (await troublesOf(at)).filter((line) => line.startsWith('compaction'))
  expect(found).toEqual([
    expect.stringMatching(
      /^compaction: \d+ of the last \d+ requests of gpt-4o had to be compacted, while system text \(\d+ tokens\) and tools \(\d,\d+\) fill \d+% of its budget,: raise window\.tokens/,
    ),
  ])
})

// The page's largest words were "The window of my-model at default (http://127.0.0.1:8080/v1) (128.": they ended at the comma of
// a number.
test('a window that had to be guessed', async () => {
  await using at = await standWith(completion('fine'))
  await ask(at, 1, { model: 'nobody-knows-this' })
  expect(await troublesOf(at)).toEqual([
    `window: requests meet a window that is a guess: nobody-knows-this at default (${at.upstream.url}) (128,000 tokens): write a profile into ${folder}profiles, with models: [NAME] and window: {tokens: NUMBER}`,
  ])
  // It is told, but nothing has failed: a newcomer's first page was red from side to side.
  expect(await pageOf(at)).not.toContain('<strong class="bad">')
})

// An archive whose disk was full, and a Foldgate that had no place free, stood under "All well": each kind of failure had to be
// brought to the status by itself, and these had not been.
test('an archive that cannot be written to', async () => {
  const file = join(await temporaryFolder({ file: '' }), 'file')
  await using at = await standWith(completion('fine'), {
    profile: { window: { tokens: 6_000, output_reserve: 1_000 } },
    settings: { archive: { dir: file } },
  })
  for (const messages of growing(longRun(10, 1))) await postChat(at.url, chatOf(messages, known))
  expect(await troublesOf(at)).toEqual([
    'foldgate: a part of Foldgate fails: archive (ENOTDIR): requests go on without it; see that its folder takes writes',
  ])
})

test('a Foldgate that has no place free', async () => {
  await using at = await standWith(silence, { settings: { limits: { concurrent: 1 } } })
  const leaving = new AbortController()
  const first = postChat(at.url, chatOf([{ role: 'user', content: 'first' }], known), {}, leaving.signal)
  await eventually(() => expect(at.upstream.requests).toHaveLength(1))
  expect(await ask(at, 3)).toEqual([503, 503, 503])
  expect(await troublesOf(at)).toEqual([
    'foldgate: 3 of the last 3 requests failed: Foldgate itself is full: raise limits.concurrent or limits.bytes_in_flight_mb, or send less at a time',
  ])
  leaving.abort()
  await expect(first).rejects.toThrow('aborted')
})

test('an overflow storm: the page says what failed before it says what was saved, and the log has one line', async () => {
  const refuse = overflow(6_000, 7_000)
  await using at = await standWith(
    (request) => (request.body.includes('PLANTED-WORDS') ? completion('fine') : refuse),
    { profile: { window: { tokens: 6_000, output_reserve: 1_000 } } },
  )
  for (const messages of growing(longRun(10, 1))) await postChat(at.url, chatOf(messages, known))
  await ask(at, 20)
  const rows = await at.rows(31)
  const failed = rows.filter(({ status }) => status === 400).length
  const what = `${failed} of the last ${rows.length} requests failed`
  const troubles = await troublesOf(at)
  expect(troubles).toEqual([
    expect.stringContaining(
      `overflow: ${what}: default (${at.upstream.url}) refuses prompts as too long, in every form:`,
    ),
  ])
  const statement = /<p class="statement">(.*?)<\/p>/s.exec(await pageOf(at))?.[1] ?? ''
  expect(statement.replaceAll(/<[^>]*>/g, '').trim()).toBe(
    `${what.replace(/^./, (first) => first.toUpperCase())}.`,
  )
  expect(logged(at, 'warn').map(({ message, ...facts }) => [message.split(':')[0], facts.times])).toEqual([
    ['requests failed', 1],
  ])
})
