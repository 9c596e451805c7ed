import { describe, expect, test } from 'vitest'
import { ClientGoneError } from '../../src/errors.ts'
import { createHeavyWork, type HeavyTurn } from '../../src/scheduling/heavy-work.ts'
import type { Holder } from '../../src/scheduling/fair-share.ts'
import { completion } from '../support/fake-upstream.ts'
import { summaryStand, withheld } from '../pipeline/summaries/summary-stand.ts'
import { eventually } from '../support/eventually.ts'

const present = new AbortController().signal

const clientNamed = (name: string): Holder => ({ name, isAnswered: () => false, giveWay: () => {} })

const somebody = clientNamed('somebody')

describe('clients have their turns in turn', () => {
  test('one of each client, two at a time, and the next goes to whoever has waited for longest without one', async () => {
    const heavy = createHeavyWork({ bytesMin: 10 })
    const begun: { readonly name: string; readonly turn: HeavyTurn }[] = []
    for (const name of ['ada 1', 'ada 2', 'ada 3', 'ben 1', 'ben 2', 'cleo 1']) {
      const turn = heavy.begin(present, clientNamed(name.slice(0, -2)))
      void turn.take(10)?.then(() => begun.push({ name, turn }))
    }
    for (let ended = 0; ended < 6; ended += 1) {
      await new Promise(setImmediate)
      expect(begun.length).toBeLessThanOrEqual(ended + 2)
      begun[ended]?.turn.end()
    }
    expect(begun.map(({ name }) => name)).toEqual(['ada 1', 'ben 1', 'ada 2', 'ben 2', 'cleo 1', 'ada 3'])
  })
})

describe('a turn of one client is one at a time', () => {
  test('small work waits for none', async () => {
    const heavy = createHeavyWork({ bytesMin: 10 })
    await heavy.begin(present, somebody).take(10)
    expect(heavy.begin(present, somebody).take(9)).toBeNull()
  })

  test('a client that leaves while it waits takes no turn', async () => {
    const heavy = createHeavyWork({ bytesMin: 10 })
    const first = heavy.begin(present, somebody)
    await first.take(10)
    const client = new AbortController()
    const left = heavy.begin(client.signal, somebody).take(10)
    client.abort(new ClientGoneError())
    await expect(left).rejects.toThrow(ClientGoneError)
    first.end()
    await heavy.begin(present, somebody).take(10)
  })

  test('who waits for work that is done elsewhere lets others in, and goes on behind them', async () => {
    const heavy = createHeavyWork({ bytesMin: 10 })
    const first = heavy.begin(present, somebody)
    await first.take(10)
    const { promise: work, resolve: give } = Promise.withResolvers<string>()
    const told: string[] = []
    const aside = first.aside(work).then((result) => told.push(result))
    const second = heavy.begin(present, somebody)
    await second.take(10)
    give('from elsewhere')
    await new Promise(setImmediate)
    expect(told).toEqual([])
    second.end()
    await aside
    expect(told).toEqual(['from elsewhere'])
    first.end()
    await heavy.begin(present, somebody).take(10)
  })

  test('where such work fails, or its client leaves meanwhile, nothing is left behind', async () => {
    const heavy = createHeavyWork({ bytesMin: 10 })
    const client = new AbortController()
    const turn = heavy.begin(client.signal, somebody)
    await turn.take(10)
    await expect(turn.aside(Promise.reject(new Error('no model')))).rejects.toThrow('no model')
    await turn.take(10)
    const holder = heavy.begin(present, somebody)
    const aside = turn.aside(Promise.resolve(holder.take(10)))
    await new Promise(setImmediate)
    client.abort(new ClientGoneError())
    await expect(aside).rejects.toThrow(ClientGoneError)
    turn.end()
    holder.end()
    await heavy.begin(present, somebody).take(10)
  })
})

// It kept its turn for as long as its profile let it wait for a model, and every other long conversation with it.
test('a long conversation that waits for its summary holds up no other', async () => {
  const { give, quality } = withheld()
  await using stand = await summaryStand({
    windowTokens: 500_000,
    script: completion('fine'),
    model: { quality },
    profile: {
      preview: { threshold_tokens: 1_000_000 },
      summary: { mode: 'blocking', wait_ms: 5_000 },
    },
  })
  const waiting = stand.agent({ roundTokens: 210_000 })
  await waiting.turns(2)
  const due = waiting.turn()
  await eventually(() => expect(stand.model.calls).toHaveLength(1))
  const other = stand.agent({
    roundTokens: 150_000,
    authorization: 'Bearer another',
    task: 'Something else.',
  })
  const turns = await other.turns(2)
  expect(turns.map(({ status }) => status)).toEqual([200, 200])
  expect(stand.model.calls).toMatchObject([{ status: null }])
  give()
  // It had not given up waiting by then.
  expect(await due).toMatchObject({ status: 200, action: 'compacted', summary: 'ready' })
})
