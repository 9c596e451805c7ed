import { describe, expect, test } from 'vitest'
import { openViewJudge } from './judge-view.ts'

const user = (content: unknown) => ({ role: 'user', content })
const rule = (
  says: string,
  { old = null, refersTo = null }: { old?: string; refersTo?: string } | Nothing = {},
) => ({
  says,
  old,
  refersTo,
})
type Nothing = { readonly old?: null; readonly refersTo?: null }

const isHeld = (texts: readonly unknown[], asked: ReturnType<typeof rule>) =>
  openViewJudge(texts.map(user))(asked).isHeld

describe('the words stand', () => {
  test.each([
    ['in a message of their own', 'Never push to main.'],
    ['inside a longer one', 'Thanks, that helps. Never push to main. What is next?'],
    ['in another case, with other marks around them', '- "NEVER PUSH TO MAIN"; …'],
    ['with other blanks', 'never push\n   to main'],
    ['quoted as JSON', String.raw`{"content":"ok\nNever push\nto main.\n"}`],
    ['in a text part', [{ type: 'text', text: 'Never push to main.' }]],
  ])('%s', (_, content) => {
    expect(isHeld(['Hello.', content], rule('Never push to main.'))).toBe(true)
  })

  test('with quotation marks and letters that JSON escapes', () => {
    expect(isHeld([String.raw`say \"caf\u00e9\" here`], rule('say "café" here'))).toBe(true)
  })

  test('in other scripts', () => {
    expect(isHeld(['[user] 千万不要修改数据库的表结构'], rule('千万不要修改数据库的表结构。'))).toBe(true)
  })
})

describe('the words do not stand', () => {
  test.each([
    ['cut short', ['Never push to …']],
    ['in other words', ['The user does not want pushes to main.']],
    ['with a word between', ['Never push directly to main.']],
    ['from one message to the next', ['Never push', 'to main.']],
    ['as a part of longer words', ['Never push to mainland.']],
    ['in a view without messages', []],
  ])('%s', (_, contents) => {
    expect(isHeld(contents, rule('Never push to main.'))).toBe(false)
  })
})

describe('a correction', () => {
  const asked = rule('Make that two spaces.', { old: 'Use tabs.' })

  test('is held alone, or after what it corrects', () => {
    expect(isHeld(['Make that two spaces.'], asked)).toBe(true)
    expect(isHeld(['- Use tabs.\n- Make that two spaces.'], asked)).toBe(true)
    expect(isHeld(['Use tabs.', 'Make that two spaces.'], asked)).toBe(true)
  })

  test('is not held where what it corrects comes last, or stands alone', () => {
    expect(isHeld(['- Make that two spaces.\n- Use tabs.'], asked)).toBe(false)
    expect(isHeld(['Use tabs.', 'Make that two spaces.', 'Use tabs.'], asked)).toBe(false)
    expect(isHeld(['Use tabs.'], asked)).toBe(false)
  })
})

test('what the words refer to is told apart from the words', () => {
  const asked = rule('the second one', { refersTo: 'a single file beside the program' })
  const judge = (text: string) => openViewJudge([user(text)])(asked)
  expect(judge('the second one')).toEqual({ isHeld: true, isReferred: false })
  expect(judge('2. SQLite: a single file beside the program.')).toEqual({ isHeld: false, isReferred: true })
  expect(openViewJudge([])(rule('the second one')).isReferred).toBeNull()
})
