import { grouped } from '../log/grouped.ts'
import { failedRequests } from './failed-requests.ts'
import type { RunFigures } from './run-figures.ts'

export type RunEnd = {
  /** How what was done can be seen. */
  readonly seen: string
  /** Whether Foldgate goes on. */
  readonly goesOn: boolean
  /** Whether the program ended as one does that its user has quit. */
  readonly isQuit: boolean
  /** Addresses of the upstreams, by their names. */
  readonly addresses: ReadonlyMap<string, string>
}

/** What is said at the end of a run: what became of its requests, and where that can be seen. */
export function closingLines(figures: RunFigures, end: RunEnd): readonly string[] {
  const { seen, goesOn, isQuit, addresses } = end
  if (figures.conversations > 0) return [`foldgate: ${whatWasDone(figures, addresses)}`, `foldgate: ${seen}`]
  const further = goesOn ? [`foldgate: ${seen}`] : []
  if (isQuit) return [`foldgate: ${nothingCame(figures)}; ${ifAsked}`, ...further]
  return [`foldgate: ${nothingCame(figures)}.`, whyNothingCame, ...further]
}

// --- internal ---

/** Most who quit have asked nothing. */
const ifAsked = 'if it was asked something, "npx foldgate run --help" says what can be in the way.'

const whyNothingCame =
  'foldgate: the program may not read these base URLs, have another server in its own settings, or had nothing to ask; "npx foldgate run --print -- COMMAND" shows what it is given, "npx foldgate run --help" says what can be in the way.'

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
  const done: string[] = []
  if (compacted + recovered > 0)
    done.push(`${grouped(compacted)} compacted`, `${grouped(recovered)} recovered from an overflow`)
  else if (untouched === conversations) return `${requests}, ${asItCame}`
  else if (untouched > 0) done.push(`${grouped(untouched)} ${asItCame}`)
  done.push(...failed.map(({ count, ofSome }) => `${grouped(count)} ${ofSome}`))
  if (otherwise > 0) done.push(`${grouped(otherwise)} refused`)
  if (left > 0) done.push(`${grouped(left)} given up by the program before the answer`)
  return `${requests}: ${joined(done)}`
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
