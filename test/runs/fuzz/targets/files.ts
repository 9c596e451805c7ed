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
import { anyOf, damages, oneText, texts, upTo, withSome } from '../arbitrary.ts'
import { checkLog, checkTreated } from '../check.ts'
import { fuzzTarget } from '../target.ts'

/** What a file may say somewhere: as it is meant, or as anybody may write it. */
type Field = (isOdd: boolean) => fc.Arbitrary<unknown>

type Fields = Readonly<Record<string, Field>>

const anything = fc.jsonValue({ maxDepth: 3 })

const wrong = fc.oneof(
  fc.constantFrom<unknown>(0, -1, 0.5, 1e308, 2 ** 53, 2 ** 31, -0, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom<unknown>(null, true, '', [], {}, 'x'.repeat(600)),
  oneText`
    5 ¦ 10k ¦ off ¦ auto ¦ \u0000 ¦ ../x ¦ __proto__ ¦ constructor ¦ \u009b2J ¦ http://h:99999 ¦ file:///etc
  `,
  anything,
)

const leaf =
  (meant: fc.Arbitrary<unknown>): Field =>
  (isOdd) =>
    isOdd ? anyOf([12, meant], wrong) : meant

const one = (...values: readonly unknown[]): Field => leaf(fc.constantFrom(...values))

const list =
  (most: number, each: Field): Field =>
  (isOdd) =>
    upTo(most, each(isOdd))

const named =
  (names: readonly string[], each: Field): Field =>
  (isOdd) =>
    fc.dictionary(fc.constantFrom(...names), each(isOdd), { maxKeys: names.length })

const members = (fields: Fields, isOdd: boolean) =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field(isOdd)]))

/** With any of these keys. */
const group =
  (fields: Fields): Field =>
  (isOdd) => {
    const known = withSome(members(fields, isOdd))
    if (!isOdd) return known
    const stray = fc.constantFrom(...Object.keys(fields), 'sumary', '__proto__', 'constructor', '')
    const strayed = fc
      .tuple(known, stray, anything)
      .map(([some, key, value]) => Object.assign({}, some, { [key]: value }))
    return anyOf([8, known], strayed, anything)
  }

/** What a key whose values are free may have. */
const free: Field = (isOdd) => (isOdd ? anything : fc.constant({}))
const few = leaf(fc.integer({ min: 1, max: 10 }))
const tokens = one(1, 100, 1_500, 2_000, 5_000, 100_000)
/** A ratio or tokens. */
const at = one(0.05, 0.25, 0.5, 0.75, 0.9, 1, 800, 1_500)
const flag = leaf(fc.boolean())
const anyName = one('a', 'm*', 'test-model')
/** Of the environment: there is one. */
const variable = one('A_KEY')

const profileFields: Fields = {
  models: list(3, anyName),
  headers: named(['x-agent', 'x-other'], anyName),
  extends: one('default', 'small-local'),
  upstream: () => fc.constant(null),
  window: group({
    tokens,
    max: tokens,
    output_reserve: tokens,
    encoding: one('auto', 'o200k_base', 'cl100k_base'),
    ratio: one(0.5, 1, 2),
  }),
  trigger: one('off', 'off', 0.75, 0.9, 1),
  target: one(0.25, 0.5),
  every: group({ turns: few, tool_calls: few }),
  limit: group({ turns: few, messages: few }),
  min_growth_tokens: tokens,
  keep: group({ recent_messages: few, task: flag }),
  strategy: one('auto', 'summarize', 'truncate'),
  template: one('auto', 'lenient', 'strict'),
  repair: flag,
  render: group({ enabled: flag, at }),
  preview: group({ threshold_tokens: tokens, max_chars: tokens, max_lines: few, at }),
  clear: group({ enabled: flag, keep_results: few, except_tools: list(2, anyName), at }),
  fold: group({ at }),
  recap: group({ max_tokens: tokens, beside_summaries: flag }),
  summary: group({
    model: anyName,
    mode: one('background', 'blocking', 'off'),
    at,
    max_tokens: tokens,
    reasoning_tokens: tokens,
    parameters: free,
    min_savings_ratio: one(0, 0.3),
    wait_ms: few,
    concurrent: few,
    system_prompt: one('{previous_summary}', 'Be brief.'),
    user_prompt: one('{messages}', '$& $1 {messages} {previous_summary}'),
  }),
  overflow: group({
    attempts: few,
    min_recent: few,
    hold_ms: few,
    clamp_output: one('when_impossible', 'never'),
  }),
  recall: group({ enabled: flag, rounds: few }),
  continuation: group({ max: few }),
  observe: flag,
}

const upstreamFields: Fields = {
  url: one('http://h/v1', 'https://h:1/v1', 'http://[::1]:80/'),
  api_key_env: variable,
  headers: named(['x-a', 'x-b'], one('1', 'b')),
  concurrency: few,
}

const clientKey = { name: one('one'), key_env: variable, profiles: list(2, anyName), overrides: flag }

const settingsFields: Fields = {
  host: one('127.0.0.1', '::1'),
  port: few,
  profiles: one('profiles', '.'),
  log_level: one('debug', 'info', 'silent'),
  upstreams: named(['default'], group(upstreamFields)),
  client_keys: list(1, (isOdd) => fc.record(members(clientKey, isOdd))),
  scope: group({ header: one('x-tenant') }),
  cors: group({ origins: list(2, one('https://h', 'http://localhost:3000', '*')) }),
  hosts: list(2, one('h', 'h.lan')),
  limits: group({
    body_mb: few,
    bytes_in_flight_mb: one(100),
    concurrent: few,
    headers_s: few,
    connect_s: few,
    idle_s: few,
  }),
  drain: group({ delay_s: few, timeout_s: few }),
  store: group({
    url: one('memory:', 'sqlite:', 'sqlite:x', 'redis://h'),
    ttl_days: few,
    max_mb: few,
    required: flag,
    encrypt_key_env: variable,
  }),
  admin: group({
    host: one('127.0.0.1'),
    port: one(3654),
    token_env: variable,
    show_content: flag,
    metrics: one('protected', 'open'),
  }),
  archive: group({ dir: anyName, mention: flag }),
  usage: group({ in_streams: one('rewritten', 'never', 'always') }),
  prices: free,
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
    [4, filesAt('profiles/odd.yaml', profileFields)],
    [2, filesAt('profiles/default.yaml', profileFields)],
    [3, filesAt('foldgate.yaml', settingsFields)],
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
function filesAt(path: string, fields: Fields): fc.Arbitrary<OddFile> {
  const content = anyOf([6, group(fields)(false)], [4, group(fields)(true)])
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
