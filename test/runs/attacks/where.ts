import { z } from 'zod'
import type { Turn } from '../../support/watch-loop.ts'

/** Where a turn of the loop spent its time, by a CPU profile: the functions with most of it, as lines. */
export function whereIn(profileJson: string, { beganMicros, endedMicros }: Turn): readonly string[] {
  const { nodes, samples, timeDeltas, startTime } = cpuProfile.parse(JSON.parse(profileJson))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const own = new Map<string, number>()
  const within = new Map<string, number>()
  let all = 0
  let atMicros = startTime
  for (const [index, sample] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0
    atMicros += micros
    if (atMicros < beganMicros || atMicros > endedMicros) continue
    all += micros
    const node = byId.get(sample)
    if (node !== undefined) add(own, nameOf(node), micros)
    const stack = new Set<string>()
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const each = byId.get(id)
      if (each !== undefined && each.callFrame.url.includes('/src/')) stack.add(nameOf(each))
    }
    for (const name of stack) add(within, name, micros)
  }
  return [
    ...mostOf(own, all, OWN_SHOWN).map((line) => `itself  ${line}`),
    ...mostOf(within, all, WITHIN_SHOWN).map((line) => `within  ${line}`),
  ]
}

// --- internal ---

const OWN_SHOWN = 4

const WITHIN_SHOWN = 9

const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
  startTime: z.number(),
})

type Node = z.output<typeof cpuProfile>['nodes'][number]

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const file = url.replace(/^.*\/(?=(?:src|node_modules)\/)/, '')
  return `${functionName || '(nameless)'} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros)
}

function mostOf(sums: ReadonlyMap<string, number>, all: number, count: number): readonly string[] {
  return [...sums]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([name, micros]) => `${String(Math.round((100 * micros) / all)).padStart(3)} %  ${name}`)
}
