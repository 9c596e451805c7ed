import { describe, expect, test } from 'vitest'
import type { Store } from '../../../src/storage/store.ts'
import { memoryStore } from '../../admin/memory.ts'
import { growing, longRun } from '../../support/conversations.ts'
import { json, overflow, type Script } from '../../support/fake-upstream.ts'
import { chatOf, postChat, type ChatReply } from '../../support/post-chat.ts'
import { reportStand } from './report-stand.ts'

const run = longRun(22, 6)
const profile = { window: { tokens: 6_000, output_reserve: 800 } }
const model = { model: 'gpt-4o' }

/** States no usage: what it would count of what is never sent nobody knows. */
const answering: Script = json({
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
})

/** A store that tells which kinds of records were written to it. */
function watchedStore() {
  const inner = memoryStore()
  const kinds = new Set<string>()
  const note = (key: string) => kinds.add(key.split(':')[0] ?? '')
  const putIfAbsent: Store['putIfAbsent'] = (key, ...rest) => {
    note(key)
    return inner.putIfAbsent(key, ...rest)
  }
  const put: Store['put'] = (entries) => {
    for (const { key } of entries) note(key)
    return inner.put(entries)
  }
  return { store: { ...inner, putIfAbsent, put }, kinds }
}

describe('a profile that only observes', () => {
  test('sends the client’s own bytes, whatever their size, and records no decision', async () => {
    const { store, kinds } = watchedStore()
    await using at = await reportStand(answering, { store, profile: { ...profile, observe: true } })
    const bodies: string[] = []
    for (const messages of growing(run)) {
      // A client's own spelling.
      const body = JSON.stringify({ ...chatOf(messages, model), stream: false }, null, 1)
      bodies.push(body)
      const reply = await postChat(at.url, body)
      expect(reply.action).toBe('relayed;reason=observe')
      expect(reply.header('x-foldgate-attempts')).toBe('1')
    }
    expect(at.upstream.requests.map(({ body }) => body.toString())).toEqual(bodies)
    const rows = await at.rows(bodies.length)
    expect(rows.some(({ observed_passes: passes }) => passes.length > 0)).toBe(true)
    for (const row of rows) {
      expect(row).toMatchObject({ action: 'relayed', reason: 'observe', passes: [], compaction: null })
      expect(row.tokens_sent).toBe(row.tokens_received)
    }
    expect(await at.events()).toEqual([])
    expect((await at.metrics()).by('foldgate_compactions_total', 'pass')).toEqual(new Map())
    // What was learnt is written a second later.
    await expect.poll(() => [...kinds].toSorted()).toEqual(['model', 'name', 'seen'])
  })

  // The numbers of an uncounted request are bounds, and the header said so of all but this one.
  test('asks no stream for its usage, and says of a small conversation that its size is a bound', async () => {
    await using at = await reportStand(answering, { profile: { ...profile, observe: true } })
    const body = JSON.stringify({ ...chatOf(run, model), stream: true })
    await postChat(at.url, body)
    expect(at.upstream.requests[0]?.body.toString()).toBe(body)
    const reply = await postChat(at.url, chatOf(run.slice(0, 2), model))
    const row = await at.row(2)
    expect(row.tokens_are_bounds).toBe(true)
    expect(reply.header('x-foldgate-observed')).toBe(`relayed;sent=<${row.observed_tokens_sent}`)
    expect(reply.header('x-foldgate-tokens')).toBe(`<${row.tokens_received};sent=<${row.tokens_sent}`)
  })

  // A refusal that was none of Foldgate's business stood in the journal as a recovery that had failed.
  test('recovers nothing: the refusal is the client’s, and no failed recovery', async () => {
    await using at = await reportStand(overflow(8_192, 12_500), { profile: { ...profile, observe: true } })
    const reply = await postChat(at.url, chatOf(run, model))
    expect([reply.status, reply.action]).toEqual([400, 'relayed;reason=observe'])
    expect(reply.text).toContain('maximum context length is 8192')
    expect(at.upstream.requests).toHaveLength(1)
    expect(await at.row()).toMatchObject({ status: 400, attempts: 1, beyond_window: true })
    const told = (await at.events()).filter(({ type }) => type !== 'window')
    expect(told).toMatchObject([{ type: 'refusal', reason: 'overflow' }])
    expect((await at.metrics()).by('foldgate_recoveries_total', 'outcome')).toEqual(new Map())
  })

  test('says what a Foldgate that does not only observe really does, request by request', async () => {
    const requests = await sideBySide()
    for (const { observed, done } of requests) expect(observed).toBe(done)
    expect(requests.filter(({ done }) => done.startsWith('compacted')).length).toBeGreaterThan(10)
  })

  // Who acts makes room for an odd limit and stays with what it recorded. Who observes has nothing on record, and derives the
  // past with the limit of each request (P6).
  test('and where limits change from request to request, what one does that has nothing on record', async () => {
    const requests = await sideBySide((number) => (number % 3 === 0 ? 1_500 : 200))
    const first = requests.findIndex(({ observed, done }) => observed !== done)
    expect(requests[first - 1]?.observed).toMatch(/^compacted/)
    expect(requests[first]?.observed).toMatch(/^relayed/)
    expect(requests[first]?.done).toMatch(/^compacted/)
  })
})

/** What is said of each request of the run by who observes, and what is done with it by who does not. */
async function sideBySide(outputTokens = (_number: number) => 1_000) {
  await using observing = await reportStand(answering, { profile: { ...profile, observe: true } })
  await using doing = await reportStand(answering, { profile })
  const requests: { readonly observed: string; readonly done: string }[] = []
  for (const messages of growing(run)) {
    const body = chatOf(messages, { ...model, max_tokens: outputTokens(requests.length) })
    const observed = (await postChat(observing.url, body)).header('x-foldgate-observed') ?? ''
    requests.push({ observed, done: doneOf(await postChat(doing.url, body)) })
  }
  return requests
}

/** What was done with a request, as who observes would say it. */
function doneOf({ action, header }: ChatReply): string {
  const passes = header('x-foldgate-passes')
  const sent = header('x-foldgate-tokens')?.split('sent=')[1]
  return `${action};sent=${sent}${passes === null ? '' : `;passes=${passes}`}`
}
