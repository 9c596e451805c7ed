import { expect, onTestFinished, test } from 'vitest'
import type { ConversationDetail } from '../../../src/telemetry/conversations/read-conversations.ts'
import type { HeldMessages } from '../../../src/telemetry/request-report.ts'
import type { Tracing } from '../../../src/telemetry/tracing/tracing.ts'
import { isCollected } from '../../support/eventually.ts'
import { words, round } from '../../support/counting-server.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { reportStand } from './report-stand.ts'

const user = (content: string): TestMessage => ({ role: 'user', content })
const rounds = (from: number, count: number): readonly TestMessage[] =>
  Array.from({ length: count }, (_, index) => round(from + index, words(450, from + index))).flat()

/** Turns of an agent, the later ones after many rounds, some with a rule in between. */
function* turns(): Generator<readonly TestMessage[]> {
  yield [{ role: 'system', content: 'You repair programs.' }, user('Repair what the nightly run breaks.')]
  for (let turn = 1; turn <= 4; turn += 1) {
    for (let part = 0; part < 4; part += 1) yield rounds(10 * turn + part, 1)
    yield [{ role: 'assistant', content: 'Done.' }, user(`Now the part ${turn}.`), user('And be quick.')]
    yield [{ role: 'assistant', content: 'I begin.' }, user(`Go on with ${turn}.`)]
  }
}

test.each(['lenient', 'strict'])(
  'the messages that the page shows are those that the upstream received (%s)',
  async (template) => {
    const window = { tokens: 4_000, output_reserve: 500 }
    await using at = await reportStand(completion('Done.'), {
      profile: { template, clear: { enabled: false }, recap: { max_tokens: 300 }, window },
      settings: { admin: { show_content: true } },
    })
    const messages: TestMessage[] = []
    const treatments = new Set<string>()
    for (const more of turns()) {
      messages.push(...more)
      const reply = await postChat(at.url, chatOf(messages))
      expect(reply.status).toBe(200)
      const id = reply.header('x-foldgate-conversation') ?? ''
      const detail: ConversationDetail = JSON.parse((await at.admin(`/conversations/${id}`)).text)
      const shown = (detail.messages ?? []).flatMap(({ sent }) => sent ?? [])
      expect(shown).toEqual(rawMessages(at.upstream.requests.at(-1)))
      const received = (detail.messages ?? []).flatMap(({ received: text }) => text ?? [])
      expect(received).toEqual(messages.map((message) => JSON.stringify(message)))
      for (const { treatment } of detail.messages ?? []) treatments.add(treatment)
    }
    expect(treatments).toContain('recap')
    if (template === 'strict') expect(treatments).toContain('joined')
  },
)

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
      outgoing.write('data: {"choices":[{"index":0,"delta":{"content":"More"},"finish_reason":null}]}\n\n')
      await flowing.promise
      outgoing.end('data: [DONE]\n\n')
    },
    { tracing },
  )
  const asked = postChat(at.url, chatOf(longRun(14, 2), { model: 'gpt-4o', stream: true }))
  await expect.poll(() => held).not.toBeNull()
  expect(held !== null && (await isCollected(held))).toBe(true)
  flowing.resolve()
  expect((await asked).status).toBe(200)
})
