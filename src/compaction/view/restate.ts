import type { Subject } from '../../subject/subject.ts'
import { originalMessage, type ViewMessage } from './view-message.ts'

/** What holds for all that follows, as it is said again. */
export type Restated = {
  /** Those that may stand wherever they are put, in their order. */
  readonly plain: readonly number[]
  /** System messages that have to become one, before an entry of the model's or at the end. */
  readonly systems: readonly number[]
  /** Where the tail goes on behind that place, and behind a system message of its own there. */
  readonly resumeAt: number
}

/** How messages are restated behind a fold, before the tail from `tail` up to `point`. */
export function restatedIn(
  { dialect, messages }: Subject,
  restated: readonly number[],
  tail: number,
  point: number,
): Restated {
  const isSystem = (index: number): boolean => messages[index]?.facts.role === 'system'
  const systems = dialect.entries.joinedSystems === null ? [] : restated.filter(isSystem)
  if (systems.length === 0) return { plain: restated, systems, resumeAt: tail }
  let resumeAt = tail
  while (resumeAt < point && messages[resumeAt]?.facts.role === 'user') resumeAt += 1
  if (resumeAt < point && isSystem(resumeAt)) systems.push(resumeAt++)
  return { plain: restated.filter((index) => !isSystem(index)), systems, resumeAt }
}

/** System messages as one; null where nothing of them is left to say. */
export function joinedSystem(subject: Subject, systems: readonly number[]): ViewMessage | null {
  const { dialect, source, messages } = subject
  const [first] = systems
  if (first === undefined) return null
  const texts = systems.map((index) => {
    const { start, end } = messages[index] ?? { start: 0, end: 0 }
    return source.text(start, end)
  })
  const base = originalMessage(subject, first)
  const json = dialect.entries.joinedSystems?.(texts) ?? null
  if (json === null) return null
  if (systems.length === 1) return base
  const tokens = systems.reduce((sum, index) => sum + (subject.sizes[index] ?? 0), 0)
  return { ...base, item: { kind: 'made', json }, tokens }
}
