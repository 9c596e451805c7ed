import type { Answers, Usage } from '../../dialects/answer-contract.ts'
import { parseAnswerText } from '../../dialects/answer-json.ts'
import { createEventReader } from '../../dialects/event-reader.ts'
import { shapeOf } from '../../upstream/answer-shape.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { Judged } from '../request.ts'

/**
 * What an answer has stated of its usage by the time that it goes on to the client; null if nothing of it was held back, or it
 * had said nothing of that.
 */
export function heldUsage({ answer, held, facts }: HeldAnswer, answers: Answers): Usage | null {
  if (facts !== undefined) return facts.usage
  const shape = shapeOf(answer)
  const bytes = held.reduce((sum, piece) => sum + piece.length, 0)
  if (shape === null || bytes === 0 || bytes > READ_AGAIN_BYTES_MAX) return null
  const text = Buffer.concat(held).toString('utf8')
  if (shape === 'json') return answers.read(parseAnswerText(text))?.usage ?? null
  const reader = createEventReader({ eventCharactersMax: READ_AGAIN_BYTES_MAX })
  let usage: Usage | null = null
  for (const event of reader.feed(text).map(answers.openStream()))
    if (event.kind === 'facts') usage = event.facts.usage ?? usage
  return usage
}

type HeldAnswer = Pick<Judged, 'held' | 'facts'> & { readonly answer: Pick<Answer, 'status' | 'rawHeaders'> }

// --- internal ---

/** What is read once more, for a header: in a fraction of a millisecond. */
const READ_AGAIN_BYTES_MAX = 65_536
