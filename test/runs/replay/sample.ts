import type { Subject } from './subject.ts'

/** The conversations of each file that are compared across processes: its longest ones. */
export function sampled(subjects: readonly Subject[]): readonly Subject[] {
  const byFile = Map.groupBy(subjects, ({ recording }) => recording.file)
  return [...byFile.values()].flatMap((all) =>
    all.toSorted((one, other) => tokensOf(other) - tokensOf(one)).slice(0, SAMPLE_CONVERSATIONS),
  )
}

/** Some request points of a conversation, the last one among them. */
export function sampledPoints(points: readonly number[]): readonly number[] {
  const count = Math.min(points.length, SAMPLE_POINTS)
  const chosen = Array.from({ length: count }, (_, index) =>
    points.at(Math.ceil(((index + 1) * points.length) / count) - 1),
  )
  return [...new Set(chosen)].filter((point) => point !== undefined)
}

/** Names a request point of a conversation across processes. */
export function sampleKey({ recording, variant }: Subject, point: number): string {
  return [recording.file, recording.id, variant, point].join(' ')
}

// --- internal ---

const SAMPLE_CONVERSATIONS = 4
const SAMPLE_POINTS = 10

function tokensOf(subject: Subject): number {
  return subject.promptTokens(subject.messages.length)
}
