import type { Comparison, JobContext } from './job.ts'
import { OUTPUT_TOKENS } from './recordings.ts'
import { sampleKey, sampledPoints } from './sample.ts'
import { bodyOf } from './subject.ts'
import { ONE_MORE_TOOL, withTool } from './one-more-tool.ts'
import { received } from './walk.ts'

/**
 * Single requests in a process without records, which derives the past from the same numbers: they get what the warm
 * run sent at the same point (P6). With `changed` they come with one more tool and a higher output limit, and the past
 * is derived from those: it may come out differently, at the price of one cache miss, so a difference is counted and no
 * failure.
 */
export async function compareCold(context: JobContext, changed: boolean): Promise<Comparison> {
  const { job, subjects, stageOf } = context
  const comparison: Comparison = { differences: [], compared: 0, equal: 0 }
  for (const subject of subjects) {
    for (const point of sampledPoints(subject.points)) {
      const warm = job.expected[sampleKey(subject, point)]
      if (warm === undefined) continue
      const body = changed
        ? bodyOf(
            subject.recording,
            subject.messages.slice(0, point).map(({ text }) => text),
            { tools: withTool(subject.recording.tools, ONE_MORE_TOOL), outputTokens: ODD_OUTPUT_TOKENS },
          )
        : subject.body(point, false).bytes
      const exchange = await stageOf(subject).ask(body, `Bearer cold-${subject.owner}-${point}`)
      context.keepBodies(`${subject.owner} ${point}`, exchange)
      const cold = received(exchange)
      comparison.compared += 1
      const at = cold.findIndex((digest, index) => digest !== warm[index])
      if (at === -1 && cold.length === warm.length) comparison.equal += 1
      else {
        const detail = `${cold.length} messages instead of ${warm.length}, different from message ${at} on`
        comparison.differences.push({ subject, point, detail })
      }
    }
  }
  return comparison
}

// --- internal ---

const ODD_OUTPUT_TOKENS = OUTPUT_TOKENS + 176
