import { describe, expect, test } from 'vitest'
import { renderTerminal } from '../../../src/compaction/passes/render.ts'

const esc = '\u001b'

describe('what a terminal would show in the end', () => {
  test.each([
    ['a progress bar is its last state', 'fetching 10%\rfetching 55%\rfetching 100%', 'fetching 100%'],
    ['a shorter text overwrites only as far as it goes', 'downloading\rdone', 'doneloading'],
    [
      'a carriage return at the end of a line shows the line',
      'before\nbuilding\rbuilt ok\r\nafter',
      'before\nbuilt ok\nafter',
    ],
    ['backspaces overwrite', 'waiting |\b/\b-\bdone', 'waiting done'],
    ['backspaces do not go beyond the beginning of a line', 'a\b\b\b\bb', 'b'],
    ['what backspaces blank out is gone', 'working...\b\b\b   ', 'working'],
    ['colours go', `${esc}[1;31mFAIL${esc}[0m src/queue.ts`, 'FAIL src/queue.ts'],
    ['cursor movement goes', `${esc}[2K${esc}[1Gready${esc}[?25h`, 'ready'],
    ['the one-byte introducer is one too', '\u009b32mok\u009b0m', 'ok'],
    ['a title that ends with a bell goes', `${esc}]0;make: all\u0007compiled`, 'compiled'],
    ['a title that ends with its terminator goes', `${esc}]2;make: all${esc}\\compiled`, 'compiled'],
    ['a link shows its text', `${esc}]8;;https://ci.example/7${esc}\\run 7${esc}]8;;${esc}\\`, 'run 7'],
    ['characters of two units are one column', '😀😀😀\r😎', '😎😀😀'],
  ])('%s', (_, text, shown) => {
    expect(renderTerminal(text)).toBe(shown)
  })

  test('lines that end in CR LF stay the lines of a text', () => {
    expect(renderTerminal('first\r\n  second  \r\n\r\nlast\r\n')).toBe('first\n  second  \n\nlast\n')
  })

  test.each([
    ['a title without an end', `${esc}]0;the rest of this line\nand the next line stay`],
    ['a lone CSI', `${esc}[`],
    ['a lone escape', esc],
    ['a device control string without an end', `${esc}Pstarted and never closed\nand the next line stay`],
  ])('%s does not swallow the text behind it', (_, opening) => {
    const shown = renderTerminal(`${opening}\nthe report\nhas three lines`)
    expect(shown).toContain('the report\nhas three lines')
    if (opening.includes('\n')) expect(shown).toContain('and the next line stay')
  })

  test('a text without any of it is the same text', () => {
    const text = '  indented\t\n\n\ntrailing  \n名前 é 😀\n'
    expect(renderTerminal(text)).toBe(text)
  })
})

describe('repeated lines', () => {
  test('become one with a count', () => {
    expect(renderTerminal(`start\n${'retrying in 1s\n'.repeat(40)}gave up`)).toBe(
      'start\nretrying in 1s\n[the line above stood here 40 times]\ngave up',
    )
  })

  test('are counted as they are shown, not as they were sent', () => {
    const frames = ['|', '/', '-', '\\'].map((frame) => `${frame}\rtick`).join('\n')
    expect(renderTerminal(frames)).toBe('tick\n[the line above stood here 4 times]')
  })

  test('that are blank become one blank line without a word about it', () => {
    expect(renderTerminal('above\n\n\n\n\n\nbelow')).toBe('above\n\nbelow')
  })

  test('stay where there are only two, and where they do not follow one another', () => {
    for (const text of ['a\na\nb', 'a\nb\na\nb\na', '}\n}\n']) expect(renderTerminal(text)).toBe(text)
  })
})

describe('a megabyte made to be slow', () => {
  const size = 1_000_000
  test.each([
    ['titles that never end', `${esc}]`],
    ['titles that never end, each with a text', `${esc}]0;a title`],
    ['sequences that never end', `${esc}[`],
    ['sequences with endless parameters', `${esc}[0;0;0;0;0;0;0;0`],
    ['escapes', esc],
    ['carriage returns', '\r'],
    ['carriage returns between words', 'word\r'],
    ['backspaces', 'ab\b'],
    ['equal lines', 'x\n'],
    ['empty lines', '\n'],
  ])('is rendered: %s', (_, unit) => {
    const text = unit.repeat(Math.ceil(size / unit.length))
    expect(renderTerminal(`${text}\nthe end`)).toMatch(/the end$/)
  })

  test.each([
    ['parameters', `${esc}[${'0'.repeat(size)}`],
    ['a title', `${esc}]${'a'.repeat(size)}`],
    ['intermediates', `${esc}${' '.repeat(size)}`],
    ['a line drawn over', `${'a'.repeat(size / 2)}${'\rb'.repeat(size / 4)}`],
  ])('is rendered: one long run of %s', (_, text) => {
    expect(renderTerminal(`${text}\nthe end`)).toMatch(/the end$/)
  })
})
