/*
 * A gateway answered a detour with 429 and a page of HTML. Foldgate asked again without its tool, and left that page
 * unread: its connection stayed open, and behind an upstream with `concurrency: 1` the request waited for its own place.
 */
import { describe, expect, test } from 'vitest'
import { json, type Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { hasRecall, model, RECALL, type Asked } from './reply-script.ts'

const bash = { type: 'function', function: { name: 'bash', parameters: { type: 'object', properties: {} } } }
const hi = [{ role: 'user', content: 'Hi' }]
const settings = { upstreams: { default: { concurrency: 1 } } }

/** A refusal that is longer than what is read of one, and does not end. */
function endless(status: number): Script {
  return function refuseForever(_request, outgoing) {
    outgoing.writeHead(status, { 'content-type': 'application/json' })
    outgoing.write(`{"error":{"message":"${'No. '.repeat(100_000)}`)
  }
}

describe.each([400, 429])('a refusal with status %d that nobody reads', (status) => {
  test.each([
    ['plainly', {}],
    ['in a stream', { stream: true }],
  ])('is let go of where the model reads back, and keeps no place: %s', async (_, form) => {
    const refusing = model((asked) => {
      if (!hasRecall(asked)) return { text: 'ok' }
      return asked.messages.at(-1)?.role === 'tool'
        ? endless(status)
        : { calls: [{ name: RECALL, arguments: '{}' }] }
    })
    const profile = { recall: { enabled: true } }
    await using at = await standWith(refusing, { profile, settings })
    const reply = await postChat(at.url, chatOf(hi, { tools: [bash], ...form }))
    expect(reply.text).toContain('"stop"')
    await expect.poll(() => at.upstream.requests[1]?.left).toBe(true)
  })

  test('is let go of where the reply was cut', async () => {
    const refusing = model((asked) =>
      asked.messages.length > 1 ? endless(status) : { text: 'Half a', reason: 'length' },
    )
    await using at = await standWith(refusing, { profile: { continuation: { max: 1 } } })
    expect((await postChat(at.url, chatOf(hi))).text).toContain('Half a')
    await expect.poll(() => at.upstream.requests[1]?.left).toBe(true)
  })
})

// That the detour's refusal said nothing of usage was held against usage: the next request of the same reply went without,
// and its success taught that the server refuses to state usage in streams, for an hour.
test('a detour that is refused without a reason teaches nothing of usage', async () => {
  const refusing = model((asked) => {
    if (!hasRecall(asked)) return { text: 'ok' }
    return asked.messages.at(-1)?.role === 'tool'
      ? json({ error: { message: 'Bad request.' } }, 400)
      : { calls: [{ name: RECALL, arguments: '{}' }] }
  })
  const profile = { window: { tokens: 4_000 }, recall: { enabled: true } }
  await using at = await standWith(refusing, { profile })
  const long = Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${'reads rows and writes them. '.repeat(40)}`,
  }))
  const asked = chatOf([...long, ...hi], { tools: [bash], stream: true })
  for (const _ of [1, 2]) expect((await postChat(at.url, asked)).text).toContain('"stop"')
  const sent = at.upstream.requests.map(({ body }): Asked => JSON.parse(body.toString()))
  expect(sent.length).toBeGreaterThanOrEqual(6)
  expect(sent[0]?.messages.length).toBeLessThan(long.length)
  expect(sent.filter((each) => each.stream_options === undefined)).toEqual([])
})
