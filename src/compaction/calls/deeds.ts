import type { Steps } from '../../conversation/source.ts'
import { callOf, type Subject } from '../subject.ts'
import { callSubjects, type CallSubject } from './call-subject.ts'

/** A call, what it deals with, and where it was answered. */
export type Deed = CallSubject & {
  readonly index: number
  readonly position: number
  /** The first result; null as long as there is none. */
  readonly result: number | null
  /** Whether that tells of a failure. */
  readonly failed: boolean
}

/** What deeds are read from. */
export type Doing = Pick<Subject, 'dialect' | 'source' | 'messages' | 'structure' | 'memorySpace' | 'digest'>

/** All calls of a conversation, in their order. Read once for each request that asks. */
export function* deedsOf(subject: Doing): Steps<readonly Deed[]> {
  const known = deedsByMessages.get(subject.messages)
  if (known !== undefined) return known
  const deeds: Deed[] = []
  const places = new Map<string, number>()
  for (const [index, { facts }] of subject.messages.entries()) {
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    for (const [position, call] of (yield* callSubjects(subject, index)).entries())
      places.set(
        `${index} ${position}`,
        deeds.push({ ...call, index, position, result: null, failed: false }) - 1,
      )
    const call = facts.answers.length === 1 ? callOf(subject, index) : null
    const place = call === null ? -1 : (places.get(`${call.index} ${call.position}`) ?? -1)
    const deed = deeds[place]
    if (deed?.result === null) deeds[place] = { ...deed, result: index, failed: facts.failed === true }
  }
  deedsByMessages.set(subject.messages, deeds)
  return deeds
}

// --- internal ---

const MESSAGES_PER_STEP = 256

const deedsByMessages = new WeakMap<Subject['messages'], readonly Deed[]>()
