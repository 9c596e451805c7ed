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
  const settings = loaded.ok ? loaded.settings : loaded.sound
  const where = profileFilesOptions(settings, options)
  if (loaded.ok) {
    const files = await readProfileFiles(where)
    return files.problems.length === 0
      ? { ok: true, settings, files }
      : { ok: false, problems: files.problems }
  }
  // A folder that is missing was told with the settings; upstreams may be missing because of what is wrong there.
  const files = await readProfileFiles({ ...where, required: false, upstreams: null })
  return { ok: false, problems: [...loaded.problems, ...files.problems] }
}

/** Where profiles are read from with these settings: for reading and for watching them. */
export function profileFilesOptions(
  settings: Settings,
  { builtInDirectory, cwd }: Pick<ConfigurationOptions, 'builtInDirectory' | 'cwd'>,
): ProfileFilesOptions {
  return {
    builtInDirectory,
    directory: settings.profiles,
    required: settings.profiles_required,
    shownDirectory: shownPath(settings.profiles, cwd),
    upstreams: new Set(settings.upstreams.keys()),
  }
}

// --- internal ---

/** Relative where that is shorter to read: within the working directory. */
function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near
}
