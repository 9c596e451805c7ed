import type { ErrorAnswers } from './run-figures.ts'

/** What a number of requests met, as it is told: `4 answered 404 by URL`, or of all of them `all answered 404 by URL`. */
export type FailedRequests = {
  readonly count: number
  /** Behind the number of requests that it stands for. */
  readonly ofSome: string
  /** Behind the number of all requests and a comma, where all of them met it. */
  readonly ofAll: string
  /** What may be behind it, as a question; null where the status says it. */
  readonly question: string | null
}

/** The failed requests, the most frequent first, by what they met and where. `addresses`: of upstreams, by their names. */
export function failedRequests(
  errors: readonly ErrorAnswers[],
  addresses: ReadonlyMap<string, string>,
): readonly FailedRequests[] {
  const met = new Map<string, FailedRequests>()
  for (const error of errors) {
    const told = toldOf(error, addresses.get(error.upstream) ?? `the upstream "${error.upstream}"`)
    const known = met.get(told.ofSome)
    met.set(told.ofSome, known === undefined ? told : { ...known, count: known.count + told.count })
  }
  return [...met.values()].toSorted((one, other) => other.count - one.count)
}

// --- internal ---

function toldOf({ status, code, endpoint, count }: ErrorAnswers, where: string): FailedRequests {
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
