import { describe, expect, test } from 'vitest'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { eventually } from '../../support/eventually.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'
import * as messages from '../messages/stand.ts'
import * as responses from '../responses/stand.ts'

// A server that leaves thoughts out of a prompt says so in its answer alone, in a stream in the first event. An operator has
// to see whether that is Foldgate's doing, since it costs the model what it thought.

const window = { tokens: 8_000 }
const task = 'Read every part.'

/** What of the metric there is, by cause and reason. */
async function counted(origin: string): Promise<Record<string, number>> {
  const families = parsePrometheusText((await askAdmin(origin, '/metrics')).text)
  const samples = families.get('foldgate_reasoning_removed_total')?.samples ?? []
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels['cause']} ${labels['reason']}`, value]),
  )
}

async function openMessages() {
  const { flags, origin } = await adminPlace()
  const stand = await messages.openStand({
    windowTokens: 100_000,
    reply: messages.thinkingReader(),
    binding: 'drop_block',
    profile: { window, target: 0.7 },
    foldgate: { flags },
  })
  return {
    stand,
    origin,
    history: [messages.user(task)],
    removed: () => stand.upstream.requests.at(-1)?.transformations.length ?? 0,
  }
}

async function openResponses() {
  const { flags, origin } = await adminPlace()
  const stand = await responses.openStand({
    windowTokens: 5_400,
    reply: responses.thinkingReader(),
    changesPrefix: true,
    foldgate: { flags },
  })
  return {
    stand,
    origin,
    history: [responses.user(task)],
    removed: () => stand.upstream.requests.at(-1)?.removed.length ?? 0,
  }
}

describe.each([
  ['plain', false],
  ['streamed', true],
])('thoughts that the upstream left out are counted by whose doing it is, %s', (_, stream) => {
  test('a client that changes a history that was never compacted: it is the client’s', async () => {
    const message = await openMessages()
    await messages.live(message.stand, message.history, { rounds: 3, stream })
    message.history[0] = messages.user('Read every second part.')
    await messages.live(message.stand, message.history, { rounds: 1, stream })
    const response = await openResponses()
    await responses.live(response.stand, response.history, { rounds: 3, stream })
    response.history[0] = responses.user('Read every second part.')
    await responses.live(response.stand, response.history, { rounds: 1, stream })
    for (const { origin } of [message, response])
      await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': 3 }))
  })
})

describe('in messages', () => {
  test('none in a conversation that Foldgate compacts, and a client’s own change behind that is the client’s', async () => {
    const { stand, origin, history, removed } = await openMessages()
    const answers = await messages.live(stand, history, { rounds: 16, stream: true })
    expect(answers.at(-1)?.headers.get('x-foldgate-action')).toBe('compacted')
    expect(await counted(origin)).toEqual({})
    await messages.live(stand, history, { rounds: 1, stream: true, system: 'It is noon.' })
    expect(removed()).toBeGreaterThan(0)
    await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': removed() }))
  })

  test('a conversation whose records are lost, so that it is compacted elsewhere: it is Foldgate’s, and is told', async () => {
    const { stand, history, removed } = await openMessages()
    await messages.live(stand, history, { rounds: 16 })
    const { flags, origin } = await adminPlace()
    const other = await messages.openBefore(stand.upstream, { window: { tokens: 11_000 } }, { flags })
    await messages.live(other, history, { rounds: 1 })
    expect(removed()).toBeGreaterThan(0)
    await eventually(async () => expect(await counted(origin)).toEqual({ 'foldgate prefix': removed() }))
    expect(other.foldgate.log.filter((line) => line.includes('left out reasoning'))).toHaveLength(1)
  })
})

const developer = (content: string) => ({ type: 'message', role: 'developer', content })

describe('in responses', () => {
  const tools = [responses.readTool, { ...responses.readTool, name: 'write' }]

  test.each([
    ['tools', { tools }, developer('It is noon.')],
    ['leading developer messages', {}, developer('It is one.')],
  ])(
    'a client that changes its %s behind a compaction: it is the client’s, for as long as that compaction stands',
    async (...[, fields, first]) => {
      const { stand, origin, history } = await openResponses()
      history.unshift(developer('It is noon.'))
      await responses.live(stand, history, { rounds: 12 })
      history[0] = first
      const changed = await responses.live(stand, history, { rounds: 2, ...fields })
      for (const answer of changed) expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
      const removed = stand.upstream.requests.flatMap((request) => request.removed).length
      expect(removed).toBeGreaterThan(1)
      await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': removed }))
    },
  )

  test('a client that asks another model: the reason has nothing to do with the prefix', async () => {
    const { stand, origin, history } = await openResponses()
    await responses.live(stand, history, { rounds: 2 })
    await responses.live(stand, history, { rounds: 1, model: 'gpt-5.2' })
    await eventually(async () => expect(await counted(origin)).toEqual({ 'other model': 2 }))
  })

  test('one more tool, since the operator switched recall on: it is Foldgate’s, and is told', async () => {
    const { stand, history } = await openResponses()
    await responses.live(stand, history, { rounds: 3, stream: true })
    const { flags, origin } = await adminPlace()
    const other = await responses.openBefore(stand.upstream, { window, recall: { enabled: true } }, { flags })
    const [answer] = await responses.live(other, history, { rounds: 1, stream: true })
    const removed = stand.upstream.requests.at(-1)?.removed ?? []
    expect(removed).toHaveLength(3)
    await eventually(async () => {
      expect(await counted(origin)).toEqual({ 'foldgate prefix': 3 })
      const { text } = await askAdmin(origin, '/events?type=reasoning-removed')
      expect(JSON.parse(text)).toMatchObject({ events: [{ details: { items: 3, times: 1 } }] })
    })
    const told = other.foldgate.log.filter((line) => line.includes('left out reasoning'))
    expect(told).toHaveLength(1)
    expect(removed.some(({ id }) => other.foldgate.log.join().includes(id))).toBe(false)
    const id = answer?.headers.get('x-foldgate-conversation') ?? ''
    const page = await askAdmin(origin, `/conversations/${id}`, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('Reasoning lost')
    expect(page.text).toContain('3, by Foldgate 3')
  })
})
