/** What became of the requests of a run. */
export type RunFigures = {
  /** Those that carried a conversation. */
  readonly conversations: number
  /** All others that came through: lists of models, embeddings, … */
  readonly others: number
  readonly compacted: number
  readonly recovered: number
  /** With an error of Foldgate's own. */
  readonly refused: number
  /** Left by the program before there was an answer. */
  readonly left: number
  /** Answered with an error, by what the metric tells of them. */
  readonly errors: readonly ErrorAnswers[]
  /** Prompt tokens: as they came, as they were sent, and of these read from the provider's cache. */
  readonly receivedTokens: number
  readonly sentTokens: number
  readonly cachedTokens: number
}

/** Conversations that were answered with the same error. */
export type ErrorAnswers = {
  readonly status: string
  /** Of Foldgate's own errors; empty for the upstream's. */
  readonly code: string
  /** The upstream's name; empty where none was asked. */
  readonly upstream: string
  readonly endpoint: string
  readonly count: number
}

/** Reads the figures from metrics, in Prometheus' text format. */
export function readFigures(metrics: string): RunFigures {
  const requests = (labels: Readonly<Record<string, string>>): number =>
    sumOf(metrics, 'foldgate_requests_total', labels)
  const tokens = (stage: string): number => sumOf(metrics, 'foldgate_prompt_tokens_total', { stage })
  const others = requests({ endpoint: 'other' })
  return {
    conversations: requests({}) - others,
    others,
    compacted: requests({ action: 'compacted' }),
    recovered: requests({ action: 'recovered' }),
    refused: requests({ action: 'refused' }) - requests({ action: 'refused', endpoint: 'other' }),
    left: requests({ action: 'left' }) - requests({ action: 'left', endpoint: 'other' }),
    errors: seriesOf(metrics, 'foldgate_error_answers_total').map(({ labels, value }) => ({
      status: labels['status'] ?? '',
      code: labels['code'] ?? '',
      upstream: labels['upstream'] ?? '',
      endpoint: labels['endpoint'] ?? '',
      count: value,
    })),
    receivedTokens: tokens('received'),
    sentTokens: tokens('sent'),
    cachedTokens: tokens('cached'),
  }
}

/** What came between two readings. */
export function figuresBetween(before: RunFigures, after: RunFigures): RunFigures {
  return {
    conversations: after.conversations - before.conversations,
    others: after.others - before.others,
    compacted: after.compacted - before.compacted,
    recovered: after.recovered - before.recovered,
    refused: after.refused - before.refused,
    left: after.left - before.left,
    errors: after.errors.flatMap((each) => {
      const count = each.count - (before.errors.find((known) => isSame(known, each))?.count ?? 0)
      return count > 0 ? [{ ...each, count }] : []
    }),
    receivedTokens: after.receivedTokens - before.receivedTokens,
    sentTokens: after.sentTokens - before.sentTokens,
    cachedTokens: after.cachedTokens - before.cachedTokens,
  }
}

// --- internal ---

function isSame(one: ErrorAnswers, other: ErrorAnswers): boolean {
  return (['status', 'code', 'upstream', 'endpoint'] as const).every((name) => one[name] === other[name])
}

/** The sum of a counter over the series with these labels. */
function sumOf(text: string, name: string, wanted: Readonly<Record<string, string>>): number {
  return seriesOf(text, name)
    .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

type Series = { readonly labels: Readonly<Record<string, string>>; readonly value: number }

function seriesOf(text: string, name: string): readonly Series[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith(`${name}{`)) return []
    const end = line.lastIndexOf('}')
    const found = line.slice(name.length + 1, end).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
    const labels = Object.fromEntries(Array.from(found, ([, label = '', value = '']) => [label, value]))
    return [{ labels, value: Number(line.slice(end + 1)) }]
  })
}
