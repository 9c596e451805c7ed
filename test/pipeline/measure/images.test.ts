import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { gif, jpeg, png, webp } from '../../support/images.ts'
import { standWith } from '../../support/stand.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { postChat, rawMessages } from '../../support/post-chat.ts'
import { READ_BYTES_MAX } from '../../../src/json/skipped-text.ts'

// In o200k_base `look` is one token and `hello world` two; a message costs four beside its content, the reply three.
const look = 4 + 1
const hello = 4 + 2
const priming = 3

/** A user message with a word and an image of so many bytes behind its header. */
function shows(header: Buffer, type: string, detail?: string, bytes = 3_000): TestMessage {
  const data = Buffer.concat([header, Buffer.alloc(bytes, header.length)]).toString('base64')
  const url = `data:${type};base64,${data}`
  return {
    role: 'user',
    content: [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } },
    ],
  }
}

const answer: TestMessage = { role: 'assistant', content: 'hello world' }

/** With gpt-4o: 85 and 170 a tile of 512, after fitting into 2,048 and shrinking the short side to 768. */
const images = [
  { message: shows(png(300, 200), 'image/png'), tokens: 85 + 170 },
  { message: shows(jpeg(4000, 3000, 60_000), 'image/jpeg', 'high', 400_000), tokens: 85 + 4 * 170 },
  { message: shows(webp('VP8X', 1920, 1080), 'image/webp'), tokens: 85 + 6 * 170 },
  { message: shows(gif(640, 480), 'image/gif', 'auto'), tokens: 85 + 2 * 170 },
  { message: shows(webp('VP8 ', 4000, 3000), 'image/webp', 'low'), tokens: 85 },
  { message: shows(webp('VP8L', 512, 512), 'IMAGE/WEBP'), tokens: 85 + 170 },
  {
    message: {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      ],
    },
    tokens: 1600,
  },
] as const

const conversation = images.flatMap(({ message }) => [message, answer]).slice(0, -1)
const conversationTokens =
  images.reduce((sum, { tokens }) => sum + look + tokens, 0) + (images.length - 1) * hello + priming

const chat = (messages: readonly TestMessage[], model = 'gpt-4o') => JSON.stringify({ model, messages })

describe('a conversation with images', () => {
  test('is counted by their pixels, and goes on as it came where it fits', async () => {
    const profile = { window: { tokens: 16_000, output_reserve: 1_024 } }
    await using stand = await standWith(completion('fine'), { profile })
    const body = chat(conversation)
    const reply = await postChat(stand.url, body)
    expect(reply.action).toBe('relayed')
    expect(reply.header('x-foldgate-tokens')).toBe(`${conversationTokens};sent=${conversationTokens}`)
    expect(stand.upstream.requests.at(-1)?.body.toString('utf8')).toBe(body)
  })

  test('is compacted where it does not fit; the images that stay, stay byte for byte', async () => {
    const profile = { window: { tokens: 4_500, output_reserve: 1_024 } }
    await using stand = await standWith(completion('fine'), { profile })
    const body = chat(conversation)
    const reply = await postChat(stand.url, body)
    expect(reply.action).toBe('compacted')
    const [incoming, sent] = (reply.header('x-foldgate-tokens') ?? '').split(';sent=').map(Number)
    expect(incoming).toBe(conversationTokens)
    expect(sent).toBeLessThanOrEqual(4_500 - 1_024)

    const before = cutRawRequest(body).messages
    const after = rawMessages(stand.upstream.requests.at(-1))
    expect(after.at(-1)).toBe(before.at(-1))
    const kept = after.filter((raw) => raw.includes(';base64,'))
    expect(kept.length).toBeGreaterThan(0)
    for (const raw of kept) expect(before).toContain(raw)
  })

  test.each([
    ['a deployment, whatever its name', '/openai/deployments/gpt-4/chat/completions?api-version=1'],
    ['an alias that tells no family', '/v1/chat/completions'],
  ])('is counted by the rules of the model that answers to %s', async (_what, path) => {
    // A picture behind a deployment of gpt-4o-mini was counted 1,376, and cost 25,501.
    const answered = completion('fine', {}, 'gpt-4o-mini-2024-07-18')
    await using stand = await standWith(answered, { profile: { window: { tokens: 128_000 } } })
    const { origin } = new URL(stand.url)
    const body = JSON.stringify({ model: 'our-vision', messages: [shows(png(1024, 1024), 'image/png')] })
    const tokensOf = async () => {
      const reply = await fetch(origin + path, { method: 'POST', body })
      await reply.text()
      return reply.headers.get('x-foldgate-tokens')
    }
    await tokensOf()
    const tokens = look + 2833 + 4 * 5667 + priming
    expect(await tokensOf()).toBe(`${tokens};sent=${tokens}`)
  })
})

// The attack: 60 MB of thoughts or of one text in one message were counted in one go, for up to fourteen seconds. What is
// read of a message is bounded; of the rest samples are counted, and whoever goes by a count is told so.

const long = 'seven words of which each is one '.repeat(Math.ceil((1.5 * READ_BYTES_MAX) / 33))
const small = { role: 'user', content: 'hello' }
const profile = { window: { tokens: 8_192 } }

const tokensIn = (header: string | null): number => Number.parseInt(header ?? '', 10)

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
