import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openDice } from '../../../src/commands/demo/dice.ts'
import { sampleSource } from '../../../src/commands/demo/tools.ts'
import type { Seam } from '../../../src/formats/answer-contract.ts'
import { nextStep, type StepLimits } from '../../../src/pipeline/reply/further-answers.ts'
import { continuationSeam, lastWordsOf, paragraphSeam } from '../../../src/pipeline/reply/seams.ts'
import { replyOf } from './reply-script.ts'
import { forAll } from '../../support/property-runs.ts'

const limits: StepLimits = { toolName: 'recall', recallsLeft: 2, continuationsLeft: 2 }
const call = (name: string, argumentsText = '{}') => ({
  id: name,
  function: { name, arguments: argumentsText },
})

const stepAfter = (message: object, reason: string, changed: Partial<StepLimits> = {}): string =>
  nextStep(replyOf(message, reason), { ...limits, ...changed }).kind

test.each([
  ['an ordinary end', { content: 'x' }, 'stop', 'end'],
  ['our call', { tool_calls: [call('recall')] }, 'tool_calls', 'recall'],
  ['our call, said to be an ordinary end', { tool_calls: [call('recall')] }, 'stop', 'recall'],
  ['our call beside the client’s', { tool_calls: [call('recall'), call('bash')] }, 'tool_calls', 'end'],
  ['the client’s call', { tool_calls: [call('bash')] }, 'tool_calls', 'end'],
  ['a text that was cut', { content: 'x' }, 'length', 'continue-text'],
  ['thoughts that were cut', { content: '', reasoning_content: 'x' }, 'length', 'end'],
  ['a refusal that was cut', { content: 'x', refusal: 'No' }, 'length', 'end'],
  ['a call that was cut', { tool_calls: [call('bash', '{"a')] }, 'length', 'repeat-call'],
  ['a call that was cut before its arguments', { tool_calls: [call('bash', '')] }, 'length', 'repeat-call'],
  ['a call that was complete', { tool_calls: [call('bash', '{"a":1}')] }, 'length', 'end'],
  ['a cut call beside a complete one', { tool_calls: [call('a'), call('b', '{"')] }, 'length', 'end'],
  ['content that is no text', { content: [{ type: 'text', text: 'x' }] }, 'length', 'end'],
  ['what a filter ended', { content: 'x' }, 'content_filter', 'end'],
])('what follows %s', (_, message, reason, step) => {
  expect(stepAfter(message, reason)).toBe(step)
})

test('everything is bounded', () => {
  expect(stepAfter({ content: 'x' }, 'length', { continuationsLeft: 0 })).toBe('end')
  expect(stepAfter({ tool_calls: [call('bash', '{')] }, 'length', { continuationsLeft: 0 })).toBe('end')
  expect(stepAfter({ tool_calls: [call('recall')] }, 'tool_calls', { recallsLeft: -1 })).toBe('end')
})

test('a tool of the client’s with that name is the client’s, where ours was not offered', () => {
  expect(stepAfter({ tool_calls: [call('recall')] }, 'tool_calls', { toolName: null })).toBe('end')
})

const source = sampleSource(openDice(3), 40)
const prose =
  'Ein Satz, dann noch einer.\n\n- erstens\n- zweitens: 我们看到了它 👩‍🚀 und weiter.\n\n```ts\nconst a = 1\n```\n'

function fed(seam: Seam, text: string, size: number): string {
  let out = ''
  for (let at = 0; at < text.length; at += size) out += seam.feed(text.slice(at, at + size))
  return out + seam.end()
}

describe.each([
  ['source code', source],
  ['prose', prose.repeat(3) + source.slice(0, 500) + prose],
])('a text that was cut: %s', (_, whole) => {
  const cuts = Array.from({ length: whole.length - 1 }, (_unused, at) => at + 1)

  test('and goes on where it stopped is the whole again, wherever it was cut', () => {
    for (const cut of cuts) {
      const before = whole.slice(0, cut)
      const seam = continuationSeam(before, lastWordsOf(before))
      expect(before + fed(seam, whole.slice(cut), (cut % 7) + 1)).toBe(whole)
    }
  })

  test('and begins with the words that it was asked to begin with is the whole again', () => {
    for (const cut of cuts) {
      const before = whole.slice(0, cut)
      const anchor = lastWordsOf(before)
      if (anchor === '') continue
      // As a model repeats it: with the blanks behind it, where there were any.
      const blanks = before.slice(before.trimEnd().length)
      const seam = continuationSeam(before, anchor)
      expect(before + fed(seam, anchor + blanks + whole.slice(cut), (cut % 5) + 1)).toBe(whole)
    }
  })
})

test('the anchor is the end of the text, and stands there once', () => {
  forAll(100, fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme' }), (text) => {
    const anchor = lastWordsOf(text)
    if (anchor === '') return
    expect(text.trimEnd().endsWith(anchor)).toBe(true)
    expect(text.indexOf(anchor)).toBe(text.trimEnd().length - anchor.length)
  })
})

test('where no words stand there only once, none is asked for', () => {
  expect(lastWordsOf('-'.repeat(500))).toBe('')
  expect(lastWordsOf('ha '.repeat(200))).toBe('')
  expect(lastWordsOf('  \n')).toBe('')
})

test('leading blanks before the repeated words are no text', () => {
  const seam = continuationSeam('The answer is forty', lastWordsOf('The answer is forty'))
  expect(fed(seam, '\n\nThe answer is forty-two.', 3)).toBe('-two.')
})

test('what only begins like the repeated words is text', () => {
  const seam = continuationSeam('Five boxing wizards', lastWordsOf('Five boxing wizards'))
  expect(fed(seam, 'Five boxing', 2)).toBe('Five boxing')
})

test('a new utterance begins a paragraph, where there is one before it', () => {
  expect(fed(paragraphSeam('Look.'), 'Found.', 2)).toBe('\n\nFound.')
  expect(fed(paragraphSeam('Look.\n'), 'Found.', 2)).toBe('Found.')
  expect(fed(paragraphSeam(''), 'Found.', 2)).toBe('Found.')
  expect(fed(paragraphSeam('Look.'), '', 1)).toBe('')
})
