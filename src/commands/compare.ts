import { resolve } from 'node:path'
import { createExplain, type FindWindow } from '../admin/explain/explanation.ts'
import { readAsked, readingOnce } from '../admin/explain/read-asked.ts'
import { createAsker } from './compare/asker.ts'
import { findMoments, readRecorded } from './compare/moments.ts'
import {
  askAll,
  CONVERSATIONS_MIN,
  type Harm,
  kinds,
  PAIRS_MIN,
  type Plan,
  planOf,
  type Result,
  resultOf,
  wantedOf,
} from './compare/pairs.ts'
import { openState } from './compare/state.ts'
import { loadConfiguration } from '../config/configuration.ts'
import type { FlagValues } from '../config/flags.ts'
import { FoldgateError } from '../errors.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { Profile } from '../profiles/schema.ts'
import { readLimits } from '../pipeline/read/read-chat.ts'
import { StoreError } from '../storage/store-error.ts'
import { parseUpstreamAddress } from '../upstream/address.ts'
import { openUpstreams } from '../upstream/upstreams.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import { type CommandContext, complain, flagText, noteOn, say } from './command.ts'
import { type LookUpOptions, lookUpWindow } from './look-up-window.ts'
import { aligned, grouped } from '../telemetry/log/lines.ts'

/**
 * Has the user's own model answer recorded requests twice in full and once as Foldgate would compact them, and says how often
 * its next step differs on account of that. Without `--yes` nothing is sent.
 */
export async function compare(context: CommandContext): Promise<number> {
  try {
    return await compareRecorded(context)
  } catch (error) {
    if (error instanceof StoreError) return complain(context, [error.message])
    if (!(error instanceof FoldgateError)) throw error
    return complain(context, [error.param === 'profile' ? `--profile: ${error.message}` : error.message])
  }
}

// --- internal ---

/** What is wrong with one recording is mostly wrong with all. */
const LEFT_OUT_SHOWN = 5

const STATE_FILE = 'foldgate-compare.jsonl'

async function compareRecorded(context: CommandContext): Promise<number> {
  const { flags, env, stderr, files: paths } = context
  const asked = { profile: flagText(flags, 'profile'), model: flagText(flags, 'model') }
  const numbers = numbersIn(flags)
  if (typeof numbers === 'string') return complain(context, [numbers])
  if (paths.length === 0)
    return complain(context, ['foldgate compare needs recorded conversations: name a file or a folder'])
  const configuration = await loadConfiguration(context)
  if (!configuration.ok) return complain(context, configuration.problems)
  const { settings, files } = configuration
  const [isMeant, isJson] = [flags['yes'] === true, flags['json'] === true]
  const addressOf = (upstream: string | null) =>
    parseUpstreamAddress(settings.upstreams.get(upstream ?? 'default')?.url ?? '')

  const read = (body: Buffer) => readAsked(body, readingOnce(readLimits(settings.limits)))
  const profiles = new Map(
    [...files.profiles].map(([name, each]) => [name, compacting(each, numbers.window)]),
  )
  const lookUp = { settings, place: context, onTrouble: noteOn(context), asksUpstream: isMeant }
  const findWindow = lookedUpOnce(lookUp)
  if (stderr.isTTY) stderr.write('looking for moments …\n')
  const { recorded, unread } = await readRecorded(paths, asked.model)
  const explain = createExplain({ profiles: () => profiles, findWindow, settings })
  const found = await findMoments(recorded, {
    ...numbers,
    read,
    findWindow,
    profiles: files.profiles,
    explain: (body) => explain(body, asked),
  })
  const leftOut = [...unread, ...found.unread]
  if (found.conversations === 0) return complain(context, leftOut.slice(0, LEFT_OUT_SHOWN))
  if (leftOut.length > 0)
    noteOn(context)(`recordings left out: ${leftOut.length}; the first is ${leftOut[0]}`)
  if (found.moments.length === 0) return complain(context, [nothingFound(found.conversations)])

  const { outputTokens, seed } = numbers
  const wanted = found.moments.map((moment) =>
    wantedOf(moment, [addressOf(moment.upstream).display, asked.model, outputTokens]),
  )
  const path = resolve(context.cwd, flagText(flags, 'state') ?? STATE_FILE)
  if (!isMeant) {
    const upstreams = wanted.map(({ upstream }) => addressOf(upstream).display)
    const plan = { ...planOf(wanted, upstreams, outputTokens), window: numbers.window, state: path }
    return say(context, isJson ? JSON.stringify(plan) : drawPlan(plan))
  }

  const stop = new AbortController()
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    context.onSignal(signal, () => {
      if (isStopping) stop.abort()
      else stderr.write('\nstops after the request that runs; once more breaks it off\n')
      isStopping = true
    })
  const state = await openState(path)
  const upstreams = openUpstreams(settings, proxiesFrom(env))
  const ask = createAsker({
    upstreams,
    model: asked.model,
    outputTokens,
    signal: stop.signal,
    credentialFor: (dialect) => credentialOf(dialect.name, env),
  })
  try {
    const why = await askAll(wanted, {
      ask,
      state,
      read,
      isStopping: () => isStopping,
      onMoment: (done) => {
        const text = `${done} of ${wanted.length} moments`
        stderr.write(stderr.isTTY ? `\r${text}` : `${text}\n`)
      },
    })
    if (stderr.isTTY) stderr.write('\n')
    const result = resultOf(wanted, state, seed)
    if (why === null) return say(context, isJson ? JSON.stringify(result) : drawResult(result))
    return complain(context, [
      `stopped with ${result.pairs} of ${wanted.length} pairs: ${why}. The same command goes on from there (${path}).`,
    ])
  } finally {
    await state.close()
    await upstreams.destroy()
  }
}

