import { expect, onTestFinished, test } from 'vitest'
import type { HeldMessages } from '../../../src/activity/request-report.ts'
import type { Tracing } from '../../../src/activity/tracing/tracing.ts'
import { isCollected } from '../../support/collected.ts'
import { longRun } from '../../support/conversations.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand } from './report-stand.ts'

// What was to be told at the end of an answer was made beside the report and kept it, and with it the request's body and
// all that had been found out about it: an answer that flows for minutes held for as long what it needed no more.
test('while an answer flows, nothing keeps the messages of its request', async () => {
  let held: WeakRef<HeldMessages> | null = null
  const tracing: Tracing = {
    begun: (_, messages) => {
      if (messages !== null) held = new WeakRef(messages)
    },
    ended: () => {},
    summary: () => {},
    close: async () => {},
  }
  const flowing = Promise.withResolvers<void>()
  onTestFinished(() => flowing.resolve())
  await using at = await reportStand(
    async (_request, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(': there is more to come\n\n')
      await flowing.promise
      outgoing.end('data: [DONE]\n\n')
    },
    { tracing },
  )
  const asked = postChat(at.url, chatOf(longRun(60, 2), { model: 'gpt-4o', stream: true }))
  await expect.poll(() => held).not.toBeNull()
  expect(held !== null && (await isCollected(held))).toBe(true)
  flowing.resolve()
  expect((await asked).status).toBe(200)
})
