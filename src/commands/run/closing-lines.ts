import { grouped } from '../../telemetry/log/lines.ts'

export type RunEnd = {
  /** How what was done can be seen. */
  readonly seen: string
  /** Whether Foldgate goes on. */
  readonly goesOn: boolean
  /** Whether the program ended as one does that its user has quit. */
  readonly isQuit: boolean
  /** How Foldgate is started again. */
  readonly startedAs: string
  /** Addresses of the upstreams, by their names. */
  readonly addresses: ReadonlyMap<string, string>
}

/** What is said at the end of a run: what became of its requests, and where that can be seen. */
export function closingLines(figures: RunFigures, end: RunEnd): readonly string[] {
  const { goesOn, isQuit, addresses, startedAs } = end
  // Where nothing was done there is nothing to be seen.
  const isSeen = goesOn || figures.compacted + figures.recovered > 0
  const seen = isSeen ? [`foldgate: ${end.seen}`] : []
  const { conversations, compactions } = figures
  if (conversations > 0) {
    // One compaction should do for many requests.
    const isCramped = conversations >= CRAMPED_REQUESTS_MIN && compactions > conversations / 2
    return [`foldgate: ${whatWasDone(figures, addresses)}`, ...(isCramped ? [whyCramped] : []), ...seen]
  }
  const inTheWay = `"${startedAs} run --help" says what can be in the way.`
  if (isQuit) return [`foldgate: ${nothingCame(figures)}; if it was asked something, ${inTheWay}`, ...seen]
  return [
    `foldgate: ${nothingCame(figures)}.`,
    `foldgate: the program may not read these base URLs, have another server in its own settings, or had nothing to ask; "${startedAs} run --print -- COMMAND" shows what it is given, ${inTheWay}`,
    ...seen,
  ]
}

/** What became of the requests of a run. */
export type RunFigures = ReturnType<typeof readFigures>

/** Reads the figures from metrics in Prometheus' text format: of what came since an earlier reading, if one is given. */
export function readFigures(metrics: string, before = '') {
  const earlier = new Map(seriesIn(before).map(({ id, value }) => [id, value]))
  const series = seriesIn(metrics).map((each) => ({
    ...each,
    value: each.value - (earlier.get(each.id) ?? 0),
  }))
  const sumOf = (name: string, wanted: Readonly<Record<string, string>>): number =>
    series
      .filter((each) => each.name === name && hasLabels(each, wanted))
      .reduce((sum, { value }) => sum + value, 0)
  const requests = (labels: Readonly<Record<string, string>>): number =>
    sumOf('foldgate_requests_total', labels)
  const conversations = (action: string): number =>
    requests({ action }) - requests({ action, endpoint: 'other' })
  const tokens = (stage: string): number => sumOf('foldgate_prompt_tokens_total', { stage })
  const others = requests({ endpoint: 'other' })
  return {
    /** Those that carried a conversation. */
    conversations: requests({}) - others,
    /** All others that came through: lists of models, embeddings, … */
    others,
    compacted: requests({ action: 'compacted' }),
    recovered: requests({ action: 'recovered' }),
    /** At least so many compactions were made: each is counted once for every pass that stands in it. */
    compactions: Math.max(
      0,
      ...series.map((each) => (each.name === 'foldgate_compactions_total' ? each.value : 0)),
    ),
    /** With an error of Foldgate's own. */
    refused: conversations('refused'),
    /** Left by the program before there was an answer. */
    left: conversations('left'),
    /** Answered with an error, by what the metric tells of them. */
    errors: series
      .filter(({ name, value }) => name === 'foldgate_error_answers_total' && value > 0)
      .map(({ labels: { status = '', code = '', upstream = '', endpoint = '' }, value: count }) => ({
        status,
        code,
        upstream,
        endpoint,
        count,
      })),
    /** Prompt tokens: as they came, as they were sent, and of these read from the provider's cache. */
    receivedTokens: tokens('received'),
    sentTokens: tokens('sent'),
    cachedTokens: tokens('cached'),
  }
}

// --- internal ---

/**
 * Conversations that were answered with the same error: with the code of Foldgate's own (empty for the upstream's), and the
 * upstream's name (empty where none was asked).
 */
type ErrorAnswers = RunFigures['errors'][number]

/** Of fewer requests nothing can be said. */
const CRAMPED_REQUESTS_MIN = 6

const whyCramped =
  'foldgate: most requests had to be compacted anew, as where system text and tools fill most of the window: fewer tools, shorter instructions or a larger window help.'

function nothingCame({ others }: RunFigures): string {
  if (others === 0) return 'no request came through'
  return `no conversation came through, only ${counted(others, 'other request')}`
}

