import { ruleBreaks, type Template } from '../../support/strict-upstream/message-rules.ts'
import type { PromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import type { Job } from './job.ts'
import { requestPoints, type RawMessage, type Recording } from './recordings.ts'
import { repaired } from './repair.ts'
import { createSubject, type Subject, type Variant } from './subject.ts'

type SubjectsOptions = {
  readonly job: Job
  readonly counter: PromptCounter
  readonly pointsMax: number | null
}

/** What is replayed of the recordings: those that break the upstream's rules twice, repaired and as they are. */
export function openSubjects(recordings: readonly Recording[], options: SubjectsOptions): readonly Subject[] {
  const { job, counter, pointsMax } = options
  const template = job.upstreamTemplate
  const open = (recording: Recording, variant: Variant, messages: readonly RawMessage[]) => {
    const all = messages === recording.messages ? recording.points : pointsOf(recording, messages)
    return createSubject({ recording, variant, messages, points: thinned(all, pointsMax), counter })
  }
  return recordings.flatMap((recording) => {
    if (!isBroken(recording.messages, template)) return [open(recording, 'recorded', recording.messages)]
    const sound = repaired(recording.messages, template)
    if (isBroken(sound, template)) throw new Error(`${recording.file} ${recording.id} could not be repaired`)
    const whole = open(recording, 'repaired', sound)
    // Where the placement is to be found out, refusals of the client's own sequence would only confuse.
    return job.profileTemplate === 'auto' && template === 'strict'
      ? [whole]
      : [whole, open(recording, 'broken', recording.messages)]
  })
}

// --- internal ---

function isBroken(messages: readonly RawMessage[], template: Template): boolean {
  const read = messages.map(({ message }) => message)
  return ruleBreaks(read, template).length > 0
}

/** A single recorded request ends with its last message; a conversation is asked for before every answer. */
function pointsOf(recording: Recording, messages: readonly RawMessage[]): readonly number[] {
  const isSingle = recording.points[0] === recording.messages.length
  return isSingle ? [messages.length] : requestPoints(messages)
}

/** At most so many points, evenly spread, the last one among them. */
function thinned(points: readonly number[], pointsMax: number | null): readonly number[] {
  if (pointsMax === null || points.length <= pointsMax) return points
  return Array.from(
    { length: pointsMax },
    (_, index) => points[Math.ceil(((index + 1) * points.length) / pointsMax) - 1] ?? 0,
  )
}
