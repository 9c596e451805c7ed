import type { Subject } from '../subject/subject.ts'
import type { Steps } from '../conversation/source.ts'
import { ownLine, segmentsOf, segmentText } from './segments.ts'
import { pausing, type RecallAnswer } from './page.ts'
import { type Asked, type HandleRun, runsText } from './recall-query.ts'

/** Messages word for word, in their order, each of their texts under a label. */
export function readMessages(subject: Subject, asked: Asked): RecallAnswer {
  const last = lastNumber(subject)
  const runs = runsWithin(asked.runs, last)
  /** Where each message begins that was made so far: there another call can go on as if it had asked for no more. */
  const starts: { readonly offset: number; readonly number: number }[] = []

  function* pieces(): RecallAnswer['pieces'] {
    let made = 0
    for (const notice of noticesOf(asked, runs, last)) {
      const line = `${ownLine(notice)}\n`
      made += line.length
      yield line
    }
    for (const run of runs) {
      for (let number = run.first; number <= run.last; number += 1) {
        starts.push({ offset: made, number })
        const text = yield* pausing(messageText(subject, number))
        made += text.length
        yield text
      }
    }
  }

  return {
    pieces: pieces(),
    goOn: (offset) => {
      const from = starts.findLast((start) => start.offset <= offset)
      // What is told before the first message would not be told of other arguments.
      if (from === undefined) return null
      return { messages: runsText(runsFrom(runs, from.number)), offset: offset - from.offset }
    },
    hasEnd: runs.length > 0,
  }
}

/** The number of the last message; 0 where there is none but the leading system block. */
export function lastNumber({ messages, structure }: Subject): number {
  return messages.length - structure.systemCount
}

/** What there is of these runs. */
export function runsWithin(runs: readonly HandleRun[], last: number): readonly HandleRun[] {
  return runs
    .map((run) => ({ first: Math.max(1, run.first), last: Math.min(last, run.last) }))
    .filter((run) => run.first <= run.last)
}

// --- internal ---

function* messageText(subject: Subject, number: number): Steps<string> {
  const index = number - 1 + subject.structure.systemCount
  return (yield* segmentsOf(subject, index)).map(segmentText).join('')
}

function runsFrom(runs: readonly HandleRun[], number: number): readonly HandleRun[] {
  return runs
    .filter((run) => run.last >= number)
    .map((run) => ({ first: Math.max(number, run.first), last: run.last }))
}

function* noticesOf({ runs: askedRuns, isCut }: Asked, runs: readonly HandleRun[], last: number) {
  const isBeyond = askedRuns.some((run) => run.first < 1 || run.last > last)
  if (isBeyond) yield last === 0 ? 'there are no messages yet' : `there are only the messages #1-#${last}`
  const end = runs.at(-1)
  if (isCut && end !== undefined) yield `too many at once: here they are read up to #${end.last}`
}
