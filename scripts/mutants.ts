/**
 * Puts small faults into `src`, one at a time, and tells how many of them the tests see.
 *
 *   npm run mutants -- --seed 1 --count 400 [--results FILE] [--tests CHECKOUT] [--survivors FILE] [--projects promises,programs]
 *
 * Mutants are drawn over all rooms of `src`, the same from the same seed. Clones of what is committed are made, all tests
 * run once in one to learn which of them reach which mutant, then only those: the quick ones alone, the others with many
 * faults at once. `--results` appends each verdict to a file as a line of JSON, and goes on with what is not in it yet. To
 * compare two versions of the tests: `--survivors` judges only what survived by such a file, `--tests` with the tests of
 * another checkout, whose `src` has to be the same.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openCheckout, type Checkout } from './mutants/checkout.ts'
import { drawMutants, type Mutant } from './mutants/draw.ts'
import {
  batchesOf,
  judgeAlone,
  judgeTogether,
  suspectOf,
  type Suspect,
  type Verdict,
} from './mutants/judge.ts'
import { observeReach } from './mutants/reach.ts'

type Result = Mutant & Verdict

/** So much of a source text stands in a line. */
const SHOWN_MAX = 70

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '400' },
    results: { type: 'string' },
    tests: { type: 'string', default: '.' },
    survivors: { type: 'string' },
    projects: { type: 'string', default: 'promises,programs' },
    workers: { type: 'string', default: '4' },
  },
})
const [seed, count, workers] = [values.seed, values.count, values.workers].map(Number)
if (!Number.isSafeInteger(seed) || !(Number(count) > 0) || !(Number(workers) > 0))
  throw new Error('--seed takes a whole number, --count and --workers one above 0')
const projects = values.projects.split(',')

const checkouts = Array.from({ length: Number(workers) }, () => openCheckout(resolve(values.tests)))
process.once('exit', () => checkouts.forEach(({ close }) => close()))
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

const [first] = checkouts
if (first === undefined) throw new Error('no checkout')
const mutants =
  values.survivors === undefined
    ? drawMutants(first.sources, { seed: Number(seed), count: Number(count) })
    : readResults(values.survivors).filter(({ outcome }) => outcome !== 'killed')
const results = values.results === undefined ? [] : [...readResults(values.results)]
const done = new Set(results.map(keyOf))
const waiting = mutants.filter((mutant) => !done.has(keyOf(mutant)))
say(`${mutants.length} mutants, ${waiting.length} to be judged; first all tests, with probes`)
const reach = await observeReach(first, { mutants: waiting, projects, workers: Number(workers) + 1 })
say('which tests reach which mutant is known')

const known = { reach, projects }
const suspects: Suspect[] = []
// What survived mostly survives again: it is not asked for alone.
if (values.survivors !== undefined) suspects.push(...waiting.map((mutant) => suspectOf(mutant, reach)))
else
  await eachByWorkers(waiting, async (checkout, mutant) => {
    const judged = await judgeAlone(checkout, mutant, known)
    if ('outcome' in judged) note(mutant, judged)
    else suspects.push(judged)
  })
const batches = batchesOf(suspects)
say(`${suspects.length} are left, to be judged in ${batches.length} batches with many faults at once`)
await eachByWorkers(batches, async (checkout, batch) => {
  for (const [mutant, verdict] of await judgeTogether(checkout, batch, known)) note(mutant, verdict)
})
tell()

/** Each checkout takes one after the other, until none is left. */
async function eachByWorkers<Item>(
  items: readonly Item[],
  work: (checkout: Checkout, item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const take = async (checkout: Checkout): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(checkout, item)
  }
  await Promise.all(checkouts.map(take))
}

function note(mutant: Mutant, verdict: Verdict): void {
  const result = { ...mutant, ...verdict }
  results.push(result)
  if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(result)}\n`)
  say(`${results.length} of ${mutants.length}: ${inWords(result)}`)
}

function tell(): void {
  say('')
  for (const [room, ofRoom] of Map.groupBy(results, ({ file }) => file.split('/')[0] ?? file))
    say(`${String(killedOf(ofRoom)).padStart(6)} of ${String(ofRoom.length).padStart(4)} killed in ${room}`)
  const lived = results.filter(({ outcome }) => outcome !== 'killed')
  say(`\n${lived.length} were not seen:`)
  for (const result of lived) say(`  ${inWords(result)}`)
  const share = (100 * killedOf(results)) / results.length
  say(`\n${killedOf(results)} of ${results.length} killed: ${share.toFixed(1)} %`)
}

function inWords({ file, line, kind, original, replacement, outcome, by }: Result): string {
  const [from, to] = [original, replacement].map((text) => text.replaceAll(/\s+/g, ' ').slice(0, SHOWN_MAX))
  return `${outcome}: src/${file}:${line}, ${kind}: ${from} -> ${to}${by === '' ? '' : ` · ${by}`}`
}

function killedOf(of: readonly Verdict[]): number {
  return of.filter(({ outcome }) => outcome === 'killed').length
}

function keyOf({ file, start, end, replacement }: Mutant): string {
  return `${file} ${start} ${end} ${replacement}`
}

function readResults(file: string): readonly Result[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): Result => JSON.parse(line))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
