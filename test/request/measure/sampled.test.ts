import { expect, test } from 'vitest'
import { READ_BYTES_MAX } from '../../../src/conversation/unread.ts'
import { completion } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { postChat } from '../../support/post-chat.ts'

// The attack: 60 MB of thoughts or of one text in one message were counted in one go, for up to fourteen seconds. What is
// read of a message is bounded; of the rest samples are counted, and whoever goes by a count is told so.

const long = 'seven words of which each is one '.repeat(Math.ceil((1.5 * READ_BYTES_MAX) / 33))
const small = { role: 'user', content: 'hello' }
const profile = { window: { tokens: 8_192 } }

function tokensIn(header: string | null): number {
  return Number.parseInt(header ?? '', 10)
}

test('a message that is too long to be read whole is counted by samples, and the answer says so', async () => {
  await using stand = await standWith(completion('fine'), { profile })
  const body = { model: 'gpt-4o', messages: [small, { role: 'assistant', content: long }, small] }
  const reply = await postChat(stand.url, body)
  expect(reply.header('x-foldgate-action')).toBe('compacted')
  expect(reply.header('x-foldgate-sampled')).toBe('1')
  const words = long.split(' ').length - 1
  expect(tokensIn(reply.header('x-foldgate-tokens')) / words).toBeCloseTo(1, 1)
})

test('thoughts are counted so, too', async () => {
  await using stand = await standWith(completion('fine'), { profile })
  const thinking = { role: 'assistant', content: 'ok', reasoning_content: long }
  const reply = await postChat(stand.url, { model: 'gpt-4o', messages: [small, thinking, small] })
  expect(reply.header('x-foldgate-sampled')).toBe('1')
})

test('where all of it was read, no word is said of that', async () => {
  await using stand = await standWith(completion('fine'), { profile })
  const text = 'words '.repeat(12_000)
  const reply = await postChat(stand.url, { model: 'gpt-4o', messages: [{ role: 'user', content: text }] })
  expect(tokensIn(reply.header('x-foldgate-tokens'))).toBeGreaterThan(12_000)
  expect(reply.header('x-foldgate-sampled')).toBeNull()
})
