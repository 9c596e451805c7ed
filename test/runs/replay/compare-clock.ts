import type { Comparison, JobContext } from './job.ts'
import { OUTPUT_TOKENS } from './recordings.ts'
import { bodyOf, type Subject } from './subject.ts'
import { walk } from './walk.ts'

/** A clock in the system prompt changes at every request, and the other messages are sent as if it stood still. */
export async function compareClock({ subjects, stageOf }: JobContext): Promise<Comparison> {
  const comparison: Comparison = { differences: [], compared: 0, equal: 0 }
  for (const subject of subjects) {
    const stage = stageOf(subject)
    const still = await walk(stage, `still-${subject.owner}`, subject.points, (point) =>
      timed(subject, point, 0),
    )
    const going = await walk(stage, `going-${subject.owner}`, subject.points, (point) =>
      timed(subject, point, point),
    )
    const systemCount = Math.max(1, subject.systemCount)
    for (const [number, point] of subject.points.entries()) {
      const expected = (still[number] ?? []).slice(systemCount)
      const found = (going[number] ?? []).slice(systemCount)
      comparison.compared += 1
      const at = found.findIndex((digest, index) => digest !== expected[index])
      if (at === -1 && found.length === expected.length) comparison.equal += 1
      else {
        const detail = `${found.length} messages instead of ${expected.length}, different from message ${at} on`
        comparison.differences.push({ subject, point, detail })
      }
    }
  }
  return comparison
}

// --- internal ---

/** The request with a time at the end of its system prompt, which always takes as many tokens. */
function timed({ recording, messages, systemCount }: Subject, point: number, seconds: number): Buffer {
  const clock = `It is 10:${two(Math.floor(seconds / 60))}:${two(seconds)}.`
  const [first] = messages
  const content = first?.message['content']
  const text = systemCount > 0 && typeof content === 'string' ? `${content}\n\n${clock}` : clock
  const system = JSON.stringify({ ...(systemCount > 0 && first?.message), role: 'system', content: text })
  const rest = messages.slice(systemCount > 0 ? 1 : 0, point).map((message) => message.text)
  return bodyOf(recording, [system, ...rest], { tools: recording.tools, outputTokens: OUTPUT_TOKENS })
}

function two(number: number): string {
  return String(number % 60).padStart(2, '0')
}
