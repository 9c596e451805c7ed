import { isAbsolute, relative } from 'node:path'
import type { Problem } from './problem.ts'
import { type ProfileFiles, type ProfileFilesOptions, readProfileFiles } from './profile-files.ts'
import { loadSettings, type Settings, type SettingsOptions } from './settings.ts'

export type ConfigurationOptions = SettingsOptions & {
  /** The folder of built-in profiles that the package ships. */
  readonly builtInDirectory: string
}

export type Configuration =
  | { readonly ok: true; readonly settings: Settings; readonly files: ProfileFiles }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Loads settings and profiles, as the start does. The problems of both are told at once. */
export async function loadConfiguration(options: ConfigurationOptions): Promise<Configuration> {
  const loaded = await loadSettings(options)
  if (!loaded.ok) {
    // A missing folder is among the problems of the settings; an upstream may be missing because of another one.
    const where = profilesAt(loaded.valid.profiles, options)
    const files = await readProfileFiles({ ...where, upstreams: null })
    return { ok: false, problems: [...loaded.problems, ...files.problems] }
  }
  const { settings } = loaded
  const files = await readProfileFiles(profileFilesOptions(settings, options))
  return files.problems.length === 0 ? { ok: true, settings, files } : { ok: false, problems: files.problems }
}

/** Where profiles are read from with these settings: for reading and for watching them. */
export function profileFilesOptions(
  { profiles, profiles_required, upstreams }: Settings,
  options: Pick<ConfigurationOptions, 'builtInDirectory' | 'cwd'>,
): ProfileFilesOptions {
  return {
    ...profilesAt(profiles, options),
    required: profiles_required,
    upstreams: new Set(upstreams.keys()),
  }
}

// --- internal ---

function profilesAt(
  directory: string,
  { builtInDirectory, cwd }: Pick<ConfigurationOptions, 'builtInDirectory' | 'cwd'>,
) {
  // Relative to the working directory if it lies in it: that is shorter to read.
  const near = relative(cwd, directory)
  const isOutside = near === '' || near.startsWith('..') || isAbsolute(near)
  return { builtInDirectory, directory, shownDirectory: isOutside ? directory : near }
}