/** What flags say in numbers; the problem where one says something else. */
function numbersIn(flags: FlagValues) {
  const wrong = (['pairs', 'seed', 'window', 'max-output'] as const).find(
    (name) => !/^(?:[1-9]\d{0,8})?$/.test(flagText(flags, name) ?? ''),
  )
  if (wrong !== undefined) return `--${wrong}: has to be a whole number above 0`
  const of = (name: 'pairs' | 'seed' | 'max-output', otherwise: number) =>
    Number(flagText(flags, name) ?? otherwise)
  const window = flagText(flags, 'window')
  return {
    pairs: of('pairs', 60),
    seed: of('seed', 1),
    /** Null: that of the profile. */
    window: window === null ? null : Number(window),
    outputTokens: of('max-output', 512),
  }
}

/** The profile as it compacts for this window. A call of recall would be answered by Foldgate alone: it is not offered. */
function compacting(profile: Profile, window: number | null): Profile {
  const of = window === null ? profile.window : { ...profile.window, tokens: window, max: null }
  return { ...profile, observe: false, recall: { ...profile.recall, enabled: false }, window: of }
}

/** The key that clients of an API take from the environment, as a header; nothing where there is none. */
function credentialOf(dialect: string, env: CommandContext['env']): readonly string[] {
  const { ANTHROPIC_API_KEY: anthropic = '', OPENAI_API_KEY: openai = '' } = env
  if (dialect === 'messages') return anthropic === '' ? [] : ['x-api-key', anthropic]
  return openai === '' ? [] : ['authorization', `Bearer ${openai}`]
}

/** Each window is looked up once: that opens the store, and may ask the upstream. */
function lookedUpOnce(options: LookUpOptions) {
  const known = new Map<string, Promise<ResolvedWindow>>()
  return function findWindow(...[profile, model, requestTokens]: Parameters<FindWindow>) {
    const key = JSON.stringify([profile.name, profile.window.tokens, model, requestTokens])
    const window = known.get(key) ?? lookUpWindow(options, profile, model, requestTokens)
    known.set(key, window)
    return window
  }
}

const nothingFound = (conversations: number): string =>
  `Of ${conversations} conversations none has a request that Foldgate would compact and that fits in full: with --window N it compacts for a window of N tokens, which has to be smaller than that of the model.`

function drawPlan(plan: Plan & { readonly window: number | null; readonly state: string }): string {
  const compacted =
    plan.window === null ? 'the window of the profile' : `a window of ${grouped(plan.window)} tokens`
  return [
    `sends    ${plan.requests} requests to ${names(plan.upstreams)}, model ${names(plan.models)}`,
    `pairs    ${plan.pairs}, from ${plan.conversations} conversations`,
    `each     one request in full, the same again, and compacted for ${compacted} (profile ${names(plan.profiles)})`,
    `prompts  about ${grouped(plan.prompt_tokens)} tokens, and up to ${grouped(plan.reply_tokens_max)} of replies`,
    `state    ${plan.state}: hashes and counts, no content; what is answered there is not asked again`,
    plan.is_full_window_guessed ? GUESSED : '',
    plan.pairs < PAIRS_MIN ? `warning  from fewer than ${PAIRS_MIN} pairs no harm is told, only counts` : '',
    'Nothing was sent: with --yes it is.',
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function drawResult({ moments, pairs, conversations, harm, is_telling: isTelling, answers }: Result): string {
  const row = (name: string, of: Harm): readonly string[] => [
    name,
    `${of.again} of ${pairs}`,
    `${of.compacted} of ${pairs}`,
    harmText(of),
  ]
  const why = !isTelling
    ? 'Most replies in full only say something, and what they say is not compared: these are counts and nothing more.'
    : pairs < PAIRS_MIN
      ? `Below ${PAIRS_MIN} pairs these are counts and nothing more.`
      : conversations < CONVERSATIONS_MIN
        ? `Below ${CONVERSATIONS_MIN} conversations these are counts and nothing more.`
        : 'Harm: what differs compacted less what differs anyway, in % of the pairs; in brackets the 95 % interval.'
  return [
    `${pairs} pairs of ${conversations} conversations${pairs < moments ? `; ${moments - pairs} more moments were refused` : ''}`,
    '',
    ...table([
      ['the next step differs in', 'asked again', 'compacted', 'harm'],
      row('anything', harm.any),
      row('the tools', harm.tools),
      row('their paths', harm.paths),
      row('the kind of command', harm.commands),
    ]),
    '',
    why,
    '',
    ...table([
      ['replies', 'call a tool', 'prompt tokens', 'of them cached', 'reply tokens'],
      ...kinds.map((kind) => {
        const { calling, tokens: used } = answers[kind]
        return [kind, String(calling), tokens(used.prompt), tokens(used.cached), tokens(used.reply)]
      }),
    ]),
  ].join('\n')
}

const GUESSED =
  'warning  the model’s window is a guess: requests in full may not fit it (window.tokens of a profile says it)'

const names = (list: readonly string[]): string => list.join(', ')

const tokens = (count: number | null): string => (count === null ? 'not stated' : grouped(count))

const percent = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)}`

function harmText({ harm }: Harm): string {
  if (harm === null) return ''
  return `${percent(harm.share)} (${percent(harm.low)} to ${percent(harm.high)})`
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return aligned(rows, (column) => column > 0)
}
