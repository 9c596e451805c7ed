import { isBeginning } from '../../support/is-beginning.ts'
import { OUTPUT_TOKENS, spread, textsBefore, type Recording } from '../harness/recordings.ts'
import type { Stage } from '../harness/stage.ts'
import { bodyOf, type Subject } from '../harness/subject.ts'
import { receivedIn, type Job, type Received } from './jobs.ts'
import type { JobContext } from './run-job.ts'

export type Comparison = ReturnType<typeof openComparison>

type ComparingKind = Exclude<Job['kind'], 'replay'>

export const comparisons = {
  cold: (context) => compareCold(context, false),
  'cold-changed': (context) => compareCold(context, true),
  changed: compareChanged,
  clock: compareClock,
} as const satisfies Record<ComparingKind, (context: JobContext) => Promise<Comparison>>

export const checkOf = {
  cold: 'P6 repeatable: without records, other messages were sent',
  'cold-changed': 'without records and with other tools and limits, other messages were sent',
  changed: 'P6 repeatable: other tools and limits moved a frontier',
  clock: 'P6 repeatable: a clock in the system prompt changed what was sent',
} as const satisfies Record<ComparingKind, string>

/** The conversations of each file that are compared across processes: its longest ones. */
export function sampled(subjects: readonly Subject[]): readonly Subject[] {
  const byFile = Map.groupBy(subjects, ({ recording }) => recording.file)
  return [...byFile.values()].flatMap((all) =>
    all.toSorted((one, other) => tokensOf(other) - tokensOf(one)).slice(0, SAMPLE_CONVERSATIONS),
  )
}

export function sampledPoints(points: readonly number[]): readonly number[] {
  return [...new Set(spread(points, SAMPLE_POINTS))]
}

export function sampleKey({ recording, variant }: Subject, point: number): string {
  return [recording.file, recording.id, variant, point].join(' ')
}

const tokensOf = (subject: Subject): number => subject.promptTokens(subject.messages.length)
const SAMPLE_CONVERSATIONS = 4
const SAMPLE_POINTS = 10

/**
 * Single requests in a process without records get what the warm run sent at the same point (P6). With `changed` they come with one
 * more tool and a higher output limit: the past may come out differently, at the price of one cache miss, and is no failure.
 */
async function compareCold(context: JobContext, changed: boolean): Promise<Comparison> {
  const comparison = openComparison()
  for (const subject of context.subjects) {
    for (const point of sampledPoints(subject.points)) {
      const warm = context.job.expected[sampleKey(subject, point)]
      if (warm === undefined) continue
      const body = changed ? altered(subject, point, ODD_OUTPUT_TOKENS) : plain(subject, point)
      const exchange = await context.stageOf(subject).ask(body, `Bearer cold-${subject.owner}-${point}`)
      context.keepBodies(`${subject.owner} ${point}`, exchange)
      compareLists(comparison, { subject, point, expected: warm, found: receivedIn(exchange) })
    }
  }
  return comparison
}

/** Some way into a conversation its tools and its output limit change: no frontier of the past has moved. */
async function compareChanged({ subjects, stageOf }: JobContext): Promise<Comparison> {
  const comparison = openComparison()
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
        at === point ? altered(subject, at, CHANGED_OUTPUT_TOKENS) : plain(subject, at),
      )
      const detail = 'a compaction was made on account of other tools and another output limit'
      note(comparison, isBeginning(before, changed[place] ?? []), { subject, point, detail })
    }
  }
  return comparison
}

/** A clock in the system prompt changes at every request, and the other messages are sent as if it stood still. */
async function compareClock({ subjects, stageOf }: JobContext): Promise<Comparison> {
  const comparison = openComparison()
  for (const subject of subjects) {
    const { owner, points } = subject
    const stage = stageOf(subject)
    const still = await walk(stage, `still-${owner}`, points, (point) => timed(subject, point, 0))
    const going = await walk(stage, `going-${owner}`, points, (point) => timed(subject, point, point))
    const systemCount = Math.max(1, subject.systemCount)
    for (const [number, point] of points.entries()) {
      const [expected = [], found = []] = [still[number], going[number]].map((all) => all?.slice(systemCount))
      compareLists(comparison, { subject, point, expected, found })
    }
  }
  return comparison
}

const ODD_OUTPUT_TOKENS = OUTPUT_TOKENS + 176
const CHANGE_SHARES = [0.25, 0.5, 0.75]
const CHANGED_OUTPUT_TOKENS = 700

/** A small tool that no recording has. */
const told = { name: 'tell_time', description: 'Tells the time.' }
const ONE_MORE_TOOL = JSON.stringify({
  type: 'function',
  function: { ...told, parameters: { type: 'object', properties: {} } },
})

type Difference = { readonly subject: Subject; readonly point: number; readonly detail: string }

function openComparison() {
  const differences: Difference[] = []
  return { differences, compared: 0, equal: 0 }
}

function note(comparison: Comparison, isEqual: boolean, difference: Difference): void {
  comparison.compared += 1
  if (isEqual) comparison.equal += 1
  else comparison.differences.push(difference)
}

type Lists = Omit<Difference, 'detail'> & { readonly expected: Received; readonly found: Received }

function compareLists(comparison: Comparison, { subject, point, expected, found }: Lists): void {
  const at = found.findIndex((digest, index) => digest !== expected[index])
  const detail = `${found.length} messages instead of ${expected.length}, different from message ${at} on`
  note(comparison, at === -1 && found.length === expected.length, { subject, point, detail })
}

async function walk(
  stage: Stage,
  owner: string,
  points: readonly number[],
  body: (point: number) => Buffer,
): Promise<readonly Received[]> {
  const lists: Received[] = []
  for (const point of points) lists.push(receivedIn(await stage.ask(body(point), `Bearer ${owner}`)))
  return lists
}

function plain(subject: Subject, point: number): Buffer {
  return subject.body(point, false).bytes
}

function altered({ recording, messages }: Subject, point: number, outputTokens: number): Buffer {
  return bodyOf(recording, textsBefore({ messages }, point), { tools: withOneMore(recording), outputTokens })
}

/** The raw JSON of a recording's tools with one more at their end. */
function withOneMore({ tools }: Recording): string {
  const list = tools.slice(1, tools.lastIndexOf(']')).trim()
  return list === '' ? `[${ONE_MORE_TOOL}]` : `[${list},${ONE_MORE_TOOL}]`
}

function two(number: number): string {
  return String(number % 60).padStart(2, '0')
}

/** The request with a time at the end of its system prompt, which always takes as many tokens. */
function timed({ recording, messages, systemCount }: Subject, point: number, seconds: number): Buffer {
  const clock = `It is 10:${two(Math.floor(seconds / 60))}:${two(seconds)}.`
  const [first] = messages
  const content = first?.message['content']
  const text = systemCount > 0 && typeof content === 'string' ? `${content}\n\n${clock}` : clock
  const system = JSON.stringify({ ...(systemCount > 0 && first?.message), role: 'system', content: text })
  const rest = textsBefore({ messages }, point).slice(systemCount > 0 ? 1 : 0)
  return bodyOf(recording, [system, ...rest], { outputTokens: OUTPUT_TOKENS })
}
