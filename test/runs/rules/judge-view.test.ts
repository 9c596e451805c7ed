import { expect, test } from 'vitest'
import { openViewJudge } from './walk-chat.ts'

const judgeOf = (texts: readonly unknown[]) =>
  openViewJudge(texts.map((content) => ({ role: 'user', content })))
const isHeld = (texts: readonly unknown[], says: string, old: string | null = null) =>
  judgeOf(texts)({ says, old, refersTo: null }).isHeld

test.each([
  ['in a message of their own', 'Never push to main.'],
  ['inside a longer one', 'Thanks, that helps. Never push to main. What is next?'],
  ['in another case, with other marks around them', '- "NEVER PUSH TO MAIN"; …'],
  ['with other blanks', 'never push\n   to main'],
  ['quoted as JSON', String.raw`{"content":"ok\nNever push\nto main.\n"}`],
  ['in a text part', [{ type: 'text', text: 'Never push to main.' }]],
])('the words stand %s', (_, content) => {
  expect(isHeld(['Hello.', content], 'Never push to main.')).toBe(true)
})

test('the words stand with letters that JSON escapes, and in other scripts', () => {
  expect(isHeld([String.raw`say \"caf\u00e9\" here`], 'say "café" here')).toBe(true)
  expect(isHeld(['[user] 千万不要修改数据库的表结构'], '千万不要修改数据库的表结构。')).toBe(true)
})

test.each([
  ['cut short', ['Never push to …']],
  ['in other words', ['The user does not want pushes to main.']],
  ['with a word between', ['Never push directly to main.']],
  ['from one message to the next', ['Never push', 'to main.']],
  ['as a part of longer words', ['Never push to mainland.']],
  ['in a view without messages', []],
])('the words do not stand %s', (_, contents) => {
  expect(isHeld(contents, 'Never push to main.')).toBe(false)
})

test.each([
  [true, ['Make that two spaces.']],
  [true, ['- Use tabs.\n- Make that two spaces.']],
  [true, ['Use tabs.', 'Make that two spaces.']],
  [false, ['- Make that two spaces.\n- Use tabs.']],
  [false, ['Use tabs.', 'Make that two spaces.', 'Use tabs.']],
  [false, ['Use tabs.']],
])('a correction is held (%s) where what it corrects does not stand behind it: %j', (expected, contents) => {
  expect(isHeld(contents, 'Make that two spaces.', 'Use tabs.')).toBe(expected)
})

test('what the words refer to is told apart from the words', () => {
  const asked = { says: 'the second one', old: null, refersTo: 'a single file beside the program' }
  expect(judgeOf(['the second one'])(asked)).toEqual({ isHeld: true, isReferred: false })
  const option = '2. SQLite: a single file beside the program.'
  expect(judgeOf([option])(asked)).toEqual({ isHeld: false, isReferred: true })
  expect(judgeOf([])({ ...asked, refersTo: null }).isReferred).toBeNull()
})
