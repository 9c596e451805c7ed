import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseObject } from '../../support/strict-upstream/wire-message.ts'

/** What a model found of one view: a line of the state file. */
export type Score = {
  /** A hash of the model, the view and the message that followed. */
  readonly key: string
  readonly logProbabilities: readonly number[]
}

/**
 * What was scored before, by its key. A run that was stopped goes on where it was, and a view that is the same bytes is
 * never read again.
 */
export function openState(file: string) {
  const scores = new Map<string, Score>()
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  for (const line of lines) {
    const score = readScore(line)
    if (score !== null) scores.set(score.key, score)
  }
  // A run that was ended while it wrote has left half of a line.
  if (lines.length > 0 && lines.at(-1) !== '') appendFileSync(file, '\n')
  return {
    get: (key: string): Score | null => scores.get(key) ?? null,
    /** `about` is for readers of the file. */
    add: (score: Score, about: object): void => {
      scores.set(score.key, score)
      appendFileSync(file, `${JSON.stringify({ ...about, ...score })}\n`)
    },
  }
}

function readScore(line: string): Score | null {
  const { key, logProbabilities } = parseObject(line) ?? {}
  if (typeof key !== 'string' || !Array.isArray(logProbabilities)) return null
  return { key, logProbabilities: logProbabilities.filter((each) => typeof each === 'number') }
}
