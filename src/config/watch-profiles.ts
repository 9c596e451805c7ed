import { existsSync } from 'node:fs'
import type { Profile } from '../profiles/schema.ts'
import type { Problem } from './problem.ts'
import { type ProfileFilesOptions, readProfileFiles } from './profile-files.ts'
import { type FileWatch, watchFiles, type WatchTimes } from './watch-files.ts'

export type WatchProfilesOptions = ProfileFilesOptions &
  WatchTimes & {
    /** The profiles as they were read last: nothing is told if they are still the same. */
    readonly profiles: ReadonlyMap<string, Profile>
    /** Called with all profiles after a change, when every one of them is valid. */
    readonly onReload: (profiles: ReadonlyMap<string, Profile>) => void
    /** Called with the problems of a reload that is not used: the profiles before it stay. */
    readonly onProblems: (problems: readonly Problem[]) => void
  }

/**
 * Reads the user's folder of profiles again when something in it changed, or when it comes, goes, comes back or is
 * another one behind a symbolic link. One that goes is told, and the profiles before stay: a folder that is being
 * replaced must not take its profiles away for a moment. `reload` has called one of the callbacks when it is done.
 */
export function watchProfiles(options: WatchProfilesOptions): FileWatch {
  const { directory, onReload, onProblems, profiles: first, ...rest } = options
  let current = textOf(first)
  let wasThere = existsSync(directory)

  async function read(isAsked: boolean): Promise<void> {
    wasThere ||= existsSync(directory)
    const required = options.required === true || wasThere
    const { profiles, problems } = await readProfileFiles({ ...rest, directory, required })
    if (watch.isClosed()) return
    if (problems.length > 0) return onProblems(problems)
    const text = textOf(profiles)
    if (text === current && !isAsked) return
    current = text
    onReload(profiles)
  }

  const watch = watchFiles({ ...rest, paths: [directory], read })
  return watch
}

// --- internal ---

function textOf(profiles: ReadonlyMap<string, Profile>): string {
  return JSON.stringify([...profiles])
}
