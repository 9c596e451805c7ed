/**
 * Attacks a running Foldgate with one body after another, each made to hold its event loop or to take its memory.
 *
 *   npm run attacks -- [--only TEXT] [--share N] [--cold] [--where]
 *
 * Each attack has a program of its own: in the container of the sidecar example, by its settings and with its heap, or,
 * where bodies are larger than that takes, with several gigabytes. It is made by a client that nobody has seen, once more
 * longer by a message, both with a small window and a large one, and three times at once. Meanwhile a neighbour asks
 * small things. Where nothing is wrong but a turn of the loop that took too long, it is tried again, twice at most.
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

const TRIES = 3

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
  const failed: string[] = []
  for (const attack of chosen) {
    const { blows, quietMs, where } = await settledBlowsOf(attack, options)
    const wrong = blows.flatMap((blow) => blow.wrong.map((each) => `${blow.manner}: ${each}`))
    rows.push({ name: attack.name, blows, quietMs })
    const lines = [`${wrong.length === 0 ? 'passed' : 'failed'}  ${attack.name}`, ...wrong, ...where]
    const told = `${lines.join('\n        ')}\n`
    process.stdout.write(told)
    if (wrong.length > 0) failed.push(told)
  }
  process.stdout.write(`\n${tableOf(rows)}\n\n${failed.join('')}`)
  process.stdout.write(`${chosen.length - failed.length} passed, ${failed.length} failed\n`)
  return failed.length === 0 && chosen.length > 0 ? 0 : 1
}

/**
 * A turn of the loop that took too long is tried again, with a program of its own: processor time, too, grows with what
 * else the machine does, while work that is not done in steps takes as long each time.
 */
async function settledBlowsOf(attack: Attack, options: AttackOptions) {
  let tried = await blowsOf(attack, options)
  for (let again = 1; again < TRIES && isTooLongOnly(tried.blows); again += 1) {
    process.stdout.write(`again   ${attack.name}: ${tried.blows.flatMap(({ wrong }) => wrong).join(', ')}\n`)
    tried = await blowsOf(attack, options)
  }
  return tried
}

function isTooLongOnly(blows: readonly Blow[]): boolean {
  const wrong = blows.filter((blow) => blow.wrong.length > 0)
  return wrong.length > 0 && wrong.every((blow) => blow.isTooLongOnly)
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
