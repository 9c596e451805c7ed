import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { growing, validConversation, type TestMessage } from '../../support/conversations.ts'
import { profileOf } from '../../support/subject.ts'
import { rawSubject } from '../raw-subject.ts'
import { assistant, prose, rounds, send, system, user, type Sent } from '../sending.ts'
import { forAll } from '../../support/property-runs.ts'
import { times } from '../../support/times.ts'

/** Rounds that a fold has to take away, and the answer that ends a turn, as a client spells them. */
const work = (prefix: string): string[] =>
  [...rounds(prefix, 8, 300), assistant(`Done with ${prefix}.`)].map((message) => JSON.stringify(message))

const image = '{"type":"image_url","image_url":{"url":"https://images.example/a.png","n":1e400}}'

/** What is sent under strict placement for a task, work to be folded and what follows it. */
function sendStrict(task: string, after: readonly string[] = [], budgetTokens = 1800): Sent {
  const profile = profileOf({ clear: { enabled: false }, keep: { recent_messages: 2 } })
  return send(rawSubject([task, ...work('a'), ...after]), { budgetTokens, profile, strict: true })
}

describe('under strict placement a recap is joined with the user message it meets', () => {
  // A recap told three people's words under the name of the first, since both stood in one message.
  test('the joined message has the fields of the client’s but its name, which stands before its text, and both texts', () => {
    const { texts, messages } = sendStrict(
      '{"name":"ann","content":"Repair it.","role":"user","x":1e400,"y":{"a":1,"a":2}}',
    )
    expect(texts[0]).toMatch(/^\{"content":"ann: Repair it\.\\n\\n<conversation-recap>/)
    expect(texts[0]).toMatch(/<\/conversation-recap>","role":"user","x":1e400,"y":\{"a":1,"a":2\}\}$/)
    expect(messages[1]?.role).toBe('assistant')
  })

  test('the client’s text keeps its spelling', () => {
    const spelt = String.raw`caf\u00e9 \/ \ud83d\ude00 é \u003c`
    expect(sendStrict(`{"role":"user","content":"${spelt}"}`).texts[0]).toContain(
      `"${spelt}\\n\\n<conversation-recap>`,
    )
  })

  test('parts stay parts, as they are spelt, and the recap is one more', () => {
    const parts = `{ "text":"Repair \\u00e9", "cache_control":{"type":"ephemeral"}, "type":"text"},${image}`
    const { texts } = sendStrict(`{"role":"user","content":[${parts}]}`)
    expect(texts[0]).toContain(
      `{"role":"user","content":[${parts},{"type":"text","text":"<conversation-recap>`,
    )
  })

  test('a text stays a text where the others are texts in parts, in their spelling', () => {
    const later = '{"role":"user","content":[{"type":"text","text":"Now caf\\u00e9 \\/ too."}]}'
    const { texts, messages } = sendStrict('{"role":"user","content":"Repair it."}', [later, ...work('b')])
    expect(messages[0]?.content).toBeTypeOf('string')
    expect(texts[0]).toContain('\\n\\nNow caf\\u00e9 \\/ too.\\n\\n')
  })

  test('a text becomes parts where another message has an image', () => {
    const later = `{"role":"user","content":[{"type":"text","text":"Like this."},${image}]}`
    const { texts, messages } = sendStrict('{"role":"user","content":"Repair \\u00e9."}', [
      later,
      ...work('b'),
    ])
    expect(texts[0]).toContain('"content":[{"type":"text","text":"Repair \\u00e9."},')
    expect(texts[0]).toContain(`{"type":"text","text":"Like this."},${image}`)
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  test('everything that meets becomes one message, in the order of the view', () => {
    const { messages, contents } = sendStrict('{"role":"user","content":"The task."}', [
      '{"role":"user","content":"The latest."}',
      ...work('b'),
    ])
    expect(contents[0]).toMatch(
      /^The task\.\n\n<conversation-recap>[^]*<\/conversation-recap>\n\nThe latest\.\n\n<conversation-recap>[^]*<\/conversation-recap>$/,
    )
    expect(messages[1]?.role).toBe('assistant')
  })

  test('a task that had to be cut keeps its other fields as they were spelt', () => {
    const task = `{"role":"user","content":"${prose('task', 3000)}","x":1e400,"y":{"a":1,"a":2},"z":12345678901234567890}`
    const { texts, passes } = sendStrict(task, ['{"role":"user","content":"Go on."}', ...work('b')], 1500)
    expect(passes).toContain('clip')
    expect(texts[0]).toMatch(/^\{"role":"user","content":"task.*Go on\./)
    expect(texts[0]).toMatch(/","x":1e400,"y":\{"a":1,"a":2\},"z":12345678901234567890\}$/)
  })
})

test('user messages that meet anew are not joined under lenient placement', () => {
  const conversation = [user('The task.'), ...rounds('a', 8, 300), assistant('Done.'), user('The latest.')]
  const { messages } = send(conversation, { budgetTokens: 1500, strict: false })
  expect(messages.filter(({ role }) => role === 'user').length).toBeGreaterThan(1)
})

describe('what the client sent side by side', () => {
  const pair = [user('One more thing.'), user('And another.')]

  test('stays so while nothing is changed', () => {
    const conversation = [...pair, assistant('Yes.'), ...pair]
    const { texts } = send(conversation, { budgetTokens: 50_000, strict: true })
    expect(texts).toEqual(conversation.map((message) => JSON.stringify(message)))
  })

  test('stays so where a compaction changes other messages', () => {
    const conversation = [user('The task.'), ...rounds('a', 12, 300), assistant('Done.'), ...pair]
    const { texts, compaction } = send(conversation, { budgetTokens: 2500, strict: true })
    expect(compaction).not.toBeNull()
    for (const message of pair) expect(texts).toContain(JSON.stringify(message))
  })
})

test('under strict placement the tail begins with an assistant message where one is near', () => {
  const turns = times(12, (turn) => [user(`Do ${turn}.`), assistant(prose(`did ${turn}`, 200))]).flat()
  const { compaction } = send([system('Be brief.'), ...turns, user('Go on.')], {
    budgetTokens: 2000,
    profile: profileOf({ recap: { max_tokens: 128 } }),
    strict: true,
  })
  const frontier = compaction?.fold?.frontier ?? 0
  expect(frontier).toBeGreaterThan(1)
  expect([...turns][frontier - 1]).toMatchObject({ role: 'assistant' })
})

test('a strictly valid conversation stays strictly valid at every request, whatever the window', () => {
  forAll(
    24,
    validConversation({ turnsMax: 4, roundsMax: 3, textCharactersMax: 3000 }),
    fc.integer({ min: 700, max: 6000 }),
    fc.constantFrom({}, { turns: 2 }, { turns: 4, messages: 14 }, { messages: 9 }),
    (messages, budgetTokens, limit) => {
      const profile = profileOf({ limit, keep: { recent_messages: 4 } })
      for (const conversation of growing(strictly(messages))) {
        expect(ruleBreaks(conversation, 'strict')).toEqual([])
        const { messages: sent } = send(conversation, { budgetTokens, profile, strict: true })
        expect(ruleBreaks(sent, 'strict')).toEqual([])
      }
    },
  )
})

/** The same conversation as a strict template wants it: one system message, users and answers in turns. */
function strictly(messages: readonly TestMessage[]): TestMessage[] {
  const kept: TestMessage[] = []
  let previous = 'assistant'
  for (const message of messages) {
    const { role } = message
    if ((role === 'system' || role === 'developer') && kept.length > 0) continue
    const takesTurn = role === 'user' || (role === 'assistant' && !('tool_calls' in message))
    if (takesTurn && role === previous) {
      if (role === 'assistant') continue
      kept.push(assistant('Done.'))
    }
    if (takesTurn) previous = role
    kept.push(message)
  }
  return kept
}
