import { expect, test } from 'vitest'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { keptText, openStandings } from './standing.ts'

const original = 'first line\nsecond line\nthird line\nfourth line\nlast line'

test('of a clipped text head and tail are kept, whatever the mark says', () => {
  const { pieces, ownCharacters } = keptText(original, 'first line\nseco[41 more]line')
  expect(pieces).toEqual(['first line\nseco', 'line'])
  expect(ownCharacters).toBe('[41 more]'.length)
})

test('of a clipped preview, lines between its marks are kept as well, in the order of the original, and once', () => {
  const between = 'fourth line\nsecond line\nfourth line'
  const { pieces } = keptText(original, `first line\n[cut]\n${between}\n[preview]\nlast line`)
  expect(pieces).toEqual(['first line\n', 'fourth line', '\nlast line'])
})

const standings = openStandings({ count: countWords, sizeOf: sizeInWords })
const recap = said('user', '<conversation-recap>\nWhat was said before.\n</conversation-recap>')
const task = said('user', wordsNamed('task', 40))

test('what Foldgate wrote stands for none of the client’s messages', () => {
  const client = [task, calling('a'), result('a', 'seen'), said('user', wordsNamed('more', 30))]
  const standingAt = standings.of(client, [task, recap, ...client.slice(-1)])
  expect([...standingAt.keys()]).toEqual([3, 0])
  expect(standings.most(said('user', wordsNamed('lost', 40)), [task, recap])).toBeNull()
})

test('a result is known by the call that it answers, and counts by the text that is there', () => {
  const text = wordsNamed('line', 100)
  const [one] = standings.of([result('a', text)], [result('a', clipped(text, 20))]).values()
  const text40 = { textTokens: 100, textTokensHeld: 40 }
  expect(one).toMatchObject({ isWhole: false, sizeTokens: 104, ...text40, tokensHeld: 44 })
  expect(standings.of([result('a', text)], [result('b', text)]).size).toBe(0)
})

test('a user’s text is known by what it has in common with its original, beyond how many of them begin', () => {
  const text = `Observation: ${wordsNamed('seen', 100)}`
  const other = said('user', `Observation: ${wordsNamed('other', 100)}`)
  expect(standings.of([said('user', text)], [said('user', clipped(text, 10))]).size).toBe(1)
  expect(standings.of([said('user', text)], [other]).size).toBe(0)
  expect(standings.of([said('user', text)], [said('user', '[cut]')]).size).toBe(0)
})

test('under strict placement a user’s text is found inside the message that it was joined to', () => {
  const latest = said('user', wordsNamed('latest', 30))
  const contents = [task, recap, latest].map(({ message }) => String(message['content']))
  const joined = said('user', contents.join('\n\n'))
  expect(standings.most(task, [joined])).toMatchObject({ isWhole: true, isByteIdentical: false })
  expect(standings.most(latest, [joined])).toMatchObject({ isWhole: true })
})

test('an assistant’s message is known by its calls in their order, or by the head of its text', () => {
  const both = calling('a', 'b')
  expect(standings.of([both], [calling('b', 'a')]).size).toBe(0)
  expect(standings.of([both], [calling('a')]).size).toBe(0)
  const text = wordsNamed('thought', 50)
  expect(standings.of([said('assistant', text)], [said('assistant', clipped(text, 4))]).size).toBe(1)
  expect(standings.of([said('assistant', text)], [said('assistant', '[cut]')]).size).toBe(0)
})
