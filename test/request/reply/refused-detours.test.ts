/*
 * A gateway answered a detour with 429 and a page of HTML. Foldgate asked again without its tool, and left that page
 * unread: its connection stayed open, and behind an upstream with `concurrency: 1` the request waited for its own place.
 */
import { describe, expect, test } from 'vitest'
import type { Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { hasRecall, model, RECALL } from './reply-script.ts'

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
