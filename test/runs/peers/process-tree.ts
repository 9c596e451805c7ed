import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const MS_A_TICK = 10

/** Processor time of a process and of all that it has started, in milliseconds; null where there is no /proc. */
export function treeCpuMs(root: number): number | null {
  const stats = allStats()
  if (stats === null) return null
  const tree = new Set([root])
  // A child may have a lower id than its parent, so once through the list is not enough.
  for (let size = 0; size < tree.size;) {
    size = tree.size
    for (const { id, parent } of stats) if (tree.has(parent)) tree.add(id)
  }
  return stats.reduce((sum, { id, ticks }) => sum + (tree.has(id) ? ticks : 0), 0) * MS_A_TICK
}

type Stat = { readonly id: number; readonly parent: number; readonly ticks: number }

function allStats(): readonly Stat[] | null {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(name) : []))
  } catch {
    return null
  }
}

function statOf(name: string): readonly Stat[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    // The program's name stands in parentheses and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // User and system, its own and that of children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ id: Number(name), parent: Number(fields[1]), ticks }]
  } catch {
    // It ended since the folder was read.
    return []
  }
}
