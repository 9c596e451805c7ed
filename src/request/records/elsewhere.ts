import type { Compaction } from '../../compaction/compaction.ts'
import type { Chat } from '../request.ts'

/** The compaction with a note that the request which ends with this conversation was sent in another form. */
export function withElsewhere(compaction: Compaction, { messages, keys }: Chat): Compaction {
  const point = messages.length
  const others = (compaction.elsewhere ?? []).filter((each) => each.point !== point)
  return { ...compaction, elsewhere: [...others.slice(1 - NOTES_MAX), { point, key: keys[point] ?? '' }] }
}

/** The compaction without notes of a conversation that begins like this one and went on in another way. */
export function ownElsewhere(compaction: Compaction, { keys }: Chat): Compaction {
  const { elsewhere, ...others } = compaction
  if (elsewhere === undefined) return compaction
  const own = elsewhere.filter(({ point, key }) => keys[point] === key)
  if (own.length === elsewhere.length) return compaction
  return own.length === 0 ? others : { ...others, elsewhere: own }
}

// --- internal ---

/** Whoever sends more requests so behind one compaction has the oldest refused, once. */
const NOTES_MAX = 64