function whatWasDone(figures: RunFigures, addresses: RunEnd['addresses']): string {
  const { receivedTokens, sentTokens, cachedTokens } = figures
  const told = [whatBecame(figures, addresses)]
  const saved = receivedTokens - sentTokens
  if (saved > 0) told.push(`${grouped(saved)} of ${grouped(receivedTokens)} prompt tokens saved`)
  if (cachedTokens > 0 && sentTokens > 0) {
    const percent = Math.min(100, Math.round((100 * cachedTokens) / sentTokens))
    told.push(`${percent} % of what was sent came from the provider's cache`)
  }
  const text = told.join('; ')
  return text.endsWith('?') ? text : `${text}.`
}

/** Success is told of those alone that were answered. */
function whatBecame(figures: RunFigures, addresses: RunEnd['addresses']): string {
  const { conversations, compacted, recovered, refused, left, errors } = figures
  const requests = counted(conversations, 'request')
  const failed = failedRequests(errors, addresses)
  const [first] = failed
  const failedCount = failed.reduce((sum, { count }) => sum + count, 0)
  // A refusal whose status nobody tells: of an API that is not compacted.
  const otherwise = refused - errors.reduce((sum, { code, count }) => sum + (code === '' ? 0 : count), 0)
  if (first !== undefined && first.count >= conversations) {
    const question = first.question === null ? '' : `: ${first.question}`
    return `${requests}, ${first.ofAll}${question}`
  }
  const untouched = conversations - failedCount - Math.max(0, otherwise) - left
  const asItCame = `sent as ${untouched === 1 ? 'it' : 'they'} came`
  if (untouched === conversations && compacted + recovered === 0) return `${requests}, ${asItCame}`
  const folded = joined([
    [compacted, 'compacted'],
    [recovered, 'recovered from an overflow'],
  ])
  const others = joined([
    [folded === '' ? untouched : 0, asItCame],
    ...failed.map(({ count, ofSome }) => [count, ofSome] as const),
    [otherwise, 'refused'],
    [left, 'given up by the program before the answer'],
  ])
  // What was compacted may have failed all the same.
  return `${requests}: ${[folded, others].filter((part) => part !== '').join('; of all, ')}`
}

function joined(counts: readonly (readonly [count: number, what: string])[]): string {
  const parts = counts.flatMap(([count, what]) => (count > 0 ? [`${grouped(count)} ${what}`] : []))
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** The failed requests, the most frequent first, by what they met and where. `addresses`: of upstreams, by their names. */
function failedRequests(errors: readonly ErrorAnswers[], addresses: ReadonlyMap<string, string>) {
  const met = new Map<string, ReturnType<typeof toldOf>>()
  for (const error of errors) {
    const told = toldOf(error, addresses.get(error.upstream) ?? `the upstream "${error.upstream}"`)
    const known = met.get(told.ofSome)
    met.set(told.ofSome, known === undefined ? told : { ...known, count: known.count + told.count })
  }
  return [...met.values()].toSorted((one, other) => other.count - one.count)
}

/**
 * What a number of requests met, as it is told: `4 answered 404 by URL`, or of all of them `all answered 404 by URL`. `ofSome`
 * stands behind the number of requests, `ofAll` behind the number of all and a comma; `question`: what may be behind it, null
 * where the status says it.
 */
function toldOf({ status, code, endpoint, count }: ErrorAnswers, where: string) {
  if (code === 'upstream_unreachable') {
    const ofSome = `did not reach ${where}`
    const ofAll = count === 1 ? `which ${ofSome}` : `none of which reached ${where}`
    return { count, ofSome, ofAll, question: 'does the server run?' }
  }
  const all = count === 1 ? '' : 'all '
  if (code !== '') {
    const ofSome = `refused by Foldgate (${code})`
    return { count, ofSome, ofAll: all + ofSome, question: null }
  }
  const ofSome = `answered ${status} by ${where}`
  return { count, ofSome, ofAll: all + ofSome, question: questionOf(status, endpoint) }
}

function questionOf(status: string, endpoint: string): string | null {
  if (status === '401' || status === '403') return 'does it know the key?'
  if (status !== '404' && status !== '405') return null
  const api = apis[endpoint]
  return api === undefined
    ? 'is the address right, and has it the model?'
    : `does the server speak the ${api}, and has it the model?`
}

const apis: Readonly<Record<string, string>> = {
  messages: 'Messages API (/messages)',
  responses: 'Responses API (/responses)',
}

type Series = {
  /** Name and labels as they stand there. */
  readonly id: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

function seriesIn(metrics: string): readonly Series[] {
  return metrics.split('\n').flatMap((line) => {
    const [, id = '', name = '', labelled = '', value] = /^((\w+)\{(.*)\}) (\S+)$/.exec(line) ?? []
    const labels = labelled.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
    const read = Object.fromEntries(Array.from(labels, ([, label = '', text = '']) => [label, text]))
    return value === undefined ? [] : [{ id, name, labels: read, value: Number(value) }]
  })
}

function hasLabels({ labels }: Series, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value)
}
