import { describe, expect, test } from 'vitest'
import { collapseRepeats as collapsing } from '../../../src/compaction/terminal/render-terminal.ts'
import { atOnce, renderTerminal } from '../../support/at-once.ts'
import { times } from '../../support/times.ts'

const collapseRepeats = atOnce(collapsing)

const esc = '\u001b'

describe('what a terminal would show in the end', () => {
  test.each([
    ['a progress bar is its last state', 'fetching 10%\rfetching 55%\rfetching 100%', 'fetching 100%'],
    ['a carriage return at the end of a line shows the line', 'a\nbuild\rbuilt\r\nb', 'a\nbuilt\nb'],
    ['colours go', `${esc}[1;31mFAIL${esc}[0m src/queue.ts`, 'FAIL src/queue.ts'],
    ['a title that ends with a bell goes', `${esc}]0;make: all\u0007compiled`, 'compiled'],
    ['a link shows its text', `${esc}]8;;https://ci.example/7${esc}\\run 7${esc}]8;;${esc}\\`, 'run 7'],
    ['characters of two units are one column', '😀😀😀\r😎', '😎😀😀'],
  ])('%s', (_, text, shown) => {
    expect(renderTerminal(text)).toBe(shown)
  })

  // apt's bar stood among the lines of what it had set up, repeated characters were lost, and boxes were letters.
  test.each([
    `${esc}[1;29rSetting up a\n${esc}[30;1fbar${esc}8`,
    `--${esc}[20b|`,
    `top${esc}Dnext`,
    `${esc}(0lqk${esc}(B`,
  ])('what would be another text without what is not drawn here stays as it is: %j', (text) => {
    expect(renderTerminal(text)).toBe(text)
  })

  // A table exported on an old Mac came out as its last line with the rest of longer ones behind it.
  test('lines that end in CR alone stay the lines of a text', () => {
    expect(renderTerminal('name,qty\rapple,3\rpear,5\r')).toBe('name,qty\napple,3\npear,5\n')
    expect(renderTerminal('copying 1 of 3\rcopying 2 of 3\rcopying 3 of 3\r')).toBe('copying 3 of 3')
  })

  test('lines that end in CR LF stay the lines of a text', () => {
    expect(renderTerminal('first\r\n  second  \r\n\r\nlast\r\n')).toBe('first\n  second  \n\nlast\n')
  })
})

const watched = (number: number) => `${esc}[2J${esc}[3J${esc}[Hround ${number}: 0 errors\n`

describe('programs at work', () => {
  test('docker pull has a line for each layer, and rewrites the one that moved', () => {
    const layers = ['a1', 'b2', 'c3']
    const update = (layer: number, state: string) => {
      const up = layers.length - layer
      return `${esc}[${up}A${esc}[2K\r${layers[layer]}: ${state}\r${esc}[${up}B`
    }
    const text = [
      'latest: Pulling from library/debian\r\n',
      ...layers.map((layer) => `${layer}: Pulling fs layer\r\n`),
      ...[10, 55, 90].flatMap((share) => [0, 1, 2].map((layer) => update(layer, `Downloading ${share}%`))),
      ...[2, 0, 1].map((layer) => update(layer, 'Pull complete')),
      'Digest: sha256:9f\r\n',
    ].join('')
    expect(renderTerminal(text)).toBe(
      'latest: Pulling from library/debian\na1: Pull complete\nb2: Pull complete\nc3: Pull complete\nDigest: sha256:9f\n',
    )
  })

  test('a pager leaves what was there before it, and what came after', () => {
    const pager = `${esc}7${esc}[?47h${esc}[H${esc}[2Jpage one${esc}[24;1H:${esc}[?47l${esc}8`
    expect(renderTerminal(`$ git log\n${pager}$ git status\nclean\n`)).toBe(
      '$ git log\n$ git status\nclean\n',
    )
    expect(renderTerminal(`before\n${esc}[?1049h${esc}[Heditor${esc}[?1049lafter\n`)).toBe('before\nafter\n')
  })

  test('a full-screen program that was cut off, and all that follows it, stands below the rest', () => {
    const log = times(60, (line) => `line ${line}`).join('\n')
    expect(renderTerminal(`$ top\n${esc}[?1049h${esc}[H${log}`)).toBe(`$ top\n${log}`)
  })

  test('a watcher clears the screen each time: the last round stays, and what had scrolled off before', () => {
    const log = times(30, (line) => `line ${line}\n`).join('')
    const shown = renderTerminal(log + [1, 2, 3].map(watched).join(''))
    expect(shown).toBe(`${log.split('\n').slice(0, 7).join('\n')}\nround 3: 0 errors\n`)
  })
})

