/** A sample of a metric: its own name, which for a histogram carries a suffix, its labels and its value. */
export type Sample = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

type MetricFamily = { readonly type: string; readonly help: string; readonly samples: readonly Sample[] }

/**
 * Reads Prometheus' text format (version 0.0.4, https://prometheus.io/docs/instrumenting/exposition_formats/) more
 * strictly than Prometheus does: each metric has one help and one type, which stand before its samples; all of a metric's
 * lines stand together; no series comes twice. Throws where it is not so.
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('The last line does not end.')
  const families = new Map<string, MetricFamily & { readonly samples: Sample[] }>()
  const helps = new Map<string, string>()
  const series = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue
    const [, helpName, help] = /^# HELP ([a-zA-Z_:][\w:]*) (.*)$/.exec(line) ?? []
    const [, typeName, type] =
      /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (helpName !== undefined) {
      if (helps.has(helpName)) throw new Error(`Two helps: ${line}`)
      helps.set(helpName, unescaped(help ?? '', /\\(.)/g, { n: '\n', '\\': '\\' }))
    } else if (typeName !== undefined && type !== undefined) {
      const given = helps.get(typeName)
      if (families.has(typeName) || given === undefined) throw new Error(`Two types, or no help: ${line}`)
      families.set(typeName, { type, help: given, samples: [] })
      current = typeName
    } else {
      const sample = parseSample(line)
      const family = families.get(current)
      if (family === undefined || !belongs(sample.name, current, family.type))
        throw new Error(`Not where its metric is: ${line}`)
      const id = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted(byName)])
      if (series.has(id)) throw new Error(`Twice: ${line}`)
      series.add(id)
      family.samples.push(sample)
    }
  }
  return families
}

/** The sample with exactly these labels; null where there is none. */
export function valueOf(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''))
  const wanted = Object.entries(labels)
  const found = family?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === wanted.length &&
      wanted.every(([label, value]) => sample.labels[label] === value),
  )
  return found?.value ?? null
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
  one < other ? -1 : 1

function parseSample(line: string): Sample {
  const parts = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
  if (parts === null) throw new Error(`No sample: ${line}`)
  const [, name = '', inBraces = '', written = ''] = parts
  const labels: Record<string, string> = {}
  let rest = inBraces
  while (rest !== '') {
    const label = /^([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\"n])*)"(?:,(?=.)|$)/.exec(rest)
    if (label === null) throw new Error(`No labels: ${line}`)
    const [whole, labelName = '', value = ''] = label
    if (labelName in labels) throw new Error(`A label twice: ${line}`)
    labels[labelName] = unescaped(value, /\\(.)/g, { n: '\n', '\\': '\\', '"': '"' })
    rest = rest.slice(whole.length)
  }
  return { name, labels, value: numberIn(written, line) }
}

function numberIn(written: string, line: string): number {
  if (written === '+Inf' || written === '-Inf') return written === '+Inf' ? Infinity : -Infinity
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(written)) throw new Error(`No value: ${line}`)
  return Number(written)
}

function belongs(name: string, family: string, type: string): boolean {
  const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }[type] ?? ['']
  return suffixes.some((suffix) => name === family + suffix)
}

const unescaped = (text: string, escape: RegExp, meanings: Readonly<Record<string, string>>): string =>
  text.replaceAll(escape, (whole, character: string) => {
    const meaning = meanings[character]
    if (meaning === undefined) throw new Error(`An escape that means nothing: ${whole}`)
    return meaning
  })
