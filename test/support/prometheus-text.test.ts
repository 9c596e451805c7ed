import { expect, test } from 'vitest'
import { parsePrometheusText, valueOf } from './prometheus-text.ts'

test('reads names, labels and values', () => {
  const families = parsePrometheusText(
    '# HELP a_total Says \\\\ and\\n more.\n# TYPE a_total counter\na_total{x="1,\\"2\\"}",y="\\\\\\n"} 3\na_total 1e-7\n',
  )
  expect(families.get('a_total')).toEqual({
    type: 'counter',
    help: 'Says \\ and\n more.',
    samples: [
      { name: 'a_total', labels: { x: '1,"2"}', y: '\\\n' }, value: 3 },
      { name: 'a_total', labels: {}, value: 1e-7 },
    ],
  })
  expect(valueOf(families, 'a_total')).toBe(1e-7)
  expect(valueOf(families, 'a_total', { x: '1' })).toBeNull()
})

const head = '# HELP a Help.\n# TYPE a gauge\n'

test.each([
  ['no end of the last line', `${head}a 1`, 'The last line'],
  ['no type', 'a 1\n', 'Not where its metric is'],
  ['no help', '# TYPE a gauge\na 1\n', 'no help'],
  ['another metric in between', `${head}b 1\n`, 'Not where its metric is'],
  ['a series twice', `${head}a{x="1",y="2"} 1\na{y="2",x="1"} 1\n`, 'Twice'],
  ['a label twice', `${head}a{x="1",x="2"} 1\n`, 'A label twice'],
  ['a quote that is not escaped', `${head}a{x="""} 1\n`, 'No labels'],
  ['an escape that means nothing', `${head}a{x="\\t"} 1\n`, 'No labels'],
  ['no number', `${head}a undefined\n`, 'No value'],
  ['two types', `${head}${head}`, 'Two helps'],
])('refuses %s', (_, text, trouble) => {
  expect(() => parsePrometheusText(text)).toThrow(trouble)
})
