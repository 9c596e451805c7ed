import { describe, expect, test } from 'vitest'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { eventually } from '../../support/eventually.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'
import { developer, live, openBefore, openStand, readTool, thinkingReader, user, type Item } from './stand.ts'

// A server that leaves reasoning out of a prompt says so in its answer alone. An operator has to see whether that is
// Foldgate's doing, since it costs the model what it thought.

const WINDOW_TOKENS = 8_000

/** What of the metric there is, by cause and reason. */
async function counted(origin: string): Promise<Record<string, number>> {
  const families = parsePrometheusText((await askAdmin(origin, '/metrics')).text)
  const samples = families.get('foldgate_reasoning_removed_total')?.samples ?? []
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels['cause']} ${labels['reason']}`, value]),
  )
}

async function openCounting({ changesPrefix = true } = {}) {
  const admin = await adminPlace()
  const stand = await openStand({
    windowTokens: WINDOW_TOKENS,
    reply: thinkingReader(),
    changesPrefix,
    foldgate: { flags: admin.flags },
  })
  return { stand, origin: admin.origin, input: [user('Read every part.')] as Item[] }
}

describe.each([
  ['plain', false],
  ['streamed', true],
])('reasoning that the upstream removed is counted by whose doing it is, %s', (_, stream) => {
  test('none in a conversation that Foldgate compacts', async () => {
    const { stand, origin, input } = await openCounting({ changesPrefix: false })
    const answers = await live(stand, input, { rounds: 20, stream })
    expect(answers.at(-1)?.headers.get('x-foldgate-action')).toBe('compacted')
    expect(await counted(origin)).toEqual({})
  })

  test('a client that changes its own history was never compacted: it is the client’s', async () => {
    const { stand, origin, input } = await openCounting()
    await live(stand, input, { rounds: 3, stream })
    input[0] = user('Read every second part.')
    await live(stand, input, { rounds: 1, stream })
    await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': 3 }))
  })

  test('a client that changes its tools behind a compaction: it is the client’s, for as long as that compaction stands', async () => {
    const { stand, origin, input } = await openCounting()
    await live(stand, input, { rounds: 12, stream })
    const tools = [readTool, { ...readTool, name: 'write' }]
    const [changed, next] = await live(stand, input, { rounds: 2, stream, tools })
    for (const answer of [changed, next]) expect(answer?.headers.get('x-foldgate-action')).toBe('compacted')
    const removed = stand.upstream.requests.flatMap((request) => request.removed).length
    expect(removed).toBeGreaterThan(1)
    await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': removed }))
  })

  test('a client that asks another model: the reason has nothing to do with the prefix', async () => {
    const { stand, origin, input } = await openCounting()
    await live(stand, input, { rounds: 2, stream })
    await live(stand, input, { rounds: 1, stream, model: 'gpt-5.2' })
    await eventually(async () => expect(await counted(origin)).toEqual({ 'other model': 2 }))
  })

  test('one more tool, since the operator switched recall on: it is Foldgate’s, and is told', async () => {
    const { stand, input } = await openCounting()
    await live(stand, input, { rounds: 3, stream })
    const admin = await adminPlace()
    const recalling = { window: { tokens: WINDOW_TOKENS }, recall: { enabled: true } }
    const other = await openBefore(stand.upstream, recalling, { flags: admin.flags })
    const [answer] = await live(other, input, { rounds: 1, stream })
    const removed = stand.upstream.requests.at(-1)?.removed ?? []
    expect(removed).toHaveLength(3)
    await eventually(async () => {
      expect(await counted(admin.origin)).toEqual({ 'foldgate prefix': 3 })
      const { text } = await askAdmin(admin.origin, '/events?type=reasoning-removed')
      expect(JSON.parse(text)).toMatchObject({ events: [{ details: { items: 3, times: 1 } }] })
    })
    const told = other.foldgate.log.filter((line) => line.includes('left out reasoning'))
    expect(told).toHaveLength(1)
    expect(removed.some(({ id }) => other.foldgate.log.join().includes(id))).toBe(false)
    const id = answer?.headers.get('x-foldgate-conversation') ?? ''
    const page = await askAdmin(admin.origin, `/conversations/${id}`, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('Reasoning lost')
    expect(page.text).toContain('3, by Foldgate 3')
  })
})

test('leading developer messages are a part of what the client may change', async () => {
  const { stand, origin } = await openCounting()
  const input = [developer('It is noon.'), user('Read every part.')]
  await live(stand, input, { rounds: 12 })
  input[0] = developer('It is one.')
  await live(stand, input, { rounds: 1 })
  const removed = stand.upstream.requests.at(-1)?.removed.length ?? 0
  expect(removed).toBeGreaterThan(0)
  await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': removed }))
})
