import { archiveTrouble } from '../archive/archive.ts'
import { type ConfigurationOptions, loadConfiguration, type ProfileFiles } from '../config/configuration.ts'
import { formatProblem } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import { matchesGlob } from '../profiles/glob.ts'
import { matchProfile } from '../profiles/match.ts'
import { type Profile, targetOf, triggerOf } from '../profiles/schema.ts'
import { grouped } from '../telemetry/log/lines.ts'
import { type CommandContext, complain, flagText, noteOn, say } from './command.ts'
import { keylessUpstreams, strayVariables, summariesOf } from './start-lines.ts'
import { lookUpWindow, type WindowFound } from './look-up-window.ts'
import { lowestThresholdTokens } from '../compaction/due.ts'
import { budgetOf, thresholdTokens } from '../tokens/budget.ts'
import { encodingFor, startingRatio } from '../tokens/tokenizer-families.ts'

/** Validates settings and profiles, and says which profile and window a model gets. */
export async function check(context: CommandContext): Promise<number> {
  const { text, exitCode } = await checkConfiguration({
    ...context,
    model: flagText(context.flags, 'model'),
    resolveWindow: (profile, model, settings) =>
      lookUpWindow({ settings, place: context, onTrouble: noteOn(context) }, profile, model),
  })
  return exitCode === 0 ? say(context, text) : complain(context, [text])
}

export type CheckOptions = ConfigurationOptions & {
  /** The model to ask about; null: only validate. */
  readonly model: string | null
  /** Finds out a model's window under a profile. */
  readonly resolveWindow: (
    profile: Profile,
    model: string,
    settings: Settings,
  ) => WindowFound | Promise<WindowFound>
}

/**
 * The text that `foldgate check` prints: ok, or every problem of settings and profiles with its place. With a model
 * also which profile and window it gets, and why; else the window of each profile, as far as it is known.
 */
export async function checkConfiguration(
  options: CheckOptions,
): Promise<{ readonly text: string; readonly exitCode: 0 | 1 }> {
  const configuration = await loadConfiguration(options)
  if (!configuration.ok) {
    const { problems } = configuration
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    return { text: [...problems.map(formatProblem), count].join('\n'), exitCode: 1 }
  }
  const { settings, files } = configuration
  const names = [...files.profiles.keys()].sort().join(', ')
  const lines = [
    `ok: settings from ${settings.config_file ?? 'the defaults'}`,
    `profiles: ${names}`,
    memoryLine(settings),
  ]
  const unkept = settings.archive.dir === null ? null : await archiveTrouble(settings.archive.dir)
  if (unkept !== null) lines.push(`warning: ${unkept}`)
  const warnings = [...strayVariables(options.env, settings), ...keylessUpstreams(settings)]
  lines.push(...warnings.map((line) => `warning: ${line}`))
  if (options.model === null) lines.push('', ...[...files.profiles.values()].map(profileLine).sort())
  else lines.push(...(await describeModel(options.model, settings, files, options.resolveWindow)))
  return { text: lines.join('\n'), exitCode: 0 }
}

// --- internal ---

function memoryLine({ limits }: Settings): string {
  const { bytes_in_flight_mb, last_bodies_mb, remembered_mb } = limits
  return `memory: up to ${bytes_in_flight_mb} MB for requests under way, ${last_bodies_mb} for the latest bodies, ${remembered_mb} for what is remembered of messages (limits)`
}

async function describeModel(
  model: string,
  settings: Settings,
  { profiles, sources }: ProfileFiles,
  resolveWindow: CheckOptions['resolveWindow'],
): Promise<readonly string[]> {
  const match = matchProfile(profiles, { model, headers: {}, requested: null })
  if (match.kind === 'unknown') return [match.message]
  const { profile, why } = match
  const window = await resolveWindow(profile, model, settings)
  const byHeaders = [...profiles.values()].filter(
    ({ headers, models }) =>
      Object.keys(headers).length > 0 &&
      (models.length === 0 || models.some((pattern) => matchesGlob(pattern, model))),
  )
  const lines = [
    '',
    `model    ${model}`,
    `profile  ${profile.name}, from ${sources.get(profile.name) ?? 'the defaults'}`,
    `because  ${why}`,
    ...windowLines(profile, window, model),
    `summary  ${summariesOf(profile, settings)}`,
  ]
  // A request with such headers may get another profile.
  for (const { name, headers } of byHeaders) {
    const wanted = Object.entries(headers).map(([header, pattern]) => `${header}: ${pattern}`)
    lines.push(`note     requests with ${wanted.join(', ')} may get the profile ${name}`)
  }
  return lines
}

/** A model's window under a profile, what of it a prompt may take, how that is counted, and where a compaction begins. */
function windowLines(profile: Profile, window: WindowFound, model: string): readonly string[] {
  const { encoding } = profile.window
  const found = startingRatio(model, profile.window)
  const budgetTokens = budgetIn(profile, window)
  const countedWith = encoding === 'auto' ? encodingFor(model) : encoding
  const told = (ownTokens: number) => modelTokens(ownTokens, budgetTokens, found.ratio)
  return [
    `window   ${grouped(window.tokens)} tokens, ${window.kind}; source: ${sourceOf(profile, window)}`,
    `reserve  ${reserveText(profile, window)}`,
    `budget   ${told(Math.floor(budgetTokens / found.ratio))}`,
    `ratio    ${found.ratio} of the model's tokens for one of ours, by ${countedWith} (${ratioSources[found.source](found.family)})`,
    ...compactionLines(profile, Math.floor(budgetTokens / found.ratio), told),
  ]
}

