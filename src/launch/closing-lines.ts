import { grouped } from '../log/grouped.ts'
import type { RunFigures } from './run-figures.ts'

/** What is said at the end of a run: what became of its requests, and where that can be seen. `goesOn`: whether Foldgate does. */
export function closingLines(figures: RunFigures, seen: string, goesOn: boolean): readonly [string, string] {
  if (figures.conversations === 0)
    return [nothingCame(figures), goesOn ? `${whyNothingCame} For now ${seen}` : whyNothingCame]
  return [`foldgate: ${whatWasDone(figures)}`, `foldgate: ${seen}`]
}

// --- internal ---

const whyNothingCame =
  'foldgate: the program may not read these base URLs, have another server in its own settings, or had nothing to ask; "foldgate run --print -- COMMAND" shows what it is given, docs/run.md what can be in the way.'

function nothingCame({ others }: RunFigures): string {
  if (others === 0) return 'foldgate: no request came through.'
  return `foldgate: no conversation came through, only ${counted(others, 'other request')}.`
}

function whatWasDone(figures: RunFigures): string {
  const { conversations, compacted, recovered, refused, receivedTokens, sentTokens, cachedTokens } = figures
  const done = [`${grouped(compacted)} compacted`, `${grouped(recovered)} recovered from an overflow`]
  if (refused > 0) done.push(`${grouped(refused)} refused`)
  const isUntouched = compacted + recovered + refused === 0
  const told = [
    counted(conversations, 'request') + (isUntouched ? ', sent as they came' : `: ${joined(done)}`),
  ]
  const saved = receivedTokens - sentTokens
  if (saved > 0) told.push(`${grouped(saved)} of ${grouped(receivedTokens)} prompt tokens saved`)
  if (cachedTokens > 0 && sentTokens > 0) {
    const percent = Math.min(100, Math.round((100 * cachedTokens) / sentTokens))
    told.push(`${percent} % of what was sent came from the provider's cache`)
  }
  return `${told.join('; ')}.`
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}
