import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { type MetricFacts, metricNames as allMetrics } from '../../src/telemetry/metrics/metrics.ts'
import type { PassName } from '../../src/compaction/passes/passes.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
import { failingParts } from '../../src/telemetry/failures.ts'
import type { Action } from '../../src/telemetry/journal/rows.ts'
import { anchorsOf, root } from './pages.ts'

const metricNames: Readonly<Record<string, MetricFacts>> = allMetrics

const files = {
  dashboard: await readFile(join(root, 'examples/grafana/foldgate.json'), 'utf8'),
  alerts: await readFile(join(root, 'examples/prometheus/alerts.yaml'), 'utf8'),
  scrape: await readFile(join(root, 'examples/prometheus/prometheus.yaml'), 'utf8'),
}

const text = z.string().min(1)

const templateVariable = z.looseObject({
  type: text,
  name: text,
  query: z.union([text, z.object({ query: text })]),
})

const panel = z.looseObject({
  id: z.int(),
  type: text,
  title: text,
  description: text,
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  datasource: z.looseObject({ uid: text }).optional(),
  targets: z.array(z.looseObject({ expr: text, legendFormat: z.string(), refId: text })).optional(),
})

const head = { title: text, uid: text, schemaVersion: z.int().min(39) }

const dashboard = z
  .looseObject({ ...head, templating: z.object({ list: z.array(templateVariable) }), panels: z.array(panel) })
  .parse(JSON.parse(files.dashboard))

const rule = z.strictObject({
  alert: text,
  expr: text,
  for: text.optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.strictObject({ summary: text, description: text }),
})

const alerts = z
  .strictObject({ groups: z.array(z.strictObject({ name: text, rules: z.array(rule) })) })
  .parse(parse(files.alerts))

const rules = alerts.groups.flatMap((group) => group.rules)
const charts = dashboard.panels.filter(({ type }) => type !== 'row')
const chartQueries = charts.flatMap(({ targets = [] }) => targets)
const queries = [...chartQueries.map(({ expr }) => expr), ...rules.map(({ expr }) => expr)]

describe('the dashboard and the alerts name what is there', () => {
  test('every query is about a metric that Foldgate has, by the name that its type gives it', () => {
    const named = queries.filter((expr) => expr !== unreachable).map(namesIn)
    expect(named.filter((names) => names.length === 0)).toEqual([])
    expect(named.flat().filter((name) => metricNamed(name) === null)).toEqual([])
  })

  test('every metric is shown', () => {
    const shown = new Set(chartQueries.flatMap(({ expr }) => namesIn(expr)).map(baseName))
    expect(Object.keys(metricNames).filter((name) => !shown.has(name))).toEqual([])
  })

  test.each([
    ['selects', selectionsIn],
    ['groups', groupingsIn],
  ])('every label that a query %s by belongs to its metric', (_, labelsIn) => {
    const labels = queries.flatMap(labelsIn)
    expect(labels.length).toBeGreaterThan(20)
    expect(labels.filter(({ name, label }) => !labelsOf(name).includes(label))).toEqual([])
  })

  test('every value that a query selects is one that its label has', () => {
    const wrong = queries.flatMap(selectionsIn).filter(({ label, values }) => {
      const known = valuesOf[label]
      return known !== undefined && values.some((value) => !known.includes(value))
    })
    expect(wrong).toEqual([])
  })

  test('every label that a legend or a text quotes is one that its query leaves', () => {
    const legends = chartQueries.map(({ expr, legendFormat }) => ({ expr, quoted: legendFormat }))
    const texts = rules.map(({ expr, annotations }) => ({ expr, quoted: JSON.stringify(annotations) }))
    const lost = [...legends, ...texts].flatMap(({ expr, quoted }) => {
      const left = expr === unreachable ? scrapeLabels : groupingsIn(expr).map(({ label }) => label)
      const wanted = [...quoted.matchAll(/\{\{ ?(?:\$labels\.)?([a-z_]+) ?\}\}/g)]
      return wanted.filter(([, label = '']) => !left.includes(label))
    })
    expect(lost).toEqual([])
  })

  test('every section of the troubleshooting page that they point to is there', async () => {
    const anchors = anchorsOf(await readFile(join(root, 'docs/troubleshooting.md'), 'utf8'))
    expect(pointersIn(files.dashboard).length).toBeGreaterThan(3)
    const named = [...pointersIn(files.dashboard), ...pointersIn(files.alerts)]
    expect(named.filter((anchor) => !anchors.has(anchor))).toEqual([])
    expect(rules.filter(({ annotations }) => pointersIn(annotations.description).length === 0)).toEqual([])
  })
})

