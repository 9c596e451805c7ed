import { describe, expect, test } from 'vitest'
import { messageNumber, numberRange, numbersOf } from '../../../src/compaction/history/message-numbers.ts'
import { createMadeCache } from '../../../src/compaction/made-cache.ts'
import { AS_IT_CAME, messageEditor, type Edit } from '../../../src/compaction/edit-message.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { profileOf, historyOf } from '../../support/subject.ts'
import { prose, round, rounds, send, system, user } from '../sending.ts'

const named = { recall: { enabled: true } }
const preview = { threshold_tokens: 200, max_chars: 400, max_lines: 20 }

/** The message at `index` under this edit, as it is sent; all of them share a cache. */
function treating(messages: readonly object[], profile: object) {
  const cache = createMadeCache({ bytesMax: 1_000_000 })
  return (index: number, edit: Edit): string => {
    const make = messageEditor(historyOf(messages), profileOf(profile), cache)
    return runAtOnce(make(index, edit)).text ?? ''
  }
}

describe('the number of a message', () => {
  test('counts from the end of the leading system block', () => {
    expect(messageNumber(2, 2)).toBe('#1')
    expect([numberRange(2, 3, 2), numberRange(2, 7, 2)]).toEqual(['#1', '#1 to #5'])
  })

  test('names runs of messages, and of many runs only where they begin and end', () => {
    expect(numbersOf([1, 2, 3, 7], 1)).toBe('#1 to #3, #7')
    expect(numbersOf([1, 3, 5, 7, 9], 1)).toBe('among #1 to #9')
    expect(numbersOf([], 1)).toBe('')
  })
})

describe('a mark', () => {
  const long = prose('r', 3000)
  const messages = [system('Be brief.'), user('The task.'), ...round('a', long, 'bash', { command: long })]

  test.each<[string, number, Edit, string]>([
    ['of a cleared result', 3, { ...AS_IT_CAME, pass: 'cleared' }, 'tokens, #3]'],
    ['of a preview', 3, { ...AS_IT_CAME, pass: 'previewed' }, 'tokens, #3]'],
    ['of a clipped text', 3, { ...AS_IT_CAME, tokensMax: 100 }, 'tokens in all, #3]'],
    ['of clipped arguments', 2, { ...AS_IT_CAME, tokensMax: 100 }, 'tokens in all, #2]'],
  ])('%s names the message, where it can be read back', (_, index, edit, mark) => {
    expect(treating(messages, { ...named, preview })(index, edit)).toContain(mark)
    const unnamed = treating(messages, { preview })(index, edit)
    expect(unnamed).toContain(mark.replace(/, #\d/, ''))
    expect(unnamed).not.toContain('#')
  })

  // The cache knows a message by its bytes, and would have given the second one the name of the first.
  test.each<Edit>([
    { ...AS_IT_CAME, pass: 'cleared' },
    { ...AS_IT_CAME, pass: 'previewed' },
    { ...AS_IT_CAME, pass: 'previewed', tokensMax: 100 },
  ])('is its own where the same bytes stand twice: $kind', (edit) => {
    const same = round('a', prose('r', 3000))
    const treat = treating([user('The task.'), ...same, ...same], { ...named, preview })
    expect(treat(2, edit)).toContain('#3]')
    expect(treat(4, edit)).toContain('#5]')
    expect(treat(4, edit)).toBe(treat(2, edit).replaceAll('#3', '#5'))
  })
})

test('a view names nothing where nothing can be read back', () => {
  const conversation = [user('The task.'), ...rounds('a', 40, 400)]
  const sent = (profile: object) =>
    send(conversation, { budgetTokens: 6000, profile: profileOf({ ...profile, clear: { enabled: false } }) })
  expect(sent({}).passes).toContain('fold')
  expect(sent({}).texts.join('\n')).not.toMatch(/#\d/)
  expect(sent(named).texts.join('\n')).toMatch(/earlier messages \(#2 to #\d+\)/)
})
