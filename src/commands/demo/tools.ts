import type { ChatCall } from './client-wire.ts'
import { type Dice, openDice, seedOf } from './dice.ts'

/** The tools that the demo's agent has. */
export const tools = [
  tool('read_file', 'Reads a file of the repository, or the end of a log.', 'path', 'Path from the root.'),
  tool('search', 'Searches the repository for a text.', 'pattern', 'The text to look for.'),
  tool('run_tests', 'Runs a test suite and returns what it printed.', 'suite', 'Name of the suite.'),
]

export function toolCall(id: string, name: string, argument: string): ChatCall {
  const parameter = tools.find((each) => each.function.name === name)?.function.parameters.required[0] ?? ''
  return { id, type: 'function', function: { name, arguments: JSON.stringify({ [parameter]: argument }) } }
}

/**
 * What a tool returns for an argument: always the same. `size` scales it; at 1 it is some 250 to 1,300 tokens.
 */
export function runTool(name: string, argument: string, size = 1): string {
  const dice = openDice(seedOf(`${name} ${argument}`))
  const lines = (from: number, spread: number) => Math.max(1, Math.round((from + dice.below(spread)) * size))
  if (name === 'search') return sampleHits(dice, argument, lines(10, 20))
  if (name === 'run_tests') return sampleTestRun(dice, argument, lines(16, 20))
  return argument.endsWith('.log') ? sampleLog(dice, lines(20, 20)) : sampleSource(dice, lines(30, 90))
}

/** @internal exported for tests. About `lines` lines of source code that belong to no program. */
export function sampleSource(dice: Dice, lines: number): string {
  const out: string[] = [
    `import { ${dice.pick(verbs)}${dice.pick(nouns)} } from './${dice.pick(nouns).toLowerCase()}.ts'`,
    '',
  ]
  while (out.length < lines) {
    const subject = dice.pick(nouns).toLowerCase()
    const name = `${dice.pick(verbs)}${dice.pick(nouns)}`
    out.push(`/** ${capital(dice.pick(remarks))}. */`)
    out.push(`export function ${name}(${subject}: ${capital(subject)}, limit = ${dice.below(900) + 20}) {`)
    for (let line = dice.below(5) + 3; line > 0; line -= 1) out.push(`  ${statement(dice, subject)}`)
    out.push(`  return ${subject}.${dice.pick(fields)}`, '}', '')
  }
  return out.join('\n')
}

/** @internal exported for tests. Hits of a search, a path and a line number before each. */
export function sampleHits(dice: Dice, pattern: string, hits: number): string {
  const lines = Array.from({ length: hits }, () => {
    const subject = dice.pick(nouns).toLowerCase()
    return `${samplePath(dice)}:${dice.below(600) + 1}:  ${statement(dice, subject)} // ${pattern}`
  })
  return [`${hits} matches for "${pattern}"`, ...lines].join('\n')
}

/** @internal exported for tests. Lines of a service's log. */
export function sampleLog(dice: Dice, lines: number): string {
  const base = 6 * 3600 + dice.below(3600)
  return Array.from({ length: lines }, (_, index) => {
    const level = dice.pick(['INFO', 'INFO', 'INFO', 'DEBUG', 'WARN'])
    const subject = dice.pick(nouns).toLowerCase()
    const time = new Date((base + index * 3) * 1000).toISOString().slice(11, 19)
    const work = `${dice.pick(verbs)} ${subject} batch=${dice.hex(8)} rows=${dice.below(5000)} took=${dice.below(900)}ms`
    return `${time} ${level} [${subject}-${dice.below(8)}] ${work}`
  }).join('\n')
}

/**
 * @internal exported for tests. A test run as a terminal sees it: colours, and progress that is drawn over with carriage
 * returns.
 */
export function sampleTestRun(dice: Dice, suite: string, tests: number): string {
  const out = [`\u001B[1mrunning ${suite}\u001B[0m`]
  let progress = ''
  for (let done = 0; done <= tests; done += Math.max(1, Math.floor(tests / 12))) {
    progress += `\r  ${'#'.repeat(Math.floor((done / tests) * 24)).padEnd(24, '.')} ${done}/${tests}`
  }
  out.push(progress)
  for (let test = 0; test < tests; test += 1) {
    const name = `${dice.pick(remarks)} (${dice.below(90) + 1} ms)`
    out.push(dice.below(9) === 0 ? `\u001B[31m ✗ ${name}\u001B[0m` : `\u001B[32m ✓\u001B[0m ${name}`)
    if (dice.below(12) === 0) out.push(`     expected ${dice.below(5000)} to be ${dice.below(5000)}`)
  }
  return out.join('\n')
}

/** @internal exported for tests. A path that no other sample is likely to name. */
export function samplePath(dice: Dice): string {
  return `src/${dice.pick(nouns).toLowerCase()}/${dice.pick(verbs)}-${dice.pick(nouns).toLowerCase()}-${dice.below(40)}.ts`
}

// --- internal ---

function tool(name: string, description: string, argument: string, meaning: string) {
  const properties = { [argument]: { type: 'string', description: meaning } }
  const parameters = { type: 'object', properties, required: [argument] }
  return { type: 'function', function: { name, description, parameters } } as const
}

type Words = readonly [string, ...string[]]

function words(text: string): Words {
  const [first = '', ...rest] = text.split(' ')
  return [first, ...rest]
}

const verbs = words('load settle merge split retry close check round queue drain')
const nouns = words('Payout Ledger Batch Account Invoice Rate Cursor Refund Journal Tax')
const fields = words('amount currency bookedAt reference attempts status owner checksum')
const remarks: Words = [
  'keeps the order in which rows came in',
  'never books a row that was booked before',
  'rounds half to even, as the bank does',
  'gives up after the last attempt and says so',
  'reads the cursor before it takes the lock',
  'skips accounts that were closed meanwhile',
  'leaves the journal untouched on a dry run',
  'counts a late answer as a lost one',
]

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function statement(dice: Dice, subject: string): string {
  const field = dice.pick(fields)
  switch (dice.below(4)) {
    case 0:
      return `const ${field}${dice.below(9)} = ${dice.pick(verbs)}${dice.pick(nouns)}(${subject}, ${dice.below(9999)})`
    case 1:
      return `if (${subject}.${field} > ${dice.below(500)}) ${dice.pick(verbs)}(${subject}, '${dice.hex(6)}')`
    case 2:
      return `for (const row of ${subject}.rows) total += row.${field} * ${dice.below(90) + 1}`
    default:
      return `await ${dice.pick(verbs)}${dice.pick(nouns)}({ ${field}: ${subject}.${dice.pick(fields)} })`
  }
}
