import { describe, expect, test } from 'vitest'
import { json, silence } from '../../support/fake-upstream.ts'
import { windowServer, windowStand, type Routes, type WindowStand } from './window-server.ts'

const HOUR_MS = 3_600_000

/** As a request does. */
async function wait(stand: WindowStand, model: string, waitMs: number): Promise<void> {
  stand.windows.lookup(stand.question(model))
  await stand.windows.settled(stand.question(model), waitMs)
}

const shouldWait = (stand: WindowStand, model: string) => stand.windows.shouldWait(stand.question(model))

// A server that took connections and answered nothing cost every request a second, not the first one: as long as
// nothing was answered, each one took itself for the first.
describe('a server that hangs costs one request its wait', () => {
  test('no second request of the model waits', async () => {
    await using server = await windowServer({}, silence)
    await using stand = windowStand(server.url, { timeBoxMs: HOUR_MS })
    expect(shouldWait(stand, 'm')).toBe(true)
    await wait(stand, 'm', 1)
    expect(shouldWait(stand, 'm')).toBe(false)
  })

  test('nor one of another model, until something was answered', async () => {
    const routes: Routes = {}
    await using server = await windowServer(routes, silence)
    await using stand = windowStand(server.url, { timeBoxMs: 50 })
    await wait(stand, 'm', 1)
    expect(shouldWait(stand, 'n')).toBe(false)
    // That it was given up is no answer.
    await wait(stand, 'm', HOUR_MS)
    expect(shouldWait(stand, 'n')).toBe(false)
    routes['GET /v1/models'] = { data: [{ id: 'm', context_length: 9000 }] }
    for (const path of ['/props', '/api/ps', '/info']) routes[`GET ${path}`] = json({}, 404)
    stand.clock.nowMs += HOUR_MS
    await wait(stand, 'm', HOUR_MS)
    stand.clock.nowMs += 2 * HOUR_MS
    expect(shouldWait(stand, 'n')).toBe(true)
  })

  test('another upstream is still waited for', async () => {
    await using hung = await windowServer({}, silence)
    await using well = await windowServer({})
    await using stand = windowStand(hung.url, { timeBoxMs: HOUR_MS, others: { well: { url: well.url } } })
    await wait(stand, 'm', 1)
    expect(stand.windows.shouldWait(stand.question('m', { upstream: 'well' }))).toBe(true)
  })

  test('requests that come while the first one waits wait with it', async () => {
    await using server = await windowServer({}, silence)
    await using stand = windowStand(server.url, { timeBoxMs: HOUR_MS })
    stand.windows.lookup(stand.question('m'))
    expect(shouldWait(stand, 'm')).toBe(true)
    expect(shouldWait(stand, 'n')).toBe(true)
  })
})
