import { archiveTrouble } from '../archive/archive.ts'
import { type ConfigurationOptions, loadConfiguration, type ProfileFiles } from '../config/configuration.ts'
import { formatProblem } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import { matchesGlob } from '../profiles/glob.ts'
import { matchProfile } from '../profiles/match.ts'
import type { Profile } from '../profiles/schema.ts'
import { type CommandContext, complain, flagText, noteOn, say } from './command.ts'
import { keylessUpstreams, strayVariables, summariesOf } from './start-lines.ts'
import { lookUpWindow, profileLine, type WindowFound, windowLines } from './window.ts'

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
