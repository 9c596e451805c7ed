import { standWith, type Stand } from '../support/stand.ts'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ruleBreaks } from '../support/strict-upstream/message-rules.ts'
import { openDice } from '../../src/commands/demo/dice.ts'
import { postChat, rawMessages, type ChatReply } from '../support/post-chat.ts'
import { brokenConversation, longRun, validConversation, type TestMessage } from '../support/conversations.ts'
import { completion, overflow } from '../support/fake-upstream.ts'
import { forAllAsync } from '../support/property-runs.ts'
import { times } from '../support/times.ts'

const stand = (profile: object, overflowing = false) =>
  standWith(overflowing ? overflow(900) : completion('fine'), { profile })

const windowTokens = fc.oneof(
  fc.constantFrom(1_000, 1_024, 2_048, 4_096),
  fc.integer({ min: 1_000, max: 20_000 }),
)
/** From one token to far more than any window has. */
const outputLimit = fc.option(
  fc.oneof(fc.constantFrom(1, 999, 1_000, 128_000, 1_000_000_000), fc.integer({ min: 1, max: 50_000 })),
)
const template = fc.constantFrom('lenient', 'strict', 'auto')

/** What has to hold for any request that an upstream accepts. */
function expectSound(at: Stand, messages: readonly TestMessage[], reply: ChatReply): void {
  expect(reply.status).toBe(200)
  expect(reply.action).toMatch(/^(?:relayed|compacted)$/)
  expect(at.foldgate.log.filter((line) => line.includes('a part of Foldgate failed'))).toEqual([])
  const received = at.upstream.requests.at(-1)
  const sent = rawMessages(received).map((text): unknown => JSON.parse(text))
  expect(sent.length).toBeGreaterThan(0)
  const made = ruleBreaks(sent, 'lenient').length
  expect(made).toBeLessThanOrEqual(ruleBreaks(messages, 'lenient').length)
}

/** A request that holds one conversation `times` times over, up to so many messages. */
const repeated = (messages: readonly TestMessage[], count: number): TestMessage[] =>
  times(count, (index) => messages[index % messages.length]).filter(
    (message): message is TestMessage => message !== undefined,
  )

describe('whatever a client sends', () => {
  const anything = fc.oneof(
    validConversation({ turnsMax: 8, textCharactersMax: 4_000 }),
    brokenConversation({ turnsMax: 8, textCharactersMax: 4_000 }),
  )

  test('is answered, made no worse, and nothing in Foldgate fails, in any window and under any output limit', async () => {
    await forAllAsync(
      30,
      anything,
      windowTokens,
      outputLimit,
      template,
      async (messages, tokens, limit, placement) => {
        await using at = await stand({ window: { tokens, output_reserve: 256 }, template: placement })
        const body = { model: 'm', messages, ...(limit === null ? {} : { max_tokens: limit }) }
        const reply = await postChat(at.foldgate.url, body)
        expectSound(at, messages, reply)
        expect(at.upstream.requests).toHaveLength(1)
        const received = at.upstream.requests[0]?.body.toString()
        if (reply.action === 'relayed') expect(received).toBe(JSON.stringify(body))
      },
    )
  })

  test('an upstream that refuses everything is asked a bounded number of times, and has the last word', async () => {
    await forAllAsync(20, anything, windowTokens, outputLimit, async (messages, tokens, limit) => {
      await using at = await stand({ window: { tokens } }, true)
      const body = { model: 'm', messages, ...(limit === null ? {} : { max_tokens: limit }) }
      const reply = await postChat(at.foldgate.url, body)
      expect(reply.status).toBe(400)
      expect(reply.text).toContain('context_length_exceeded')
      expect(at.upstream.requests.length).toBeLessThanOrEqual(4)
      expect(at.foldgate.log.filter((line) => line.includes('a part of Foldgate failed'))).toEqual([])
    })
  })
})

describe('a thousand messages', () => {
  let at: Stand
  beforeAll(async () => {
    at = await stand({ window: { tokens: 16_000, output_reserve: 1_024 } })
  })
  afterAll(async () => at[Symbol.asyncDispose]())

  const call = longRun(1, 4).filter(({ role }) => role === 'assistant')
  const seen = { role: 'tool', tool_call_id: 'call_1', content: 'seen '.repeat(40) }
  const empty = [
    { role: 'user', content: '' },
    { role: 'assistant', content: null },
  ]
  test.each<[string, TestMessage[]]>([
    ['of one long run', longRun(500, 3, 0.05).slice(0, 1_000)],
    ['of users only', repeated([{ role: 'user', content: 'And the next one, please?' }], 1_000)],
    ['of system messages only', repeated([{ role: 'system', content: 'Be brief.' }], 1_000)],
    ['of calls without results', repeated(call, 1_000)],
    ['of results without calls', repeated([seen], 1_000)],
    ['of one round again and again, under the same ids', repeated(longRun(1, 5, 0.2).slice(1), 1_000)],
    ['of empty contents', repeated(empty, 1_000)],
  ])('%s pass, cold and grown by a little', async (_name, messages) => {
    for (const sent of [messages, [...messages, { role: 'user', content: 'What now?' }]]) {
      const reply = await postChat(at.foldgate.url, { model: 'm', messages: sent })
      expect(reply.status).toBe(200)
      expectSound(at, sent, reply)
    }
  })

  test('of any kind pass, and so does a request beside them', async () => {
    const size = { textCharactersMax: 200 }
    const short = fc.oneof(validConversation(size), brokenConversation(size))
    const many = fc
      .tuple(fc.array(short, { minLength: 1, maxLength: 30 }), fc.nat({ max: 1_000_000 }))
      .map(([conversations, seed]) => {
        const dice = openDice(seed)
        const all = conversations.flat()
        return repeated(
          times(1_000, () => all.slice(dice.below(Math.max(1, all.length)))).flatMap((left) =>
            left.slice(0, 1),
          ),
          1_000,
        )
      })
      .filter((messages) => messages.length === 1_000)
    await forAllAsync(2, many, async (messages) => {
      const long = postChat(at.foldgate.url, { model: 'm', messages })
      const hello = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
      expect((await postChat(at.foldgate.url, hello)).status).toBe(200)
      const reply = await long
      expect(reply.status).toBe(200)
      expect(reply.action).toMatch(/^(?:relayed|compacted)$/)
      expect(at.foldgate.log.filter((line) => line.includes('a part of Foldgate failed'))).toEqual([])
    })
  })
})
