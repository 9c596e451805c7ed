import { describe, expect, test } from 'vitest'
import { thingsIn } from '../../../src/compaction/recap/things.ts'

const names = (text: string): string[] => [...thingsIn(text)].map((thing) => thing.name)

describe('the specific things that a text names', () => {
  test.each([
    ['paths', 'look at src/queue/retry.ts, then /etc/hosts.', ['src/queue/retry.ts', '/etc/hosts']],
    ['a path with a line', 'at ./lib/a.js:42', ['lib/a.js']],
    ['a path upwards', 'see ../shared/a.js.', ['../shared/a.js']],
    ['no closing tags', '<output>src/a.ts</output>', ['src/a.ts']],
    [
      'addresses of the web',
      'see https://ci.example/runs/7?tab=log#end for it',
      ['https://ci.example/runs/7?tab=log#end'],
    ],
    ['addresses of people', 'ask mara.lind@post.example about it', ['mara.lind@post.example']],
    ['ids', 'order ORD-77812 in 3f9a1c77e0 failed', ['ORD-77812', '3f9a1c77e0']],
    ['a UUID', 'key 7d3c1b7e-52aa-4b5e-9a53-0c8f0a3d6c11', ['7d3c1b7e-52aa-4b5e-9a53-0c8f0a3d6c11']],
    ['numbers of three digits and more', 'port 4821, 250 of 1024, in 7 of 12 steps', ['4821', '250', '1024']],
    ['dates and versions', 'since 2025-11-03 with 18.2.10', ['2025-11-03', '18.2.10']],
    [
      'identifiers with inner capitals, underscores and dots',
      'maxRetries or max_retries in queue.options',
      ['maxRetries', 'max_retries', 'queue.options'],
    ],
  ])('%s', (_, text, expected) => {
    expect(names(text)).toEqual(expected)
  })

  test('do not include the words of a language and the marks around them', () => {
    expect(names('Well, this is (as I said) a rather plain sentence; and so on... OK? -- Yes!')).toEqual([])
  })

  test('stand where they are said to stand', () => {
    const text = 'first "src/a.ts", then ...max_retries... and @team/pkg-name, 1024.'
    for (const { name, start, end } of thingsIn(text)) expect(text.slice(start, end)).toBe(name)
    expect(names(text)).toHaveLength(4)
  })
})

describe('data is no name', () => {
  test.each([
    ['a line of base64', 'iVBORw0KGgo9A1'.repeat(60)],
    ['a word of a megabyte', 'a1b2'.repeat(250_000)],
    ['a megabyte of slashes', '/'.repeat(1_000_000)],
    ['a megabyte of dots', '.'.repeat(1_000_000)],
    ['a megabyte of at signs', '@'.repeat(1_000_000)],
    ['a megabyte of dashes and one letter', `${'-'.repeat(1_000_000)}a`],
    ['a megabyte of digits', '7'.repeat(1_000_000)],
  ])('%s is passed over, and what follows is found', (_, data) => {
    const found = names(`${data} src/after.ts`)
    expect(found.at(-1)).toBe('src/after.ts')
    expect(found.length).toBeLessThanOrEqual(2)
  })

  test('a megabyte of addresses is read to its end', () => {
    const found = names('https://a.example/x '.repeat(50_000))
    expect(found).toHaveLength(50_000)
  })
})
