import type { Comparison, JobContext } from './job.ts'
import { ONE_MORE_TOOL, withTool } from './one-more-tool.ts'
import { bodyOf, type Subject } from './subject.ts'
import { isBeginning } from '../../support/is-beginning.ts'
import { walk } from './walk.ts'

/**
 * Some way into a conversation its tools and its output limit change. What had been sent before still leads
 * what is sent then, as it does in a run in which nothing changed: no frontier of the past has moved.
 */
export async function compareChanged({ subjects, stageOf }: JobContext): Promise<Comparison> {
  const comparison: Comparison = { differences: [], compared: 0, equal: 0 }
  for (const subject of subjects) {
    const stage = stageOf(subject)
    const same = await walk(stage, `same-${subject.owner}`, subject.points, (point) => plain(subject, point))
    for (const share of CHANGE_SHARES) {
      const place = Math.floor(subject.points.length * share)
      const [point, before, after] = [subject.points[place], same[place - 1], same[place]]
      // Where nothing was compacted yet, or a compaction is due anyway, there is nothing to compare.
      if (point === undefined || before === undefined || after === undefined) continue
      if (before.length === subject.points[place - 1] || !isBeginning(before, after)) continue
      const owner = `changed-${place}-${subject.owner}`
      const changed = await walk(stage, owner, subject.points.slice(0, place + 1), (at) =>
        at === point ? altered(subject, at) : plain(subject, at),
      )
      comparison.compared += 1
      if (isBeginning(before, changed[place] ?? [])) comparison.equal += 1
      else {
        const detail = 'a compaction was made on account of other tools and another output limit'
        comparison.differences.push({ subject, point, detail })
      }
    }
  }
  return comparison
}

// --- internal ---

const CHANGE_SHARES = [0.25, 0.5, 0.75]
const CHANGED_OUTPUT_TOKENS = 700

function plain(subject: Subject, point: number): Buffer {
  return subject.body(point, false).bytes
}

function altered({ recording, messages }: Subject, point: number): Buffer {
  const texts = messages.slice(0, point).map(({ text }) => text)
  return bodyOf(recording, texts, {
    tools: withTool(recording.tools, ONE_MORE_TOOL),
    outputTokens: CHANGED_OUTPUT_TOKENS,
  })
}
