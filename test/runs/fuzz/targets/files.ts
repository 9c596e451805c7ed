import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { loadConfiguration } from '../../../../src/config/configuration.ts'
import { formatProblem, type Problem } from '../../../../src/config/problem.ts'
import type { Profile } from '../../../../src/profiles/schema.ts'
import * as conversations from '../../../support/conversations.ts'
import { completion } from '../../../support/fake-upstream.ts'
import { startCommand } from '../../../support/run-command.ts'
import { standWith, type Stand } from '../../../support/stand.ts'
import { times } from '../../../support/times.ts'
import { anyOf, damages, oneText, texts, upTo } from '../arbitrary.ts'
import { checkLog, checkTreated } from '../check.ts'
import { fuzzTarget } from '../target.ts'

/** What of a JSON schema says which values there may be. */
type Schema = {
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly type?: string | readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly propertyNames?: Schema
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

const anything = fc.jsonValue({ maxDepth: 3 })

const wrong = fc.oneof(
  fc.constantFrom<unknown>(0, -1, 0.5, 1e308, 2 ** 53, 2 ** 31, -0, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom<unknown>(null, true, '', [], {}, 'x'.repeat(600)),
  oneText`
    5 ¦ 10k ¦ off ¦ auto ¦ \u0000 ¦ ../x ¦ __proto__ ¦ constructor ¦ \u009b2J ¦ http://h:99999 ¦ file:///etc
  `,
  anything,
)

const numbers = [0.05, 0.25, 0.5, 0.9, 1, 2, 5, 10, 100, 800, 1_500, 2_000, 5_000, 100_000]

/** Whatever a text may be: names, addresses, headers, origins, prompts. Of variables of the environment there is one. */
const meantTexts = texts`
  a ¦ m* ¦ test-model ¦ default ¦ small-local ¦ A_KEY ¦ x-agent ¦ 127.0.0.1 ¦ ::1 ¦ memory: ¦ sqlite:x ¦ redis://h
  http://h/v1 ¦ http://[::1]:80/ ¦ https://h:1/v1 ¦ * ¦ {messages} ¦ $& $1 {messages} {previous_summary}
`

/** What the schema does not say of some keys: what has to be there, or to begin so. */
const meant: Readonly<Record<string, readonly unknown[]>> = {
  extends: ['default', 'small-local', null],
  upstream: [null],
  url: ['http://h/v1', 'https://h:1/v1', 'http://[::1]:80/'],
  origins: [['https://h', 'http://localhost:3000'], ['*'], []],
  profiles: ['.'],
  host: ['127.0.0.1', '::1'],
  encrypt_key_env: ['A_KEY', null],
  token_env: ['A_KEY', null],
  key_env: ['A_KEY'],
  key_file: [null],
  api_key_file: [null],
}

/** What a file may say by its schema: as it is meant, or (`isOdd`) as anybody may write it. */
function valueBy(schema: Schema, isOdd: boolean): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((each) => valueBy(each, isOdd)))
  const { properties, additionalProperties: further, items, type } = schema
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valueBy({ ...schema, type: each }, isOdd)))
  if (properties !== undefined) return objectBy(properties, schema.required ?? [], isOdd)
  if (type === 'array') return upTo(3, valueBy(items ?? {}, isOdd))
  if (type === 'object')
    return typeof further === 'object'
      ? fc.dictionary(
          leafOf(schema.propertyNames ?? { type: 'string' }).map(String),
          valueBy(further, isOdd),
          {
            maxKeys: 2,
          },
        )
      : isOdd
        ? anything
        : fc.constant({})
  return isOdd ? anyOf([12, leafOf(schema)], wrong) : leafOf(schema)
}

function objectBy(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  isOdd: boolean,
): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([key, schema]) => [
    key,
    meant[key] !== undefined && schema.pattern === undefined && !isOdd
      ? fc.constantFrom(...meant[key])
      : valueBy(schema, isOdd),
  ])
  const known = fc.record<Record<string, unknown>, string>(Object.fromEntries(fields), {
    requiredKeys: [...required],
  })
  if (!isOdd) return known
  const stray = fc.constantFrom(...Object.keys(properties), 'sumary', '__proto__', 'constructor', '')
  const strayed = fc
    .tuple(known, stray, anything)
    .map(([some, key, value]) => Object.assign({}, some, { [key]: value }))
  return anyOf([8, known], strayed, anything)
}

function leafOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, pattern = '', minimum, exclusiveMinimum = minimum, maximum = Infinity } = schema
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined || type === undefined || type === 'null')
    return fc.constant(schema.const ?? null)
  if (type === 'boolean') return fc.boolean()
  if (type === 'string')
    return fc.constantFrom(...meantTexts.filter((text) => new RegExp(pattern, 'u').test(text)))
  const fitting = numbers.filter(
    (number) =>
      number >= (exclusiveMinimum ?? 0) &&
      number <= maximum &&
      (type === 'number' || Number.isInteger(number)),
  )
  return fc.constantFrom(...fitting, ...(typeof schema.default === 'number' ? [schema.default] : []))
}

/**
 * Settings and profiles with anything in them. Either they load, or every problem is told in a line of its own, with its
 * file and place; and a profile that loads can treat any conversation: nothing fails, the message rules hold (P3), what is
 * sent fits (P7).
 */
export const files = fuzzTarget('files', 2, ['told what is wrong', 'profile loaded'], async () => {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-fuzz-'))
  const profiles = new Map<string, Profile>()
  const stand = await standWith(completion('# Summary\n\nWhat was said before.'), { profiles })
  let inputs = 0
  return {
    arbitrary: fc.tuple(oddFile(), conversation),
    check: async ([file, messages]) => {
      inputs += 1
      const cwd = join(folder, String(inputs))
      await mkdir(join(cwd, dirname(file.name)), { recursive: true })
      await writeFile(join(cwd, file.name), file.bytes)
      try {
        const loaded = await loadConfiguration({ flags: {}, env: ENVIRONMENT, cwd, builtInDirectory })
        if (inputs % CHECKED_EACH === 0) await checkByProgram(cwd, loaded.ok)
        if (!loaded.ok) {
          checkProblems(loaded.problems, file)
          return 'told what is wrong'
        }
        if (file.name === 'foldgate.yaml') return 'settings loaded'
        profiles.clear()
        for (const [name, profile] of loaded.files.profiles) profiles.set(name, profile)
        const name = file.name === 'profiles/odd.yaml' ? 'odd' : 'default'
        return `profile loaded, ${await treat(stand, name, profiles.get(name), messages)}`
      } finally {
        await rm(cwd, { recursive: true, force: true })
      }
    },
    close: async () => {
      await stand[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
})

const builtInDirectory = fileURLToPath(new URL('../../../../profiles/', import.meta.url))
const main = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url))

/** What settings may name. */
const ENVIRONMENT = { A_KEY: 'sk-fuzz' }

/** The program is started for one input among so many. */
const CHECKED_EACH = 200

const oddFile = () =>
  anyOf(
    [4, filesAt('profiles/odd.yaml', 'profile')],
    [2, filesAt('profiles/default.yaml', 'profile')],
    [3, filesAt('foldgate.yaml', 'settings')],
  )

const conversation: fc.Arbitrary<readonly conversations.TestMessage[]> = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map((steps) => conversations.longRun(steps, steps)),
  conversations.validConversation({ textCharactersMax: 2_000 }),
  conversations.brokenConversation({ textCharactersMax: 2_000 }),
)

/** Each is a line; one at least tells of the file, and one that does tells where in it. */
function checkProblems(problems: readonly Problem[], file: OddFile): void {
  const lines = problems.map(formatProblem)
  const unprintable = lines.find((line) => /\p{Cc}/u.test(line))
  if (unprintable !== undefined) throw new Error(`a problem that is no line: ${JSON.stringify(unprintable)}`)
  const own = problems.filter(({ source }) => source.endsWith(file.name))
  if (own.length === 0) throw new Error(`nothing about the file: ${lines.join('; ')}`)
  const astray = own.find((problem) => problem.line === null && !isAboutAll(problem))
  if (astray !== undefined) throw new Error(`a problem without its place: ${formatProblem(astray)}`)
}

