import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { messagesOf, type Recording } from '../harness/recordings.ts'

/** A conversation, and which of its requests are made: from its beginning, each longer than the one before. */
export type Walk = { readonly recording: Recording; readonly points: readonly number[] }

/** So that several conversations share the requests, and each still grows to more than twice the window. */
const REQUESTS_A_CONVERSATION = 50

/** So many requests from a list of files: a conversation of each file in turn. */
export function planWalks(files: readonly (readonly Recording[])[], requests: number): readonly Walk[] {
  const walks: Walk[] = []
  let left = requests
  const longest = Math.max(0, ...files.map((recordings) => recordings.length))
  for (let place = 0; place < longest; place += 1) {
    for (const recordings of files) {
      const recording = recordings[place]
      if (recording === undefined || left === 0) continue
      const points = soundPoints(recording).slice(0, Math.min(left, REQUESTS_A_CONVERSATION))
      left -= points.length
      if (points.length > 0) walks.push({ recording, points })
    }
  }
  return walks
}

/** The requests before the first that is broken by itself: what is refused for its order is then the gateway's doing. */
function soundPoints({ messages, points }: Recording): readonly number[] {
  const all = messagesOf(messages)
  const broken = points.findIndex((point) => ruleBreaks(all.slice(0, point), 'lenient').length > 0)
  return broken === -1 ? points : points.slice(0, broken)
}
