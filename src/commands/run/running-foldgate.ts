import type { Stats } from 'node:fs'
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCode } from '../../config/yaml-file.ts'
import { httpStatusOf } from '../../errors.ts'
import { parseJsonText } from '../../json/json-value.ts'
import { behindSchema } from './known-program.ts'
import { identityHeaders, isSameSecret, ownSign, proofOf, randomText } from '../../server/own-sign.ts'
import { makeFolder, stateFile, type UserPlace } from '../../storage/state-folder.ts'
import { StoreError } from '../../storage/store-error.ts'

const runningSchema = z.object({
  /** By this it proves at `/healthz` that it is the one that wrote this. */
  secret: z.string(),
  /** Where clients reach it: scheme, host and port. */
  origin: z.url(),
  /** Its admin listener; null where it has none. */
  admin: z.url().nullable(),
  /** Addresses of its upstreams, by their names; empty where an older one did not say them. */
  addresses: z.record(z.string(), z.string()).default({}),
  /** What is behind it. */
  behind: behindSchema,
  /** Whether it serves until it is ended: one of a `run` ends with its program. Older ones did not say it. */
  serves: z.boolean().default(true),
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
    if (await isLink(folder)) return async () => {}
    makeFolder(folder)
    // What lies there is of a process that had the same number: a link is not written through, and its mode may be another.
    await rm(path, { force: true })
    await writeFile(path, `${JSON.stringify(running)}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    // A read-only system has no such folder; a start does not depend on it.
    return async () => {}
  }
  return () => rm(path, { force: true })
}

/**
 * The Foldgate of this user that was started last, one that serves before one of a `run`, at this port if one is named, and
 * proves that it is the one; `unproved` where one says that it has that port and proves nothing there. Files of processes that are gone are taken away.
 */
export async function findRunning(
  place: UserPlace,
  port: number | null = null,
): Promise<RunningFoldgate | 'unproved' | null> {
  let isUnproved = false
  const files = await ownFiles(folderIn(place))
  const rank = ({ running }: (typeof files)[number]) => Number(running?.serves ?? false)
  files.sort((one, other) => rank(other) - rank(one) || other.startedMs - one.startedMs)
  for (const { path, pid, running } of files) {
    const isAsked = port === null || portOf(running?.origin) === port
    if (running !== null && isAsked && (await answers(running.origin, running.secret))) return running
    if (isGone(pid)) await rm(path, { force: true }).catch(() => {})
    else if (running !== null && isAsked && port !== null) isUnproved = true
  }
  return isUnproved ? 'unproved' : null
}

/** Whether a Foldgate answers there, and no other program that has such a path. `secret`: the very one that has written it down. */
export async function answers(origin: string, secret: string | null = null): Promise<boolean> {
  const challenge = randomText()
  const answer = await probe(`${origin}/healthz`, { [identityHeaders.challenge]: challenge })
  const proof = answer?.headers.get(identityHeaders.proof) ?? ''
  const isOne = answer?.ok === true
  return isOne && (secret === null || isSameSecret(proof, proofOf(secret, challenge, portOf(origin))))
}

/** Whether a Foldgate answers there that is shutting down, and has its port for a while yet. */
export async function drains(origin: string): Promise<boolean> {
  return (await probe(`${origin}/readyz`, {}))?.status === httpStatusOf.draining
}

/** Whether a file or folder belongs to the user of this process; on Windows there is no saying. */
export function isOfThisUser({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === (process.getuid?.() ?? uid)
}

/** Whether no process has this number. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
  }
}

// --- internal ---

/** A Foldgate's answer; null where none comes, or one of another program's. */
async function probe(url: string, headers: Readonly<Record<string, string>>): Promise<Response | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(url, { headers, redirect: 'error', signal })
    await answer.body?.cancel()
    return answer.headers.get('server') === ownSign.server ? answer : null
  } catch {
    return null
  }
}

const ANSWER_MS = 2_000

function portOf(origin = ''): number {
  const port = URL.parse(origin)?.port
  return port === '' ? HTTP_PORT : Number(port)
}

/** What a URL leaves out. */
const HTTP_PORT = 80

/** What lies there as `PID.json`, a file of this user's and no link; none if the folder itself is a link, or may not be read. */
async function ownFiles(folder: string | null) {
  if (folder === null || (await isLink(folder))) return []
  const names = await readdir(folder).catch(() => [])
  const files = names.map(async (name) => {
    const pid = /^(\d+)\.json$/.exec(name)?.[1]
    const path = join(folder, name)
    const file = pid === undefined ? null : await lstat(path).catch(() => null)
    if (file?.isFile() !== true || !isOfThisUser(file)) return []
    return [{ path, pid: Number(pid), startedMs: file.mtimeMs, running: await readRunning(path) }]
  })
  return (await Promise.all(files)).flat()
}

/** What is not there is none, and what may not be looked at is not used. */
const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )

/** Null if it is gone by now, may not be read, or says something else. */
async function readRunning(path: string): Promise<RunningFoldgate | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return runningSchema.safeParse(parseJsonText(text)).data ?? null
}

function folderIn(place: UserPlace): string | null {
  try {
    return stateFile(place, 'running')
  } catch (error) {
    if (error instanceof StoreError) return null
    throw error
  }
}
