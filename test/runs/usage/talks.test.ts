import { expect, test } from 'vitest'
import { chosen, requestBody, talksBy, withAdded } from './talks.ts'

const talks = talksBy({ folder: null, file: null })

test('conversations take turns until each had its own, one of each file before a second one', () => {
  const sampling = { talksMax: 2, requestsMax: 100 }
  const seen = [0, 1, 2].map((turn) => chosen(talks, sampling, turn).map(({ id }) => id))
  expect(new Set(seen.flat()).size).toBe([...talks.values()].flat().length)
  for (const [one, other] of seen) expect(one).not.toBe(other)
})

test('of the requests the first ones are walked one after the other, and the last one always', () => {
  const [whole] = chosen(talks, { talksMax: 1, requestsMax: 1000 }, 0)
  const [some] = chosen(talks, { talksMax: 1, requestsMax: 10 }, 0)
  expect(some?.points).toHaveLength(10)
  expect(some?.points.slice(0, 5)).toEqual(whole?.points.slice(0, 5))
  expect(some?.points.at(-1)).toBe(whole?.points.at(-1))
})

test('a streamed request asks for usage only where its client does', () => {
  const [talk] = chosen(talks, { talksMax: 1, requestsMax: 10 }, 0)
  if (talk === undefined) throw new Error('no conversation was made')
  const bodyOf = (stream: 'no' | 'bare' | 'with-usage'): unknown =>
    JSON.parse(requestBody(talk, 2, { model: 'house-model', stream }).text)
  expect(bodyOf('no')).toMatchObject({ model: 'house-model', stream: false })
  expect(bodyOf('bare')).toMatchObject({ stream: true })
  expect(bodyOf('bare')).not.toHaveProperty('stream_options')
  expect(bodyOf('with-usage')).toMatchObject({ stream_options: { include_usage: true } })
})

test('thoughts that a client sends back stand in every reply, the same in every request', () => {
  const [talk] = chosen(talks, { talksMax: 1, requestsMax: 10 }, 0)
  if (talk === undefined) throw new Error('no conversation was made')
  const replies = withAdded(talk, 'thoughts').messages.filter(
    ({ message }) => message['role'] === 'assistant',
  )
  expect(replies.every(({ message }) => typeof message['reasoning_content'] === 'string')).toBe(true)
  expect(withAdded(talk, 'thoughts')).toEqual(withAdded(talk, 'thoughts'))
})
