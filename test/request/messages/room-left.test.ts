import { expect, test } from 'vitest'
import { openStand, post, roundsOf, troubleOf, user } from './stand.ts'

// Claude Code tells a model after each result how many tokens are left. A recap quoted each of these messages as it quotes the
// operator's rules, the newest first, and after some hundred rounds the rules themselves had no room among them.
test('of messages that say how much is left none takes the place of a rule', async () => {
  const at = await openStand({
    windowTokens: 8_000,
    reply: () => ({ content: [{ type: 'text', text: 'Well.' }] }),
  })
  const rules = `The rules: ${'never touch the ledger of a closed year, '.repeat(80)}and say so.`
  const rounds = Array.from({ length: 200 }, (_, round) => [
    ...roundsOf(1, round),
    { role: 'system', content: left(round) },
  ])
  const answer = await post(at, {
    messages: [user('Begin.'), { role: 'system', content: rules }, ...rounds.flat()],
  })
  expect([answer.headers.get('x-foldgate-action'), troubleOf(at)]).toEqual(['compacted', []])
  const sent = at.upstream.requests.at(-1)?.messages ?? []
  const said = sent.find(({ blocks }) => JSON.stringify(blocks).includes('<conversation-recap>'))
  expect(JSON.stringify(said)).toContain(rules)
  expect(JSON.stringify(said)).not.toContain('tokens left')
  // What counts is the newest, where it stood.
  expect(sent.at(-1)?.blocks).toEqual([{ type: 'text', text: left(199) }])
})

function left(round: number): string {
  return `<total_tokens>${9_000_000 - 700 * round} tokens left</total_tokens>`
}
