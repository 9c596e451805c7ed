import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sentencesOf } from '../../../../src/compaction/recap/user/sentences.ts'
import { forAll } from '../../../support/property-runs.ts'

const cut = (text: string): string[] => sentencesOf(text).map(({ start, end }) => text.slice(start, end))

test.each([
  ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
  ['第一句。第二句！', ['第一句。', '第二句！']],
  ['पहला। दूसरा।', ['पहला।', 'दूसरा।']],
  ['Use v1.2 of Node.js, e.g. Python is out.', ['Use v1.2 of Node.js, e.g. Python is out.']],
  ['Ask Dr. Smith first. Then go on.', ['Ask Dr. Smith first.', 'Then go on.']],
  ['1. Keep it short.\n2. Keep it simple.', ['1. Keep it short.', '2. Keep it simple.']],
  ['- no tabs\n- no emojis;\n', ['- no tabs', '- no emojis;']],
  ['He said "never again." Then he left.', ['He said "never again."', 'Then he left.']],
])('%j is cut where its sentences end', (text, sentences) => {
  expect(cut(text)).toEqual(sentences)
})

test('what somebody wrote is told from what was pasted', () => {
  const pasted = [
    '```ts\nNever do this in here.\n```',
    '2026-03-01 10:22:31 WARN worker-7 must reconnect',
    '    at never (/srv/always.js:10:5)',
    '{"rule": "never"}',
    'if (never) {',
    'const always = only;',
    'diff --git a/x b/x',
    'SELECT always FROM never',
  ]
  expect(cut(`Look at this.\n${pasted.join('\n')}\nNever do that again.`)).toEqual([
    'Look at this.',
    'Never do that again.',
  ])
})

test.each([
  'Error messages have to be in Dutch.',
  'Update the docs with every change.',
  'Function names: snake_case.',
  '[important] never push to main',
  'If (and only if) I say so, deploy.',
  'Use `Decimal` for money, never `float()`.',
  'Set MAX_RETRIES=5, always.',
  'no ```inline``` fences please',
])('no code, although it begins like some: %s', (text) => {
  expect(cut(text)).toEqual([text])
})

// Story: rules that hold a brace, a bracket or a word of code were taken for code, and nobody heard them.
test.each([
  'Never log {secrets}',
  'Always format dates as {YYYY-MM-DD}',
  'return json (never xml) from every endpoint',
  'class names (also of components) must always be PascalCase',
  'Every public method must have a docstring (no exceptions);',
  'Always end a commit message with (refs #123):',
  'Never use the flag $(date);',
  'Logge niemals {passwort}',
  "Don't log {secrets}, don't print {names}",
  '永远不要记录 {密码}',
])('a rule that looks like code is heard: %s', (text) => {
  expect(cut(text)).toEqual([text])
})

test.each([
  'raise TooLate("this must never be late");',
  'throw new Error("You must not call this twice");',
  'if (this must never be) {',
  'while (not always):',
  'def never(always):',
  'def never (always):',
  'class Always (Never):',
  'const always=never;',
  'let never = always',
  'public static void main(String[] never) {',
  'private final Set<String> always;',
  'items.map((one) => never(one));',
  'return never (always);',
  'type Never = {always}',
])('code is code, whatever it speaks of: %s', (text) => {
  expect(cut(text)).toEqual([])
})

// Story: a message without a line break that was longer than six thousand characters was data, its last rule with it.
test.each([
  ['I looked at the plan and it reads well to me so far. ', 'Never use semicolons.'],
  ['我看过了计划，到目前为止都很好，没有什么问题。', '永远不要使用分号。'],
  ['मैंने योजना देखी और वह अच्छी है।', 'कभी अर्धविराम मत लगाओ।'],
])('a line of any length is heard to its end: %s', (piece, rule) => {
  for (const chars of [5900, 6100, 9000])
    expect(cut(`${piece.repeat(Math.ceil(chars / piece.length))}${rule}`).at(-1)).toBe(rule)
})

test('a long line in which no sentence ends is data', () => {
  expect(cut(`${'a1b2'.repeat(4000)}\nNever do that.`)).toEqual(['Never do that.'])
})

// A rule that a log followed in the same line was taken for a part of the log.
test.each([
  ['Never touch production. 06:26:02 WARN [batch-1] batch=a2ef1439 took=630ms', 'Never touch production.'],
  ['本番環境には触らないでください。 06:26:02 WARN [batch-1] batch=a2ef', '本番環境には触らないでください。'],
  ['Bitte nichts löschen. day;name;amount;state', 'Bitte nichts löschen.'],
])('what is pasted behind a sentence in its line hides it not: %s', (text, sentence) => {
  expect(cut(text)).toEqual([sentence])
})

test('a row of a table is no sentence', () => {
  expect(cut('day;name;amount;state;count\nNo tabs,no emojis,please.')).toEqual(['No tabs,no emojis,please.'])
})

// A fence that nobody closed hid all that was said after it.
test('a fence without another one hides nothing', () => {
  expect(cut('Fix this: ```\nNever touch the schema.')).toContain('Never touch the schema.')
  expect(cut('```\ncode\n``` Never touch the schema.')).toEqual(['Never touch the schema.'])
})

test('sentences are pieces of the text in their order, of bounded length and number', () => {
  forAll(100, fc.string({ unit: 'grapheme', maxLength: 2000 }), (text) => {
    let last = 0
    for (const { start, end } of sentencesOf(text)) {
      expect(start).toBeGreaterThanOrEqual(last)
      expect(end).toBeGreaterThan(start)
      expect(end - start).toBeLessThanOrEqual(360)
      last = end
    }
    expect(last).toBeLessThanOrEqual(text.length)
  })
})

test('a megabyte of anything is looked at in part', () => {
  const pieces = Array.from('a .`-。\n)\ud800', (character) => character)
  for (const piece of [...pieces, '. ', '```', '```\n', '?!', 'no. ', '(((', '=;', `${'x '.repeat(50)}\n`]) {
    const sentences = sentencesOf(piece.repeat(Math.ceil(1_000_000 / piece.length)))
    expect(sentences.length).toBeLessThanOrEqual(400)
    expect(sentences.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThanOrEqual(50_000)
  }
})
