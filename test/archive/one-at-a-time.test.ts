import { expect, test } from 'vitest'
import { createOneAtATime } from '../../src/archive/one-at-a-time.ts'

const pause = (timeMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, timeMs))

// What had waited for others until shortly before its deadline was taken for something that hangs.
test('a folder that is only busy is not taken for one that hangs', async () => {
  const inTurn = createOneAtATime({ deadlineMs: 200 })
  const first = inTurn(() => pause(150))
  const second = inTurn(() => pause(120))
  await expect(second).rejects.toMatchObject({ code: 'no answer' })
  await first
  expect(await inTurn(async () => 'done')).toBe('done')
})
