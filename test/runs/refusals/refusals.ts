/**
 * How well refusals are read: everything that is recorded of servers, and wordings that nobody has listed.
 *
 *   node test/runs/refusals/refusals.ts FOLDER [--seed N]
 *
 * FOLDER holds overflow-answers.json, whose entries say themselves what is right, and server-answers.json, of which
 * that follows from what had been asked for; nothing of them is copied. Then each provider is left out: without its own
 * signatures, and without codes, the general form has to recognise its overflows by their words, and to take nothing
 * else for one. The same for wordings that were made up.
 *
 * Last all of them as gateways pass them on: under tails, leads and wrappers that are drawn by the seed, with numbers strewn in.
 *
 * Prints what is read wrong, the table of providers and the words that were missed; exits with 1 if an entry is read
 * wrong, if the general form recognises less than 85 % of the overflows, or takes anything else for one, if of those that are
 * known less than 98 % are read when dressed, or if a window is read that nobody has stated.
 */
import { join } from 'node:path'
import type { Classification } from '../../../src/overflow/classification.ts'
import { classifyAnswer } from '../../support/chat-completions.ts'
import { readCommand, refuse, runCommand, say, whole } from '../harness/command.ts'
import { sumOf } from '../harness/table.ts'
import {
  answerOfRecorded,
  answerOfServer,
  expectedOfRecorded,
  expectedOfServer,
  readRecordedAnswers,
  readServerAnswers,
  wrongIn,
  type Expected,
} from './expected.ts'
import { leaveEachOut } from './leave-one-out.ts'
import { judgeDressed, knownRefusals, madeUpRefusals, recordedRefusals } from './dressed.ts'
import type { PlainRefusal } from './dressings.ts'
import { judgeMadeUp, madeUpHalves } from './made-up.ts'

const recognisedShareMin = 0.85
const dressedShareMin = 0.98
/** Of each kind. */
const DRESSED = 2_000

await runCommand((args) => {
  const { folder, values } = readCommand(args, { seed: whole(40) })
  const { seed } = values
  if (folder === null)
    refuse(
      'Which answers? npm run refusals -- FOLDER, with overflow-answers.json and server-answers.json in it.',
    )
  const wrong = sayEntries(folder)
  const isGeneral = [sayLeftOut(folder), ...madeUpHalves.map(sayMadeUp)].every(Boolean)
  const known = [...knownRefusals, ...recordedRefusals(join(folder, 'overflow-answers.json'))]
  const isDressed = [
    sayDressed('known', known, seed, dressedShareMin),
    sayDressed('known and made up', [...known, ...madeUpRefusals], seed + 1, recognisedShareMin),
  ].every(Boolean)
  return wrong === 0 && isGeneral && isDressed
})

function sayDressed(name: string, plain: readonly PlainRefusal[], seed: number, shareMin: number): boolean {
  const { overflows, missed, lookAlikes, mistaken, falseWindows } = judgeDressed(plain, seed, DRESSED)
  say(
    `As gateways pass them on, ${name}, seed ${seed}: ${falseWindows.length} windows that nobody has stated`,
  )
  for (const text of falseWindows) say(`  FALSE WINDOW: ${text}`)
  return sayTotal(overflows, missed, lookAlikes, mistaken, shareMin) && falseWindows.length === 0
}

function sayEntries(folder: string): number {
  const recorded = readRecordedAnswers(join(folder, 'overflow-answers.json')).map((entry) => {
    const knownWindowTokens = entry.status === 200 ? (entry.window ?? null) : null
    const read = classifyAnswer(answerOfRecorded(entry), { knownWindowTokens })
    return entryLine(`${entry.provider}: ${entry.name}`, read, expectedOfRecorded(entry))
  })
  const servers = readServerAnswers(folder).map((entry) => {
    const name = `${entry.server}: ${entry.case}${entry.stream ? ', streamed' : ''}`
    return entryLine(name, classifyAnswer(answerOfServer(entry)), expectedOfServer(entry))
  })
  let wrong = 0
  for (const [title, lines] of [
    ['overflow-answers.json', recorded],
    ['server-answers.json', servers],
  ] as const) {
    const wrongLines = lines.filter(({ isRight }) => !isRight)
    wrong += wrongLines.length
    say(`${title}: ${lines.length - wrongLines.length} of ${lines.length} read right`)
    for (const { line } of lines.toSorted((one, other) => one.line.localeCompare(other.line))) say(line)
    say('')
  }
  return wrong
}

function entryLine(name: string, read: Classification, expected: Expected) {
  const wrong = wrongIn(read, expected)
  const numbers = [
    read.window === null ? '' : `window ${read.window.tokens}`,
    read.promptTokens === null
      ? ''
      : `prompt ${read.promptTokens.exact ? '' : '≥ '}${read.promptTokens.tokens}`,
  ]
  const says = [read.class, read.remedy, ...numbers, expected.because && `(${expected.because})`]
  const text = `${wrong === '' ? '  right' : '  WRONG'}  ${name}: ${says.filter(Boolean).join(', ')}`
  return { isRight: wrong === '', line: wrong === '' ? text : `${text}; ${wrong}` }
}

function sayLeftOut(folder: string): boolean {
  const rows = leaveEachOut(readRecordedAnswers(join(folder, 'overflow-answers.json')))
  say('Leave one provider out: overflows that the general form recognises by their words alone')
  for (const { provider, recognised, overflows, others, mistaken, signatures } of rows) {
    const without = signatures.length === 0 ? 'no signature of its own' : `without ${signatures.join('; ')}`
    say(
      `  ${provider.padEnd(24)} ${`${recognised}/${overflows}`.padStart(5)}  mistaken ${mistaken.length}/${others}  ${without}`,
    )
  }
  const missed = rows.flatMap((row) => row.missed)
  const mistaken = rows.flatMap((row) => row.mistaken)
  return sayTotal(
    sumOf(rows, ({ overflows }) => overflows),
    missed,
    sumOf(rows, ({ others }) => others),
    mistaken,
  )
}

function sayMadeUp(half: (typeof madeUpHalves)[number]): boolean {
  const { overflows, lookAlikes, missed, mistaken, read, stated, misread } = judgeMadeUp(half)
  say(
    `Made up, ${half.name}: numbers read of ${read} of ${stated} that state some, ${misread.length} misread`,
  )
  for (const text of misread) say(`  misread: ${text}`)
  const isGood = sayTotal(overflows, missed, lookAlikes, mistaken)
  return isGood && misread.length === 0
}

function sayTotal(
  overflows: number,
  missed: readonly string[],
  others: number,
  mistaken: readonly string[],
  shareMin = recognisedShareMin,
): boolean {
  const recognised = overflows - missed.length
  const share = recognised / Math.max(1, overflows)
  say(
    `  in all ${recognised} of ${overflows} (${(share * 100).toFixed(1)} %), mistaken ${mistaken.length} of ${others}`,
  )
  for (const text of missed.toSorted()) say(`  missed: ${text}`)
  for (const text of mistaken.toSorted()) say(`  MISTAKEN: ${text}`)
  say('')
  return share >= shareMin && mistaken.length === 0
}
