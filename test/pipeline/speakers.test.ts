import { expect, test } from 'vitest'
import { openDice } from '../../src/commands/demo/dice.ts'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { times } from '../support/times.ts'

// A recap told three people's words as "the user said", and joined for a strict template all stood in one message of the first.

const people = ['Host', 'Adam', 'Sam Lee', 'Robert']
const places = ['Seattle', 'Tacoma', 'Olympia', 'Spokane', 'Everett', 'Yakima']

type Said = { readonly role: string; readonly name?: string; readonly content: string }

/** A group chat in which everybody states where they come from, some of them in the same words, and talks on. */
function chatOf(seed: number): {
  readonly messages: Said[]
  readonly facts: readonly (readonly [string, string])[]
} {
  const dice = openDice(seed)
  const facts = people
    .slice(1)
    .map((name) => [name, `I am from ${places[dice.below(places.length)]}.`] as const)
  const messages: Said[] = [
    { role: 'system', content: 'A chat of several people and you.' },
    { role: 'user', name: 'Host', content: 'Let us plan the meetup.' },
    ...facts.map(([name, content]) => ({ role: 'user', name, content })),
  ]
  for (const place of times(20, (each) => each)) {
    const name = people[dice.below(people.length)] ?? 'Host'
    const talk = times(60, () => `w${dice.below(5_000)}`).join(' ')
    messages.push(
      { role: 'user', name, content: `Note ${place}: ${talk}` },
      { role: 'assistant', content: `Noted. ${talk}` },
    )
  }
  return { messages: [...messages, { role: 'user', name: 'Adam', content: 'Who is from where?' }], facts }
}

test.each(['lenient', 'strict'])(
  'of 20 group chats, each sentence is told as its speaker’s, template %s',
  async (template) => {
    await using at = await standWith(
      (request) => completion('ok', { prompt_tokens: Math.ceil(request.body.length / 4) }),
      { profile: { window: { tokens: 3_000 }, template } },
    )
    for (const seed of times(20, (each) => each + 1)) {
      const { messages, facts } = chatOf(seed)
      const answered = await fetch(`${at.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'house', messages }),
      })
      expect(answered.headers.get('x-foldgate-action')).toBe('compacted')
      await answered.text()
      const sent: { messages: Said[] } = JSON.parse(at.upstream.requests.at(-1)?.body.toString() ?? '')
      const joined = sent.messages.filter(({ content }) => content.includes('<conversation-recap>'))
      expect(joined).toHaveLength(1)
      expect(joined[0]?.name).toBeUndefined()
      const lines = joined[0]?.content.split('\n') ?? []
      for (const [name, content] of facts) expect(lines).toContain(`- ${name}: ${content}`)
      // Whose words they are is said of every line, and of what was joined.
      const told = lines.filter((line) => line.includes('I am from'))
      expect(told.toSorted()).toEqual(facts.map(([name, content]) => `- ${name}: ${content}`).toSorted())
      if (template === 'strict') expect(lines[0]).toBe('Host: Let us plan the meetup.')
    }
  },
)
