import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/conversation/json-value.ts'
import { adminPlace, askAdmin } from '../../admin/ask-admin.ts'
import { eventually } from '../../support/eventually.ts'
import { parsePrometheusText } from '../../support/prometheus-text.ts'
import { live, openBefore, openStand, thinkingReader, user } from './stand.ts'

// A server that leaves thinking out of a prompt says so in its answer alone, in a stream in the first event.

/** What of the metric there is, by cause and reason. */
async function counted(origin: string): Promise<Record<string, number>> {
  const families = parsePrometheusText((await askAdmin(origin, '/metrics')).text)
  const samples = families.get('foldgate_reasoning_removed_total')?.samples ?? []
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels['cause']} ${labels['reason']}`, value]),
  )
}

async function openCounting() {
  const admin = await adminPlace()
  const stand = await openStand({
    windowTokens: 100_000,
    reply: thinkingReader(),
    binding: 'drop_block',
    profile: { window: { tokens: 8_000 } },
    foldgate: { flags: admin.flags },
  })
  const messages: JsonObject[] = [user('Read every part.')]
  return { stand, origin: admin.origin, messages }
}

describe.each([
  ['plain', false],
  ['streamed', true],
])('thinking that the upstream left out is counted by whose doing it is, %s', (_, stream) => {
  test('none in a conversation that Foldgate compacts, and a client’s own change behind that is the client’s', async () => {
    const { stand, origin, messages } = await openCounting()
    const answers = await live(stand, messages, { rounds: 16, stream })
    expect(answers.at(-1)?.headers.get('x-foldgate-action')).toBe('compacted')
    expect(await counted(origin)).toEqual({})
    await live(stand, messages, { rounds: 1, stream, system: 'It is noon.' })
    const dropped = stand.upstream.requests.at(-1)?.transformations.length ?? 0
    expect(dropped).toBeGreaterThan(0)
    await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': dropped }))
  })

  test('a client that changes a history that was never compacted: it is the client’s', async () => {
    const { stand, origin, messages } = await openCounting()
    await live(stand, messages, { rounds: 3, stream })
    messages[0] = user('Read every second part.')
    await live(stand, messages, { rounds: 1, stream })
    await eventually(async () => expect(await counted(origin)).toEqual({ 'client prefix': 3 }))
  })

  test('a conversation whose records are lost, so that it is compacted elsewhere: it is Foldgate’s, and is told', async () => {
    const { stand, messages } = await openCounting()
    await live(stand, messages, { rounds: 16, stream })
    const admin = await adminPlace()
    const other = await openBefore(stand.upstream, { window: { tokens: 11_000 } }, { flags: admin.flags })
    await live(other, messages, { rounds: 1, stream })
    const dropped = stand.upstream.requests.at(-1)?.transformations.length ?? 0
    expect(dropped).toBeGreaterThan(0)
    await eventually(async () => expect(await counted(admin.origin)).toEqual({ 'foldgate prefix': dropped }))
    expect(other.foldgate.log.filter((line) => line.includes('left out reasoning'))).toHaveLength(1)
  })
})
