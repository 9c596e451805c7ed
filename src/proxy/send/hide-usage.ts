import { shapeOf } from '../../upstream/answer-shape.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { BodyTransform } from '../wire/deliver.ts'
import { EVENT_BYTES_MAX, NAMED_CHOICE_CHARS_MAX, namesChoice, withoutUsage } from './usage-event.ts'

/** What hides the event that only Foldgate asked for in this answer; null where there can be none, or none is read. */
export function usageHiderFor(answer: Answer): BodyTransform | null {
  return shapeOf(answer) === 'stream' ? createUsageHider() : null
}

/**
 * Takes the usage event out of a stream of server-sent events, but for what it says besides (`usage-event.ts`).
 * Every other byte goes on as it came, and no later than its event is complete; of an incomplete one only what
 * may still become a usage event is held back. Line ends are those of WHATWG HTML, 9.2.6.
 *
 * @internal exported for tests
 */
export function createUsageHider(): BodyTransform {
  /** The incomplete event's beginning, from earlier pieces, as long as it is held. */
  let held: Buffer[] = []
  let heldBytes = 0
  let heldTail = ''
  /** The incomplete event cannot be a usage event any more. */
  let isPassing = false
  let isAtEventStart = true
  let isAtLineStart = true
  let isComment = false
  /** The last piece ended in a carriage return; a line feed that follows belongs to it, and shares its fate. */
  let isAfterReturn = false
  let isLastHidden = false

  function feed(piece: Buffer): Buffer {
    const out: Buffer[] = []
    let passedTo = 0
    let eventStart = 0
    let index = 0
    if (isAfterReturn && piece[0] === lineFeed) {
      index = 1
      if (isAtEventStart) eventStart = 1
      if (isAtEventStart && isLastHidden) passedTo = 1
    }
    if (piece.length > 0) isAfterReturn = false
    while (index < piece.length) {
      if (isAtLineStart) isComment = piece[index] === colon
      const contentEnd = endOfContent(piece, index)
      if (contentEnd > index) isAtLineStart = false
      if (contentEnd === piece.length) break
      const isBlank = isAtLineStart
      index = afterLineEnd(piece, contentEnd)
      isAtLineStart = true
      isAfterReturn = index === piece.length && piece[index - 1] === carriageReturn
      // A comment before an event is no part of it: whoever keeps a connection alive with them has to be heard.
      if (isBlank || (isComment && isAtEventStart)) endEvent(index)
      else isAtEventStart = false
    }
    holdOrPass()
    return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out)

    function endEvent(eventEnd: number): void {
      const left = isPassing ? null : withoutUsage(wholeEvent(piece.subarray(eventStart, eventEnd)))
      if (left !== null) {
        out.push(piece.subarray(passedTo, eventStart), left.bytes)
        passedTo = eventEnd
      } else out.push(...held)
      release()
      isLastHidden = left?.isEvent === false
      isPassing = false
      isAtEventStart = true
      eventStart = eventEnd
    }

    function holdOrPass(): void {
      const rest = piece.subarray(eventStart)
      const tooLong = heldBytes + rest.length > EVENT_BYTES_MAX
      const recent = isPassing || tooLong ? '' : heldTail + rest.toString('latin1')
      isPassing ||= tooLong || namesChoice.test(recent)
      if (isPassing) {
        out.push(...held, piece.subarray(passedTo))
        release()
        return
      }
      out.push(piece.subarray(passedTo, eventStart))
      if (rest.length === 0) return
      held.push(rest)
      heldBytes += rest.length
      heldTail = recent.slice(-NAMED_CHOICE_CHARS_MAX)
    }
  }

  function end(): Buffer {
    const rest = Buffer.concat(held)
    release()
    // Many servers leave out the last blank line, and some clients read on without it.
    return withoutUsage(rest)?.bytes ?? rest
  }

  function wholeEvent(last: Buffer): Buffer {
    return held.length === 0 ? last : Buffer.concat([...held, last])
  }

  function release(): void {
    held = []
    heldBytes = 0
    heldTail = ''
  }

  return { feed, end }
}

// --- internal ---

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a

function endOfContent(piece: Buffer, start: number): number {
  let index = start
  while (index < piece.length && piece[index] !== lineFeed && piece[index] !== carriageReturn) index += 1
  return index
}

function afterLineEnd(piece: Buffer, contentEnd: number): number {
  const isPair = piece[contentEnd] === carriageReturn && piece[contentEnd + 1] === lineFeed
  return contentEnd + (isPair ? 2 : 1)
}