/** The same in one line, as far as it is known without a model. */
function profileLine(profile: Profile): string {
  const { tokens, max, output_reserve: reserve } = profile.window
  if (tokens === 'auto')
    return `profile  ${profile.name}: the window is the model's (foldgate check --model NAME), ${grouped(reserve)} tokens kept for the reply (window.output_reserve)`
  const window: WindowFound = { tokens: Math.min(tokens, max ?? tokens), kind: 'total', source: 'config' }
  const budgetTokens = budgetIn(profile, window)
  const kept = grouped(window.tokens - budgetTokens)
  const begins =
    profile.trigger === 'off'
      ? 'compaction is off'
      : `compaction begins beyond ${grouped(lowestThresholdTokens(profile, budgetTokens, 0))} and ends near ${grouped(thresholdTokens(targetOf(profile), budgetTokens, 0))}, with nothing fixed`
  return `profile  ${profile.name}: window ${grouped(window.tokens)} tokens (${isCapped(profile, window.tokens) ? 'window.max' : 'window.tokens'}), ${kept} kept for the reply (window.output_reserve), budget ${grouped(budgetTokens)}; ${begins}`
}

const sourceMeanings: Readonly<Record<WindowFound['source'], string>> = {
  config: ' (window.tokens of the profile)',
  request: ' (the request asks for it)',
  learnt: ' (an overflow answer of the upstream)',
  server: ' (the upstream says so)',
  table: ' (the built-in table)',
  default: ' (a guess: set window.tokens in a profile for this model)',
}

const ratioSources = {
  profile: () => 'window.ratio of the profile; the first answers take its place',
  family: (family: string | null) => `that of the family ${family}; the first answers take its place`,
  unknown: () => 'a guess: the name tells no family; the first answers take its place',
} as const

function budgetIn(profile: Profile, { tokens, kind }: WindowFound): number {
  return budgetOf({ tokens, kind }, { tokens: profile.window.output_reserve, of: 'profile' })
}

function sourceOf(profile: Profile, { tokens, source }: WindowFound): string {
  const ceiling = isCapped(profile, tokens) ? ', held down by window.max of the profile' : ''
  return `${source}${sourceMeanings[source]}${ceiling}`
}

function isCapped({ window }: Profile, tokens: number): boolean {
  return window.max === tokens && window.tokens !== tokens
}

function reserveText(profile: Profile, window: WindowFound): string {
  if (window.kind === 'input') return 'none: this window is for the prompt alone'
  const reserveTokens = window.tokens - budgetIn(profile, window)
  const isQuarter = reserveTokens < profile.window.output_reserve
  const source = isQuarter
    ? 'a quarter of the window; window.output_reserve is more'
    : 'window.output_reserve'
  return `${grouped(reserveTokens)} tokens for the reply (${source}); a request's own limit takes its place`
}

/** Our count of tokens as the model's. A count that fills the budget is given as the budget, not rounded. */
function modelTokens(ownTokens: number, budgetTokens: number, ratio: number): string {
  if (ratio === 1) return `${grouped(ownTokens)} tokens`
  const isBudget = ownTokens >= Math.floor(budgetTokens / ratio)
  const tokens = isBudget ? budgetTokens : Math.round(ownTokens * ratio)
  return `${grouped(tokens)} tokens of the model's, ${grouped(ownTokens)} of ours`
}

function compactionLines(
  profile: Profile,
  budgetTokens: number,
  told: (ownTokens: number) => string,
): readonly string[] {
  if (profile.trigger === 'off')
    return ['begins   never (trigger: off): only what the upstream refuses is made smaller']
  const beginsAt = lowestThresholdTokens(profile, budgetTokens, 0)
  const trigger = triggerOf(profile)
  const isTrigger = beginsAt === thresholdTokens(trigger, budgetTokens, 0)
  const why = isTrigger
    ? settingText('trigger', trigger)
    : 'the lowest "at" of its passes, with nothing fixed'
  const target = targetOf(profile)
  return [
    `begins   when a prompt exceeds ${told(beginsAt)} (${why})`,
    `ends     at ${told(thresholdTokens(target, budgetTokens, 0))} (${settingText('target', target)})`,
    ...alsoLines(profile),
  ]
}

function settingText(name: string, setting: number): string {
  if (setting > 1) return `${name}: ${grouped(setting)} tokens of the whole prompt`
  if (setting === 1) return `${name}: 1, when it does not fit`
  return `${name}: ${Number(setting.toFixed(4))} of what is not fixed; the figure is for nothing fixed`
}

function alsoLines({ every, limit }: Profile): readonly string[] {
  const told = [
    [every.turns, 'every %s turns'],
    [every.tool_calls, 'every %s tool calls'],
    [limit.turns, 'with more than %s turns'],
    [limit.messages, 'with more than %s messages'],
  ] as const
  const set = told.filter(([value]) => value > 0).map(([value, text]) => text.replace('%s', grouped(value)))
  return set.length === 0 ? [] : [`also     ${set.join(', ')}`]
}
