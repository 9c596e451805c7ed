import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runProbes } from '../../../src/models/discovery/probe-run.ts'
import { probesFor, type Probe } from '../../../src/models/discovery/probes.ts'
import { emptyReading, type Reading } from '../../../src/models/discovery/reading.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Everything that an unknown server could be: its list, and eleven addresses beside it. */
const sweep = probesFor('http://127.0.0.1:8080', '/v1')

/** A server that answers when it is told to. Tells what it was asked, in order. */
function runAtSlowServer(isDeniedToSome: (probe: Probe) => boolean = () => false) {
  const asked: string[] = []
  const answers = new Map<string, (reading: Reading) => void>()
  const { settled, ended } = runProbes(sweep, {
    read: (probe) => {
      asked.push(probe.name)
      const { promise, resolve } = Promise.withResolvers<Reading>()
      answers.set(probe.name, resolve)
      return promise
    },
    isDeniedToSome,
    onReading: () => {},
  })
  const answer = async (name: string | undefined, use: Reading['use'] = 'useless'): Promise<void> => {
    answers.get(name ?? '')?.(emptyReading(use))
    await vi.advanceTimersByTimeAsync(0)
  }
  return { asked, answer, settled, ended }
}

/** The list has been asked and keeps silent, so that the first of the others are asked. */
async function runWithSilentList() {
  const run = runAtSlowServer()
  await vi.advanceTimersByTimeAsync(HEAD_START_MS)
  return run
}

const HEAD_START_MS = 150
const PATIENCE_MS = 250

// A server of one thread answered twelve questions before the first chat, which took 2.6 s.
describe('a server that answers slowly is asked a few things at once', () => {
  test('the list at first, and nothing beside it for a moment', async () => {
    const { asked } = runAtSlowServer()
    await vi.advanceTimersByTimeAsync(HEAD_START_MS - 1)
    expect(asked).toEqual(['list'])
  })

  test('then three more, and another as soon as one of them is answered', async () => {
    const { asked, answer } = await runWithSilentList()
    expect(asked).toHaveLength(1 + 3)
    await answer(asked[2])
    expect(asked).toHaveLength(1 + 4)
    await answer(asked[1])
    expect(asked).toHaveLength(1 + 5)
  })

  test('questions that are never answered keep the others back for a moment each', async () => {
    const { asked, answer } = await runWithSilentList()
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1)
    expect(asked).toHaveLength(1 + 3)
    await vi.advanceTimersByTimeAsync(1)
    // Two more: the third, SGLang's, waits for what the list says.
    expect(asked).toHaveLength(1 + 5)
    await vi.advanceTimersByTimeAsync(3 * PATIENCE_MS)
    expect(asked).toHaveLength(sweep.length - 1)
    await answer('list')
    expect(asked.toSorted()).toEqual(sweep.map(({ name }) => name).toSorted())
  })

  test('once all are answered it is over, and no timer is left behind', async () => {
    const { asked, answer, settled, ended } = await runWithSilentList()
    for (let index = 0; index < sweep.length; index += 1) await answer(asked[index])
    await settled
    await ended
    expect(vi.getTimerCount()).toBe(0)
  })
})

// Made-up credentials would each have cost the server a dozen requests.
test('a credential that is denied the list is not tried on what others were denied', async () => {
  const { asked, answer, ended } = runAtSlowServer(() => true)
  await answer('list', 'denied')
  await vi.advanceTimersByTimeAsync(HEAD_START_MS)
  expect(asked).toEqual(['list'])
  await ended
})
