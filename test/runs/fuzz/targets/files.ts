import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
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
import { checkRules } from '../check-rewritten.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { oddFile, type OddFile } from './odd-file.ts'

/**
 * Settings and profiles with anything in them. Either they load, or every problem is told in a line of its own, with its
 * file and place; and a profile that loads can treat any conversation: nothing fails, the message rules hold (P3), what is
 * sent fits (P7).
 */
export const files: FuzzTarget = {
  name: 'files',
  share: 2,
  shows: ['told what is wrong', 'profile loaded'],
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'foldgate-fuzz-'))
    const profiles = new Map<string, Profile>()
    const stand = await standWith(completion('# Summary\n\nWhat was said before.'), { profiles })
    let inputs = 0
    return openTarget({
      arbitrary: fc.tuple(oddFile(), conversation),
      check: async ([file, messages]): Promise<Fate> => {
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
    })
  },
}

// --- internal ---

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
    text(child.stdout),
    text(child.stderr),
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
