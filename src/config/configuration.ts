import { readdir } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { spellPath, valueAt, wrongAt } from '../profiles/issues.ts'
import { meantOr } from '../profiles/near-miss.ts'
import { type ProfileProblem, type RawProfiles, resolveProfiles } from '../profiles/resolve.ts'
import type { Profile } from '../profiles/schema.ts'
import { type Problem, problemOf, sortProblems } from './problem.ts'
import { errorCode, readYaml, type YamlFile } from './yaml-file.ts'
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
  const { settings } = loaded
  const where = profileFilesOptions(settings, options)
  // An upstream may be missing because of another problem.
  const files = await readProfileFiles(loaded.ok ? where : { ...where, required: false, upstreams: null })
  const problems = [...(loaded.ok ? [] : loaded.problems), ...files.problems]
  return problems.length === 0 ? { ok: true, settings, files } : { ok: false, problems }
}

/** Where profiles are read from with these settings: for reading and for watching them. */
export function profileFilesOptions(
  { profiles: directory, profiles_required: required, upstreams }: Settings,
  { builtInDirectory, cwd }: Pick<ConfigurationOptions, 'builtInDirectory' | 'cwd'>,
): ProfileFilesOptions {
  // Relative to the working directory if it lies in it: that is shorter to read.
  const near = relative(cwd, directory)
  const isOutside = near === '' || near.startsWith('..') || isAbsolute(near)
  const shownDirectory = isOutside ? directory : near
  return { builtInDirectory, directory, shownDirectory, required, upstreams: new Set(upstreams.keys()) }
}

export type ProfileFilesOptions = {
  /** The folder of built-in profiles that the package ships. */
  readonly builtInDirectory: string
  /** The user's folder; its profiles replace built-in ones of the same name. */
  readonly directory: string
  /** Whether the user's folder has to exist. Default false: without it there are the built-in ones. */
  readonly required?: boolean
  /** How paths of the user's files begin in problems. Default: `directory`. */
  readonly shownDirectory?: string
  /** Names of the upstreams that profiles may choose; null: unknown, any. */
  readonly upstreams: ReadonlySet<string> | null
}

export type ProfileFiles = {
  /** The valid profiles; to be used only if there are no problems. */
  readonly profiles: ReadonlyMap<string, Profile>
  /** The file of each profile, as it is told to people. */
  readonly sources: ReadonlyMap<string, string>
  readonly problems: readonly Problem[]
}

/** Reads and validates all profiles: one file each (`*.yaml`, `*.yml`, `*.json`), named as the profile. Never throws. */
export async function readProfileFiles(options: ProfileFilesOptions): Promise<ProfileFiles> {
  const { builtInDirectory, directory, required = false, shownDirectory = directory, upstreams } = options
  const builtIn = await readFolder(builtInDirectory, builtInDirectory, true)
  const own = await readFolder(directory, shownDirectory, required)
  const files = new Map([...builtIn.files, ...own.files])
  const raws = new Map([...files].map(([name, { value }]) => [name, value]))
  const resolved = resolveProfiles(raws)
  const problems = [...builtIn.problems, ...own.problems]
  const astray = upstreams === null ? [] : upstreamProblems(resolved.profiles, raws, upstreams)
  for (const { profile, ...problem } of [...resolved.problems, ...astray]) {
    const { message, suggestion } = problem
    problems.push(files.get(profile)?.locate(problem) ?? problemOf(profile, message, suggestion))
  }
  const sources = new Map([...files].map(([name, { source }]) => [name, source]))
  return { profiles: resolved.profiles, sources, problems: sortProblems(problems) }
}

// --- internal ---

/** A folder with more files is the wrong one. */
const filesMax = 1000

/** Files by the names of their profiles. */
type Folder = { readonly files: ReadonlyMap<string, YamlFile>; readonly problems: readonly Problem[] }

async function readFolder(directory: string, shown: string, required: boolean): Promise<Folder> {
  const files = new Map<string, YamlFile>()
  const problems: Problem[] = []
  let names: readonly string[] = []
  try {
    names = (await readdir(directory)).filter(isProfileFile).sort()
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' && !required) return { files, problems }
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    const problem = problemOf(shown, `the folder of profiles ${reason}`, 'create it, or name another')
    return { files, problems: [problem] }
  }
  if (names.length > filesMax) {
    const message = `the folder of profiles holds more than ${filesMax} files`
    return { files, problems: [problemOf(shown, message, 'is it the right folder?')] }
  }
  for (const fileName of names) {
    const name = fileName.replace(/\.[^.]+$/, '')
    const source = join(shown, fileName)
    if (files.has(name)) {
      const message = `there is another file for the profile "${name}"`
      problems.push(problemOf(source, message, 'remove one of the two'))
      continue
    }
    const read = await readYaml(join(directory, fileName), source)
    // It is gone since the folder was listed, as happens when editors save.
    if (read === null) continue
    files.set(name, read)
    problems.push(...read.problems)
  }
  return { files, problems }
}

/** Hidden files, editors' backups and schemas are no profiles. */
function isProfileFile(name: string): boolean {
  return /^[^.~#].*\.(?:yaml|yml|json)$/i.test(name) && !/\.schema\.json$/i.test(name)
}

function* upstreamProblems(
  profiles: ReadonlyMap<string, Profile>,
  raws: RawProfiles,
  upstreams: ReadonlySet<string>,
): Generator<ProfileProblem> {
  const known = [...upstreams].sort().join(', ')
  for (const profile of profiles.values()) {
    for (const path of [['upstream'], ['summary', 'upstream'], ['overflow', 'fallback', 'upstream']]) {
      // An inherited value is told at the profile that sets it.
      const name = valueAt(raws.get(profile.name), path)
      if (typeof name !== 'string' || upstreams.has(name)) continue
      const isAddress = name.includes('://')
      const suggestion = isAddress
        ? `name it in foldgate.yaml, upstreams: {NAME: {url: URL}}, and write ${spellPath(path)}: NAME`
        : meantOr(name, upstreams, `foldgate.yaml has: ${known}`)
      // An address may hold a credential.
      const message = isAddress
        ? `"${spellPath(path)}" must be an upstream's name, not an address`
        : `"${spellPath(path)}" names the upstream ${JSON.stringify(name)}, which foldgate.yaml does not have`
      yield { profile: profile.name, ...wrongAt(path, message, suggestion) }
    }
  }
}
