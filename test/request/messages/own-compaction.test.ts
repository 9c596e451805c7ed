import { expect, test } from 'vitest'
import { openStand, post, roundsOf, troubleOf, user } from './stand.ts'

const made = { role: 'assistant', content: [{ type: 'compaction', content: 'The parts were read.' }] }
const rule = { role: 'system', content: 'Answer in one line.' }

function wish(index: number, words: number) {
  return user(`Wish ${index}: ${'more '.repeat(words)}`)
}

// What users had said before the server's own compaction gave way, the oldest first, and what the operator had said between
// them stood first then: Anthropic refuses a system message there.
test.each<[string, readonly object[], readonly string[]]>([
  ['a later word of the user’s', [wish(0, 900), rule, wish(1, 900), wish(2, 600)], ['user', 'assistant']],
  ['the compaction', [wish(0, 1_500), rule, rule, wish(1, 1_500)], ['assistant', 'user']],
])('what is left before it begins with %s, and not with the operator’s', async (_name, before, roles) => {
  const at = await openStand({
    windowTokens: 4_000,
    profile: { window: { tokens: 4_000, output_reserve: 500 } },
    reply: () => ({ content: [{ type: 'text', text: 'Well.' }] }),
  })
  const messages = [...before, made, user('Go on.'), ...roundsOf(3)]
  expect((await post(at, { max_tokens: 500, messages })).status).toBe(200)
  expect(troubleOf(at)).toEqual([])
  const sent: { readonly messages: readonly { readonly role: string }[] } = JSON.parse(
    at.upstream.requests.at(-1)?.body.toString() ?? '{}',
  )
  expect(sent.messages.slice(0, 2).map(({ role }) => role)).toEqual(roles)
})

test('while an older word of the user’s stands before it, it stays', async () => {
  const at = await openStand({
    windowTokens: 4_000,
    reply: () => ({ content: [{ type: 'text', text: 'Well.' }] }),
  })
  const before = [wish(0, 100), rule, wish(1, 600)]
  const messages = [...before, made, user('Go on.'), ...roundsOf(5)]
  expect((await post(at, { max_tokens: 500, messages })).headers.get('x-foldgate-action')).toBe('compacted')
  expect(at.upstream.requests.at(-1)?.rawMessages.slice(0, 2)).toEqual(
    [wish(0, 100), rule].map((each) => JSON.stringify(each)),
  )
})
