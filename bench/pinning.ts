import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { canPin, SUBJECT_CORE } from './subjects/program.ts'

/**
 * Keeps the bench, and all that it starts beside the subjects, off the core that the subjects run on. Returns what came
 * of it, as a sentence for the page.
 */
export function leaveSubjectCore(): string {
  if (!canPin) return `Nothing was pinned: \`taskset\` is missing, or may not use core ${SUBJECT_CORE}.`
  const others = allowedCores().filter((core) => core !== SUBJECT_CORE)
  if (others.length === 0) return 'Nothing could be kept apart: there is one core, which all share.'
  const { status, stderr } = spawnSync('taskset', ['-a', '-p', '-c', others.join(','), String(process.pid)], {
    encoding: 'utf8',
  })
  if (status !== 0) return `The load was not pinned: ${stderr.trim()}`
  return `Each subject on core ${SUBJECT_CORE}; load and upstream on ${others.length === 1 ? 'core' : 'cores'} ${others.join(', ')}.`
}

// --- internal ---

/** The cores that this process may use. */
function allowedCores(): number[] {
  const [, list = ''] = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
