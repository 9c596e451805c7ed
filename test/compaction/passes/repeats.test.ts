import { describe, expect, test } from 'vitest'
import { atOnce, renderTerminal } from '../../support/at-once.ts'
import { collapseRepeats as collapsing } from '../../../src/compaction/passes/repeats.ts'

const collapseRepeats = atOnce(collapsing)

describe('repeated lines', () => {
  test('become one with a count', () => {
    expect(collapseRepeats(`start\n${'retrying in 1s\n'.repeat(40)}gave up`)).toBe(
      'start\nretrying in 1s\n[the line above stood here 40 times]\ngave up',
    )
  })

  test('are counted as they are shown, not as they were sent', () => {
    const frames = '|/-\\|/-\\|/-\\'
      .split('')
      .map((frame) => `${frame}\rtick`)
      .join('\n')
    expect(renderTerminal(frames)).toBe('tick\n[the line above stood here 12 times]')
  })

  test('that are blank become one blank line without a word about it', () => {
    expect(collapseRepeats('above\n\n\n\n\n\nbelow')).toBe('above\n\nbelow')
  })

  test('stay where there are only two, and where they do not follow one another', () => {
    for (const text of ['a\na\nb', 'a\nb\na\nb\na', '}\n}\n']) expect(collapseRepeats(text)).toBe(text)
  })

  test('stay where a note about them would be longer', () => {
    expect(collapseRepeats('}\n}\n}\n}')).toBe('}\n}\n}\n}')
  })

  test('that are notes themselves are not counted: what was collapsed stays the same', () => {
    const note = '[the line above stood here 3 times]'
    const once = collapseRepeats(`${'a line of some length\n'.repeat(3)}${`${note}\n`.repeat(3)}`)
    expect(collapseRepeats(once)).toBe(once)
  })
})
