import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJsonText } from '../conversation/json-value.ts'
import { ownSign } from '../http/own-sign.ts'
import { stateFile, type UserPlace } from '../stores/state-folder.ts'
import { StoreError } from '../stores/store-error.ts'

const runningSchema = z.object({
  /** Where clients reach it: scheme, host and port. */
  origin: z.url(),
  /** Its admin listener; null where it has none. */
  admin: z.url().nullable(),
  /** Addresses of its upstreams, by their names; empty where an older one did not say them. */
  addresses: z.record(z.string(), z.string()).default({}),
  /** What is behind it. */
  behind: z.object({
    messagesPath: z.string(),
    isAnthropic: z.boolean(),
    isOneServer: z.boolean(),
    chatGptPath: z.string().nullable(),
  }),
})

/** A Foldgate that runs, as it says itself in a file in the user's state directory. */
export type RunningFoldgate = z.output<typeof runningSchema>

/**
 * Says that a Foldgate runs, in a file that only its user reads. Resolves with what takes the file away; without a folder
 * for it nothing is said, and only who knows the port finds it.
 */
export async function announce(
  running: RunningFoldgate,
  pid: number,
  place: UserPlace,
): Promise<() => Promise<void>> {
  const folder = folderIn(place)
  if (folder === null) return async () => {}
  const path = join(folder, `${pid}.json`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(path, `${JSON.stringify(running)}\n`, { mode: 0o600 })
  } catch {
    // A read-only system has no such folder; a start does not depend on it.
    return async () => {}
  }
  return () => rm(path, { force: true })
}

/** The Foldgate of this user that was started last and answers. Files of those that are gone are taken away. */
export async function findRunning(place: UserPlace): Promise<RunningFoldgate | null> {
  const folder = folderIn(place)
  const names = folder === null ? [] : await readdir(folder).catch(() => [])
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder ?? '', name)
      return {
        path,
        startedMs: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      }
    }),
  )
  for (const { path } of files.toSorted((one, other) => other.startedMs - one.startedMs)) {
    const text = await readFile(path, 'utf8').catch(() => '')
    const running = runningSchema.safeParse(parseJsonText(text)).data
    if (running !== undefined && (await answers(running.origin))) return running
    await rm(path, { force: true })
  }
  return null
}

/** Whether a Foldgate answers there, and no other program that has such a path. */
export async function answers(origin: string): Promise<boolean> {
  try {
    const answer = await fetch(`${origin}/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    await answer.body?.cancel()
    return answer.ok && answer.headers.get('server') === ownSign.server
  } catch {
    return false
  }
}

// --- internal ---

const ANSWER_MS = 2_000

function folderIn(place: UserPlace): string | null {
  try {
    return stateFile(place, 'running')
  } catch (error) {
    if (error instanceof StoreError) return null
    throw error
  }
}
