import { expect, onTestFinished, test, vi } from 'vitest'
import { createOneAtATime } from '../../src/archive/one-at-a-time.ts'

const pause = (timeMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, timeMs))

// What had waited for others until shortly before its deadline was taken for something that hangs.
test('a folder that is only busy is not taken for one that hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const inTurn = createOneAtATime({ deadlineMs: 200 })
  const both = Promise.allSettled([inTurn(() => pause(150)), inTurn(() => pause(120))])
  await vi.advanceTimersByTimeAsync(200)
  const [first, second] = await both
  expect(first).toMatchObject({ status: 'fulfilled' })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'no answer' } })
  const third = inTurn(async () => 'done')
  await vi.advanceTimersByTimeAsync(70)
  expect(await third).toBe('done')
})