describe('characters of more than one column, and of none', () => {
  test.each([
    ['an emoji is two columns', '🚀 start\rok', 'ok start'],
    ['half of an emoji is none', '🚀 start\rx', 'x  start'],
    ['a bar with an emoji keeps its end', '[🟩⬜⬜] 1\r[🟩🟩🟩] 3', '[🟩🟩🟩] 3'],
    ['a tab stays a tab', `a\tb${esc}[1mc\r`, 'a\tbc'],
    ['and is blanks in a line that is drawn over', `a\tb\r${esc}[3Cx`, 'a  x    b'],
    ['a mark at the beginning of a line stays', `\u0301a\n${esc}[1mb`, '\u0301a\nb'],
  ])('%s', (_, text, shown) => {
    expect(renderTerminal(text)).toBe(shown)
  })

  test.each([
    ['half of a character', 'a\ud83d\rb', 'b\ud83d'],
    ['the other half', '\ude80 a\rb', 'b a'],
    ['what could not be decoded', '\ufffd\ufffd done\r\ufffd', '\ufffd\ufffd done'],
    [
      'UTF-8 read as Latin-1',
      `it says â\u0080\u009cÃ\u009bâ\u0080\u009d${esc}[0m`,
      'it says â\u0080\u009cÃ\u009bâ\u0080\u009d',
    ],
    ['Windows-1252 read as Latin-1', `don\u0092t${esc}[0m`, 'don\u0092t'],
    ['a quotation mark of it', `\u009dthe rest stays${esc}[0m`, '\u009dthe rest stays'],
  ])('%s is made no worse', (_, text, shown) => {
    expect(renderTerminal(text)).toBe(shown)
  })
})

describe('what is no terminal output', () => {
  test('keeps its tabs, form feeds and trailing blanks, however long its lines are', () => {
    const text = `def f():  \n\treturn 1\n\f\n${'long '.repeat(5_000)}\n`
    expect(renderTerminal(text)).toBe(text)
    expect(renderTerminal(`${esc}[32m${text.replace('\f\n', '')}${esc}[0m`)).toBe(text.replace('\f\n', ''))
  })

  test('a sequence that was cut in two takes no text with it', () => {
    expect(renderTerminal(`red ${esc}[31`)).toBe('red ')
    expect(renderTerminal(`red ${esc}[38;5\n[... cut ...]\nend`)).toBe('red \n[... cut ...]\nend')
    expect(renderTerminal(`title ${esc}]0;make`)).toBe('title 0;make')
  })

  test('a text that is all movement stays as it is, rather than becoming longer', () => {
    const text = `${esc}[70Cx\n`.repeat(50)
    expect(renderTerminal(text)).toBe(text)
  })
})

describe('repeated lines', () => {
  test('become one with a count', () => {
    expect(collapseRepeats(`start\n${'retrying in 1s\n'.repeat(40)}gave up`)).toBe(
      'start\nretrying in 1s\n[the line above stood here 40 times]\ngave up',
    )
  })

  test('are counted as they are shown, not as they were sent', () => {
    const frames = Array.from('|/-\\|/-\\|/-\\', (frame) => `${frame}\rtick`)
    expect(renderTerminal(frames.join('\n'))).toBe('tick\n[the line above stood here 12 times]')
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

/**
 * So long that one in which a character costs as much as the text takes many minutes. In all of it every character must
 * cost the same.
 */
describe('a text made to be slow', () => {
  const size = 400_000
  test.each([
    ['titles that never end', `${esc}]0;a title`],
    ['sequences that never end', `${esc}[`],
    ['sequences with endless parameters', `${esc}[0;0;0;0;0;0;0;0`],
    ['escapes', esc],
    ['carriage returns', '\r'],
    ['carriage returns between words', 'word\r'],
    ['backspaces', 'ab\b'],
    ['cursor movements', `${esc}[A`],
    ['counts without end', `x${esc}[999999999C${esc}[999999999B${esc}[999999999@`],
    ['blanks inserted', `x${esc}[999999999@`],
    ['characters taken out', `x${esc}[5P\b`],
    ['characters erased', `x${esc}[999999999X`],
    ['positions at the ends of the screen', `${esc}[200;500Hx${esc}[1;1H`],
    ['screens erased', `${esc}[200;1Hx${esc}[1J`],
    ['alternate screens', `${esc}[?1049hx${esc}[?1049l`],
    ['thousands of parameters', `${esc}[${'1;'.repeat(5_000)}m`],
    ['device control strings over many lines', `${esc}P\n`],
    ['columns on lines of their own', `${esc}[500Cx\n`],
    ['marks', 'a\r\u0301'],
    ['joiners', '👨\u200d'],
    ['equal lines', 'x\n'],
    ['empty lines', '\n'],
  ])('is rendered: %s', (_, unit) => {
    const text = unit.repeat(Math.ceil(size / unit.length))
    const shown = renderTerminal(`${text}\nthe end`)
    expect(shown.includes('the end')).toBe(true)
    expect(shown.length).toBeLessThan(text.length + 10)
  })

  const line = 'a'.repeat(size / 2)
  test.each([
    ['parameters', `${esc}[${'0'.repeat(size)}`],
    ['a title', `${esc}]${'a'.repeat(size)}`],
    ['intermediates', `${esc}${' '.repeat(size)}`],
    ['marks on one letter', `a\rb${'\u0301'.repeat(size)}`],
    ['a line erased from its middle', `${line}${'\b'.repeat(size / 8)}${`${esc}[1K`.repeat(size / 16)}`],
    ['a line of which characters are taken', `${line}\r${`${esc}[P`.repeat(size / 8)}`],
    ['a line drawn over', `${line}${'\rb'.repeat(size / 4)}`],
  ])('is rendered: one long run of %s', (_, text) => {
    expect(renderTerminal(`${text}\nthe end`).endsWith('the end')).toBe(true)
  })
})
