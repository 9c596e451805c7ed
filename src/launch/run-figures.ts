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
  /** Prompt tokens: as they came, as they were sent, and of these read from the provider's cache. */
  readonly receivedTokens: number
  readonly sentTokens: number
  readonly cachedTokens: number
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
    receivedTokens: after.receivedTokens - before.receivedTokens,
    sentTokens: after.sentTokens - before.sentTokens,
    cachedTokens: after.cachedTokens - before.cachedTokens,
  }
}

// --- internal ---

/** The sum of a counter over the series with these labels. */
function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  let sum = 0
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue
    const end = line.lastIndexOf('}')
    const found = line.slice(name.length + 1, end).split(',')
    if (wanted.every((label) => found.includes(label))) sum += Number(line.slice(end + 1))
  }
  return sum
}
