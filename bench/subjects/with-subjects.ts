import type { Subject } from './subject.ts'

/** Starts subjects one after the other, leaves out those that are not installed, and stops them whatever comes of it. */
export async function withSubjects<Result>(
  starts: readonly (() => Promise<Subject | null>)[],
  use: (subjects: readonly Subject[]) => Promise<Result>,
): Promise<Result> {
  const subjects: Subject[] = []
  try {
    for (const start of starts) {
      const subject = await start()
      if (subject !== null) subjects.push(subject)
    }
    return await use(subjects)
  } finally {
    await Promise.all(subjects.map(({ stop }) => stop()))
  }
}

/** The subjects in the order of a round: each comes first once, so that none always follows the same neighbour. */
export function inTurn<Item>(items: readonly Item[], round: number): readonly Item[] {
  const first = round % Math.max(1, items.length)
  return [...items.slice(first), ...items.slice(0, first)]
}
