/**
 * Attacks a running Foldgate with one body after another, each made to hold its event loop or to take its memory.
 *
 *   npm run attacks -- [--only TEXT] [--share N] [--cold] [--where]
 *
 * Each attack has a program of its own: in the container of the sidecar example, by its settings and with its heap, or,
 * where bodies are larger than that takes, with several gigabytes. It is made by a client that nobody has seen, once more
 * longer by a message, both with a small window and a large one, and three times at once. Meanwhile a neighbour asks
 * small things.
 *
 * `--only`: attacks with this text in their names; `--share 0.1`: at a tenth of their size; `--cold`: once each;
 * `--where`: with a CPU profile,
 * and what the longest turn of the loop did. Prints a line for each attack, and ends with `N passed, N failed`; exits
 * with 1 where one failed.
 */
import { attacks } from './all.ts'
import type { Attack } from './attack.ts'
import { readOptions, type AttackOptions } from './options.ts'
import { manners, runAttack, type Blow } from './run-attack.ts'
import { tableOf, worstOf, type Row } from './table.ts'
import { openAttackedProgram } from './target.ts'
import { whereIn } from './where.ts'

process.exitCode = await attackAll(process.argv.slice(2))

async function attackAll(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 1
  }
  const { only } = options
  const chosen = attacks.filter(({ name }) => name.includes(only))
  const rows: Row[] = []
  let failed = 0
  for (const attack of chosen) {
    const { blows, quietMs, where } = await blowsOf(attack, options)
    const wrong = blows.flatMap((blow) => blow.wrong.map((each) => `${blow.manner}: ${each}`))
    if (wrong.length > 0) failed += 1
    rows.push({ name: attack.name, blows, quietMs })
    const lines = [`${wrong.length === 0 ? 'passed' : 'failed'}  ${attack.name}`, ...wrong, ...where]
    process.stdout.write(`${lines.join('\n        ')}\n`)
  }
  process.stdout.write(`\n${tableOf(rows)}\n\n`)
  process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`)
  return failed === 0 && chosen.length > 0 ? 0 : 1
}

/** Until all manners were tried or the program has ended. */
async function blowsOf(attack: Attack, { share, isColdOnly, isProfiled }: AttackOptions) {
  const target = await openAttackedProgram(attack, { isProfiled })
  const blows: Blow[] = []
  try {
    for (const manner of isColdOnly ? manners.slice(0, 1) : manners) {
      // What goes on with a request that nobody waits for any more would fall into the next one's figures.
      if (target.program.ended() !== null || blows.at(-1)?.isUnanswered === true) break
      blows.push(await runAttack(target, attack, { manner, share, client: attack.name }))
    }
    const profile = await target.profile()
    const worst = worstOf(blows)
    const where = profile === null || worst === null ? [] : whereIn(profile, worst.longestWithoutGarbage)
    return { blows, quietMs: target.quiet.medianMs, where }
  } finally {
    await target.close()
  }
}
