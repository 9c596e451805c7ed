import { expect, test } from 'vitest'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'

test('an app that ends lets the last traces go', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  let closed = 0
  const tracing = {
    ended: () => {},
    summary: () => {},
    close: async () => {
      closed += 1
    },
  }
  const foldgate = await startFoldgate({ upstream: upstream.url, tracing })
  expect(closed).toBe(0)
  await foldgate.close()
  expect(closed).toBe(1)
})
