import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { loadConfiguration } from '../../../../src/config/configuration.ts'
import { formatProblem, type Problem } from '../../../../src/config/problem.ts'
import type { Profile } from '../../../../src/profiles/schema.ts'
import { chatOf, postChat, rawMessages } from '../../../support/post-chat.ts'
import {
  brokenConversation,
  longRun,
  validConversation,
  type TestMessage,
} from '../../../support/conversations.ts'
import { completion } from '../../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../../support/stand.ts'
import { checkRules } from '../check.ts'
import { fuzzTarget } from '../target.ts'
import { stringify } from 'yaml'
import { anyOf, indexAt, place, withSome, upTo, oneText, texts } from '../arbitrary.ts'

/** What values of settings are made of: as they are meant, or as anybody may write them. */
type Values = {
  /** A whole number of a few. */
  readonly few: fc.Arbitrary<unknown>
  readonly tokens: fc.Arbitrary<unknown>
  /** A ratio or tokens. */
  readonly share: fc.Arbitrary<unknown>
  readonly flag: fc.Arbitrary<unknown>
  readonly name: fc.Arbitrary<unknown>
  /** The name of an environment variable; there is one, `A_KEY`. */
  readonly variable: fc.Arbitrary<unknown>
  readonly origin: fc.Arbitrary<unknown>
  readonly address: fc.Arbitrary<unknown>
  /** Something that a key whose values are free may have. */
  readonly free: fc.Arbitrary<unknown>
  readonly word: (...words: readonly string[]) => fc.Arbitrary<unknown>
  /** A group with any of these keys. */
  readonly group: (keys: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.Arbitrary<unknown>
}

const meant: Values = {
  few: fc.integer({ min: 1, max: 10 }),
  tokens: fc.constantFrom(1, 100, 1_500, 2_000, 5_000, 100_000),
  share: fc.constantFrom(0.05, 0.25, 0.5, 0.75, 0.9, 1, 800, 1_500),
  flag: fc.boolean(),
  name: fc.constantFrom('a', 'm*', 'test-model'),
  variable: fc.constant('A_KEY'),
  origin: fc.constantFrom('https://h', 'http://localhost:3000', '*'),
  address: fc.constantFrom('http://h/v1', 'https://h:1/v1', 'http://[::1]:80/'),
  free: fc.constant({}),
  word: (...words) => fc.constantFrom(...words),
  group: withSome,
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

const orWrong = (arbitrary: fc.Arbitrary<unknown>) => anyOf([12, arbitrary], wrong)

const odd: Values = {
  few: orWrong(meant.few),
  tokens: orWrong(meant.tokens),
  share: orWrong(meant.share),
  flag: orWrong(meant.flag),
  name: orWrong(meant.name),
  variable: orWrong(meant.variable),
  origin: orWrong(meant.origin),
  address: orWrong(meant.address),
  free: anything,
  word: (...words) => orWrong(meant.word(...words)),
  group: (keys) => {
    const stray = fc.constantFrom(...Object.keys(keys), 'sumary', '__proto__', 'constructor', '')
    const strayed = fc
      .tuple(withSome(keys), stray, anything)
      .map(([known, key, value]) => Object.assign({}, known, { [key]: value }))
    return anyOf([8, withSome(keys)], strayed, anything)
  },
}

/** What a profile's file may say. */
function profileOf(values: Values): fc.Arbitrary<unknown> {
  const { few, tokens, share, flag, name, free, word, group } = values
  const pass = group({ enabled: flag, at: share })
  return group({
    models: upTo(3, name),
    headers: fc.dictionary(fc.constantFrom('x-agent', 'x-other'), name, { maxKeys: 2 }),
    extends: word('default', 'small-local'),
    upstream: fc.constant(null),
    window: group({
      tokens: tokens,
      max: tokens,
      output_reserve: tokens,
      encoding: word('auto', 'o200k_base', 'cl100k_base'),
      ratio: word('0.5', '1', '2').map(asNumber),
    }),
    trigger: fc.oneof(word('off'), word('0.75', '0.9', '1').map(asNumber)),
    target: word('0.25', '0.5').map(asNumber),
    every: group({ turns: few, tool_calls: few }),
    limit: group({ turns: few, messages: few }),
    min_growth_tokens: tokens,
    keep: group({ recent_messages: few, task: flag }),
    strategy: word('auto', 'summarize', 'truncate'),
    template: word('auto', 'lenient', 'strict'),
    repair: flag,
    render: pass,
    preview: group({ threshold_tokens: tokens, max_chars: tokens, max_lines: few, at: share }),
    clear: group({
      enabled: flag,
      keep_results: few,
      except_tools: upTo(2, name),
      at: share,
    }),
    fold: group({ at: share }),
    recap: group({ max_tokens: tokens, beside_summaries: flag }),
    summary: group({
      model: name,
      mode: word('background', 'blocking', 'off'),
      at: share,
      max_tokens: tokens,
      reasoning_tokens: tokens,
      parameters: free,
      min_savings_ratio: word('0', '0.3').map(asNumber),
      wait_ms: few,
      concurrent: few,
      system_prompt: word('{previous_summary}', 'Be brief.'),
      user_prompt: word('{messages}', '$& $1 {messages} {previous_summary}'),
    }),
    overflow: group({
      attempts: few,
      min_recent: few,
      hold_ms: few,
      clamp_output: word('when_impossible', 'never'),
    }),
    recall: group({ enabled: flag, rounds: few }),
    continuation: group({ max: few }),
    observe: flag,
  })
}

/** What foldgate.yaml may say. */
function settingsOf(values: Values): fc.Arbitrary<unknown> {
  const { few, flag, name, variable, origin, address, free, word, group } = values
  const upstream = group({
    url: address,
    api_key_env: variable,
    headers: fc.dictionary(fc.constantFrom('x-a', 'x-b'), word('1', 'b')),
    concurrency: few,
  })
  const clientKey = fc.record({
    name: word('one'),
    key_env: variable,
    profiles: upTo(2, name),
    overrides: flag,
  })
  return group({
    host: word('127.0.0.1', '::1'),
    port: few,
    profiles: word('profiles', '.'),
    log_level: word('debug', 'info', 'silent'),
    upstreams: fc.dictionary(fc.constant('default'), upstream, { maxKeys: 1 }),
    client_keys: upTo(1, clientKey),
    scope: group({ header: word('x-tenant') }),
    cors: group({ origins: upTo(2, origin) }),
    hosts: fc.array(word('h', 'h.lan'), { maxLength: 2 }),
    limits: group({
      body_mb: few,
      bytes_in_flight_mb: word('100').map(asNumber),
      concurrent: few,
      headers_s: few,
      connect_s: few,
      idle_s: few,
    }),
    drain: group({ delay_s: few, timeout_s: few }),
    store: group({
      url: word('memory:', 'sqlite:', 'sqlite:x', 'redis://h'),
      ttl_days: few,
      max_mb: few,
      required: flag,
      encrypt_key_env: variable,
    }),
    admin: group({
      host: word('127.0.0.1'),
      port: word('3654').map(asNumber),
      token_env: variable,
      show_content: flag,
      metrics: word('protected', 'open'),
    }),
    archive: group({ dir: name, mention: flag }),
    usage: group({ in_streams: word('rewritten', 'never', 'always') }),
    prices: free,
  })
}

/** What else it is stays. */
const asNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^[\d.]+$/.test(value) ? Number(value) : value

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

const conversation: fc.Arbitrary<readonly TestMessage[]> = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map((steps) => longRun(steps, steps)),
  validConversation({ textCharactersMax: 2_000 }),
  brokenConversation({ textCharactersMax: 2_000 }),
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
function isAboutAll({ message }: Problem): boolean {
  return /^(?:is|holds|its aliases|there is another file|the profile's name|the file)\b/.test(message)
}

/** What `foldgate check` says of it, as a program. */
async function checkByProgram(cwd: string, isOk: boolean): Promise<void> {
  const child = spawn(process.execPath, [main, 'check'], {
    cwd,
    env: { ...ENVIRONMENT, HOME: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ])
  const isTold = isOk ? stdout.startsWith('ok: ') : /\d problems?\s*$/.test(stdout + stderr)
  if (code !== (isOk ? 0 : 1) || !isTold)
    throw new Error(`foldgate check ends with ${String(code)}: ${stdout}${stderr}`)
}

async function treat(
  stand: Stand,
  name: string,
  profile: Profile | undefined,
  messages: readonly TestMessage[],
): Promise<string> {
  const { upstream, foldgate } = stand
  if (profile === undefined) throw new Error('it loaded, but is not there')
  if (profile.upstream !== null || profile.summary.upstream !== null) return 'for another upstream'
  upstream.requests.length = 0
  const before = foldgate.log.length
  const reply = await postChat(stand.url, chatOf(messages), { 'x-foldgate-profile': name, 'x-fuzzed': '1' })
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text.slice(0, 300)}`)
  const received = upstream.requests.findLast(({ headers }) => headers['x-fuzzed'] === '1')
  const sent = rawMessages(received).map((each): unknown => JSON.parse(each))
  if (messages.length > 0 && sent.length === 0) throw new Error('nothing was sent')
  checkRules(messages, sent)
  const failed = foldgate.log.slice(before).filter((line) => line.includes('"level":"error"'))
  if (failed.length > 0) throw new Error(failed.join('').slice(0, 1_000))
  const action = (reply.action ?? '').replace(/;.*/, '')
  if (action === 'compacted') checkSize(profile, messages, reply.header('x-foldgate-tokens') ?? '')
  return action
}

/** P7, where what nobody may touch is small; a token is a byte at least. */
function checkSize({ window, trigger }: Profile, messages: readonly TestMessage[], tokens: string): void {
  const sent = Number(/;sent=<?(\d+)/.exec(tokens)?.[1])
  if (window.tokens === 'auto' || trigger === 'off') return
  const whole = Math.min(window.tokens, window.max ?? Number.POSITIVE_INFINITY)
  // Own counts are those of the encoding; the budget is in the model's own tokens.
  const budget = whole - Math.min(window.output_reserve, Math.floor(whole / 2))
  const fixedBytes = Buffer.byteLength(JSON.stringify(messages.filter(isFixed)))
  if ((fixedBytes + MARGIN_TOKENS) * (window.ratio ?? 1) <= budget && sent * (window.ratio ?? 1) > budget)
    throw new Error(`sent ${sent} tokens where ${budget} fit`)
}

function isFixed({ role }: TestMessage): boolean {
  return role === 'system' || role === 'user' || role === 'developer'
}

/** What a recap, the frames of messages and the marks of what was cut take at least. */
const MARGIN_TOKENS = 500

/** A file of settings or a profile, and its bytes. */
type OddFile = {
  readonly name: 'foldgate.yaml' | 'profiles/odd.yaml' | 'profiles/default.yaml'
  readonly bytes: Buffer
}

/** Files that are well written, that say odd things, that are damaged, or that are something else. */
function oddFile(): fc.Arbitrary<OddFile> {
  return anyOf(
    [4, filesAt('profiles/odd.yaml', profileOf)],
    [2, filesAt('profiles/default.yaml', profileOf)],
    [3, filesAt('foldgate.yaml', settingsOf)],
  )
}

const fragments = texts`
    \t ¦ \u0000 ¦ \u0007 ¦ \u001b[2J ¦ &a\u0020 ¦ *a ¦ *b ¦ !!js/function x ¦ !x\u0020 ¦ ---\n ¦ ...\n
    :\u0020 ¦ -\u0020 ¦ " ¦ ' ¦ \u0060 ¦ @ ¦ %YAML 9.9\n ¦ { ¦ } ¦ [ ¦ ] ¦ \n ¦ \n \u0020 ¦ \n\t
    <<: *a ¦ ?\u0020 ¦ | ¦ >-\n ¦ # ¦ \ufeff ¦ \u2028 ¦ \r ¦ a: &a [*a]\n ¦ \nwindow: {tokens: 1}\n
  `

const wholes: readonly (() => string)[] = [
  () => '',
  () => '[',
  () => 'null',
  () => '- a\n- b',
  () => '42',
  () => '['.repeat(100_000),
  () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  () => '{a: '.repeat(20_000),
  () => '- '.repeat(20_000),
  () => Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  () =>
    `a: &a [x, x]\nb: &b [${'*a, '.repeat(60)}*a]\nc: &c [${'*b, '.repeat(60)}*b]\nd: [${'*c, '.repeat(60)}*c]`,
  () => 'a: &a\n  b: *a',
  () => `# ${'x'.repeat(2 * 1024 * 1024)}`,
  () => `models: [${'m, '.repeat(100_000)}m]`,
  () => Array.from({ length: 20_000 }, (_, index) => `key${index}: ${index}`).join('\n'),
  () => `"${'k'.repeat(2_000)}": 1`,
]

const damage: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...fragments)).map(([share, fragment]) => (text: string) => {
    const index = indexAt(text.length, share)
    return text.slice(0, index) + fragment + text.slice(index)
  }),
  place.map((share) => (text: string) => text.slice(0, indexAt(text.length, share))),
  place.map((share) => (text: string) => text + text.slice(indexAt(text.length, share))),
)

function filesAt(
  path: OddFile['name'],
  contentOf: (values: Values) => fc.Arbitrary<unknown>,
): fc.Arbitrary<OddFile> {
  const sound = spelt(contentOf(meant))
  const strange = spelt(contentOf(odd))
  const damaged = fc
    .tuple(fc.oneof(sound, strange), fc.array(damage, { minLength: 1, maxLength: 3 }))
    .map(([text, damages]) => damages.reduce((changed, damaging) => damaging(changed), text))
  const bytes = anyOf(
    [6, sound.map((text) => Buffer.from(text))],
    [4, strange.map((text) => Buffer.from(text))],
    [3, damaged.map((text) => Buffer.from(text))],
    fc.constantFrom(...wholes).map((whole) => Buffer.from(whole())),
    fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some)),
  )
  return bytes.map((made) => ({
    name: path,
    bytes: made,
    toString: () => JSON.stringify([path, made.toString('utf8')]),
  }))
}

/** As YAML, or as the JSON that is YAML, too. */
function spelt(content: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc
    .tuple(content, fc.boolean())
    .map(([value, isJson]) => (isJson ? JSON.stringify(value) : stringify(value)))
}
