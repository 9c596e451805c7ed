import { archiveTrouble } from '../archive/archive-trouble.ts'
import { matchesGlob } from '../profiles/glob.ts'
import { matchProfile } from '../profiles/match.ts'
import type { Profile } from '../profiles/schema.ts'
import { type ConfigurationOptions, loadConfiguration } from '../config/configuration.ts'
import { summariesOf } from './who-pays.ts'
import { formatProblem } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import { profileLine, windowLines, type WindowFound } from './window-lines.ts'

/** Finds out a model's window under a profile. */
export type ResolveWindow = (
  profile: Profile,
  model: string,
  settings: Settings,
) => WindowFound | Promise<WindowFound>

export type CheckOptions = ConfigurationOptions & {
  /** The model to ask about; null: only validate. */
  readonly model: string | null
  readonly resolveWindow: ResolveWindow
}

export type CheckResult = {
  /** What to print, without a newline at its end. */
  readonly text: string
  readonly exitCode: 0 | 1
}

/**
 * What `foldgate check` says: ok, or every problem of settings and profiles with its place. With a model also
 * which profile and window it gets, and why; else each profile's, as far as it is known.
 */
export async function checkConfiguration(options: CheckOptions): Promise<CheckResult> {
  const configuration = await loadConfiguration(options)
  if (!configuration.ok) {
    const { problems } = configuration
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    return { text: [...problems.map(formatProblem), count].join('\n'), exitCode: 1 }
  }
  const { settings, files } = configuration
  const names = [...files.profiles.keys()].sort().join(', ')
  const lines = [`ok: settings from ${settings.config_file ?? 'the defaults'}`, `profiles: ${names}`]
  const unkept = settings.archive.dir === null ? null : await archiveTrouble(settings.archive.dir)
  if (unkept !== null) lines.push(`warning: ${unkept}`)
  if (options.model === null) lines.push('', ...[...files.profiles.values()].map(profileLine).sort())
  else lines.push(...(await describeModel(options.model, settings, files, options.resolveWindow)))
  return { text: lines.join('\n'), exitCode: 0 }
}

// --- internal ---

type Profiles = {
  readonly profiles: ReadonlyMap<string, Profile>
  readonly sources: ReadonlyMap<string, string>
}

async function describeModel(
  model: string,
  settings: Settings,
  { profiles, sources }: Profiles,
  resolveWindow: ResolveWindow,
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
  // The command knows no request, and the answer may be another for one with such headers.
  for (const { name, headers } of byHeaders) {
    const wanted = Object.entries(headers).map(([header, pattern]) => `${header}: ${pattern}`)
    lines.push(`note     requests with ${wanted.join(', ')} may get the profile ${name}`)
  }
  return lines
}