/** A file that cannot be read as a whole has no place to point at. */
const isAboutAll = ({ message }: Problem): boolean =>
  /^(?:is|holds|its aliases|there is another file|the profile's name|the file)\b/.test(message)

/** What `foldgate check` says of it, as a program. */
async function checkByProgram(cwd: string, isOk: boolean): Promise<void> {
  const env = { ...ENVIRONMENT, HOME: cwd }
  const program = startCommand(process.execPath, [main, 'check'], { cwd, env, stdio: 'pipe' })
  const code = await program.ended
  const [stdout, stderr] = [program.stdout(), program.stderr()]
  const isTold = isOk ? stdout.startsWith('ok: ') : /\d problems?\s*$/.test(stdout + stderr)
  if (code !== (isOk ? 0 : 1) || !isTold)
    throw new Error(`foldgate check ends with ${String(code)}: ${stdout}${stderr}`)
}

async function treat(
  { url, upstream, foldgate }: Stand,
  name: string,
  profile: Profile | undefined,
  messages: readonly conversations.TestMessage[],
): Promise<string> {
  if (profile === undefined) throw new Error('it loaded, but is not there')
  if (profile.upstream !== null || profile.summary.upstream !== null) return 'for another upstream'
  const before = foldgate.log.length
  const reply = await checkTreated(url, upstream, messages, { 'x-foldgate-profile': name })
  checkLog(foldgate.log.slice(before))
  const action = (reply.action ?? '').replace(/;.*/, '')
  if (action === 'compacted') checkSize(profile, messages, reply.header('x-foldgate-tokens') ?? '')
  return action
}

/** P7, where what nobody may touch is small; a token is a byte at least. */
function checkSize(
  { window, trigger }: Profile,
  messages: readonly conversations.TestMessage[],
  counted: string,
): void {
  const sent = Number(/;sent=<?(\d+)/.exec(counted)?.[1])
  if (window.tokens === 'auto' || trigger === 'off') return
  // Where signs or digits are tokens by themselves, one of ours is less than one of the model's.
  if (window.ratio === null && /apart|digits/.test(window.encoding)) return
  const whole = Math.min(window.tokens, window.max ?? Number.POSITIVE_INFINITY)
  // Own counts are those of the encoding; the budget is in the model's own tokens.
  const budget = whole - Math.min(window.output_reserve, Math.floor(whole / 2))
  const fixedBytes = Buffer.byteLength(JSON.stringify(messages.filter(isFixed)))
  if ((fixedBytes + MARGIN_TOKENS) * (window.ratio ?? 1) <= budget && sent * (window.ratio ?? 1) > budget)
    throw new Error(`sent ${sent} tokens where ${budget} fit`)
}

const isFixed = ({ role }: conversations.TestMessage): boolean =>
  role === 'system' || role === 'user' || role === 'developer'

/** What a recap, the frames of messages and the marks of what was cut take at least. */
const MARGIN_TOKENS = 500

const fragments = texts`
    \t ¦ \u0000 ¦ \u0007 ¦ \u001b[2J ¦ &a\u0020 ¦ *a ¦ *b ¦ !!js/function x ¦ !x\u0020 ¦ ---\n ¦ ...\n
    :\u0020 ¦ -\u0020 ¦ " ¦ ' ¦ \u0060 ¦ @ ¦ %YAML 9.9\n ¦ { ¦ } ¦ [ ¦ ] ¦ \n ¦ \n \u0020 ¦ \n\t
    <<: *a ¦ ?\u0020 ¦ | ¦ >-\n ¦ # ¦ \ufeff ¦ \u2028 ¦ \r ¦ a: &a [*a]\n ¦ \nwindow: {tokens: 1}\n
  `

const wholes = [
  '',
  '[',
  'null',
  '- a\n- b',
  '42',
  'a: &a\n  b: *a',
  '['.repeat(100_000),
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  '{a: '.repeat(20_000),
  '- '.repeat(20_000),
  times(3_000, (depth) => `${' '.repeat(depth)}a:`).join('\n'),
  `a: &a [x, x]\nb: &b [${'*a, '.repeat(60)}*a]\nc: &c [${'*b, '.repeat(60)}*b]\nd: [${'*c, '.repeat(60)}*c]`,
  `# ${'x'.repeat(2 * 1024 * 1024)}`,
  `models: [${'m, '.repeat(100_000)}m]`,
  times(20_000, (index) => `key${index}: ${index}`).join('\n'),
  `"${'k'.repeat(2_000)}": 1`,
]

/** A file of settings or a profile, and its bytes. */
type OddFile = { readonly name: string; readonly bytes: Buffer }

/** Files that are well written, that say odd things, that are damaged, or that are something else. */
function filesAt(path: string, kind: 'profile' | 'settings'): fc.Arbitrary<OddFile> {
  const schema: Schema = JSON.parse(readFileSync(join(builtInDirectory, `${kind}.schema.json`), 'utf8'))
  const content = anyOf([6, valueBy(schema, false)], [4, valueBy(schema, true)])
  // As YAML, or as the JSON that is YAML, too.
  const written = fc
    .tuple(content, fc.boolean(), damages(fragments, { intact: 3, most: 3 }))
    .map(([value, isJson, damage]) => {
      const bytes = Buffer.from(isJson ? JSON.stringify(value) : stringify(value))
      return damage?.(bytes) ?? bytes
    })
  const bytes = anyOf(
    [13, written],
    fc.constantFrom(...wholes).map((whole) => Buffer.from(whole)),
    fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some)),
  )
  return bytes.map((made) => ({
    name: path,
    bytes: made,
    toString: () => JSON.stringify([path, made.toString('utf8')]),
  }))
}
