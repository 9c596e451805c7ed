import { expect, test } from 'vitest'
import { createDeadline } from '../../src/stores/deadline.ts'
import { NoAnswerError } from '../../src/stores/within.ts'

const never = new Promise<never>(() => {})

test('each piece of work has the whole time, and what takes longer is given up', async () => {
  const inTime = createDeadline(40)
  const first = inTime(never)
  const ended: string[] = []
  const told = (name: string) => (error: unknown) => {
    expect(error).toBeInstanceOf(NoAnswerError)
    ended.push(name)
  }
  void first.catch(told('first'))
  await new Promise((resolve) => {
    setTimeout(resolve, 25)
  })
  const second = inTime(never, () => new NoAnswerError('the second'))
  void second.catch(told('second'))
  await expect(first).rejects.toThrow('no answer within the time')
  expect(ended).toEqual(['first'])
  await expect(second).rejects.toThrow('the second')
})

test('what is done in time comes through as it is, whatever else hangs', async () => {
  const inTime = createDeadline(30)
  const hung = inTime(never)
  hung.catch(() => {})
  expect(await inTime(Promise.resolve('here'))).toBe('here')
  await expect(inTime(Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  await expect(hung).rejects.toThrow(NoAnswerError)
  expect(await inTime(Promise.resolve('again'))).toBe('again')
})