describe('the dashboard can be imported anywhere', () => {
  test('every panel has an id of its own and lies within the grid, beside all others', () => {
    const ids = dashboard.panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(dashboard.panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([])
  })

  test('every chart asks the data source that its reader has chosen, and each of its variables is there', () => {
    const variables = dashboard.templating.list
    expect(variables).toContainEqual(expect.objectContaining({ type: 'datasource', query: 'prometheus' }))
    expect(charts.filter(({ datasource }) => datasource?.uid !== `\${${variables[0]?.name}}`)).toEqual([])
    const used = queries.flatMap((expr) => Array.from(expr.matchAll(/\$([a-z]\w*)/g), ([, name]) => name))
    expect(used.filter((name) => !variables.some((variable) => variable.name === name))).toEqual([])
  })

  test('the list of profiles is that of a metric that has them', () => {
    const query = dashboard.templating.list
      .map((variable) => variable.query)
      .find((one) => typeof one === 'object')
    const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query?.query ?? '') ?? []
    expect(metricNames[name]?.labels).toContain(label)
  })
})

test('the scrape example asks the admin listener where it is by default, under the name that the alerts know', () => {
  const { admin } = settingsSchema.parse({})
  const asked = { job_name: 'foldgate', static_configs: [{ targets: [`${admin.host}:${admin.port}`] }] }
  expect(parse(files.scrape)).toMatchObject({ scrape_configs: [asked], rule_files: ['alerts.yaml'] })
  expect(rules.map(({ expr }) => expr)).toContain(unreachable)
})

/** What Prometheus adds to everything that it reads. */
const scrapeLabels = ['job', 'instance']

/** The one query that is about no metric of Foldgate's. */
const unreachable = 'up{job="foldgate"} == 0'

/** The values of labels that have a few; a profile may have any name. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  action: ['relayed', 'compacted', 'recovered', 'restored', 'bypassed', 'failed-open', 'refused'] satisfies (
    | Action
    | 'refused'
  )[],
  endpoint: ['chat_completions', 'responses', 'messages', 'completions', 'api_chat', 'other'],
  stage: ['received', 'sent', 'cached'],
  pass: ['render', 'preview', 'clear', 'fold', 'clip'] satisfies PassName[],
  part: failingParts,
  outcome: ['recovered', 'failed', 'written', 'cancelled'],
  kind: ['prompt', 'cached', 'completion'],
  quantile: ['0.5', '0.9', '0.99'],
  // An upper bound that is a whole number is written with and without its point.
  le: ['1', '1.0'],
}

/** Foldgate's metrics in a query, suffixes included. */
const namesIn = (expr: string): readonly string[] =>
  Array.from(expr.matchAll(/\bfoldgate_\w+/g), ([name]) => name)

/** The sections of the troubleshooting page that a text points to. */
const pointersIn = (whole: string): readonly string[] =>
  Array.from(whole.matchAll(/docs\/troubleshooting\.md#([\w-]+)/g), ([, anchor]) => anchor ?? '')

const baseName = (name: string): string =>
  metricNames[name] === undefined ? name.replace(/_(?:bucket|sum|count)$/, '') : name

/** The metric of a name as a query writes it; null where there is none by that name. */
function metricNamed(name: string): MetricFacts | null {
  const metric = metricNames[baseName(name)]
  if (metric === undefined) return null
  const [suffix = ''] = /_(?:bucket|sum|count)$/.exec(name.slice(baseName(name).length)) ?? []
  const several = ['_sum', '_count']
  const suffixes = {
    counter: [''],
    gauge: [''],
    histogram: ['_bucket', ...several],
    summary: ['', ...several],
  }
  return suffixes[metric.type].includes(suffix) ? metric : null
}

function labelsOf(name: string): readonly string[] {
  if (name === 'up') return scrapeLabels
  const metric = metricNamed(name)
  if (metric === null) return []
  const own = name.endsWith('_bucket') ? ['le'] : metric.type === 'summary' ? ['quantile'] : []
  return [...metric.labels, ...own, ...scrapeLabels]
}

type Selection = { readonly name: string; readonly label: string; readonly values: readonly string[] }

/** What stands in braces behind a metric. */
const selectionsIn = (expr: string): readonly Selection[] =>
  [...expr.matchAll(/\b(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inside = '']) =>
    [...inside.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, label = '', value = '']) => ({
      name,
      label,
      values: value.startsWith('$') ? [] : value.split('|'),
    })),
  )

/** What a query groups by, with the metric that follows. */
const groupingsIn = (expr: string): readonly { readonly name: string; readonly label: string }[] =>
  [...expr.matchAll(/\bby \(([^)]*)\)[^]*?\b(foldgate_\w+)/g)].flatMap(([, labels = '', name = '']) =>
    labels.split(', ').map((label) => ({ name, label })),
  )
