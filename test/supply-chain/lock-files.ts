import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { root } from '../docs/pages.ts'

const versions = z.record(z.string(), z.string()).default({})

const entry = z.looseObject({
  version: z.string().default(''),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().default(''),
  dev: z.boolean().default(false),
  optional: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
  link: z.boolean().default(false),
  dependencies: versions,
  devDependencies: versions,
})

const lockSchema = z.looseObject({
  lockfileVersion: z.number(),
  packages: z.record(z.string(), entry),
})

const manifestSchema = z.looseObject({
  scripts: versions,
  dependencies: versions,
  devDependencies: versions,
  allowScripts: z.record(z.string(), z.boolean()).default({}),
})

export type LockEntry = z.output<typeof entry>

/** Folders of all packages that stand in the repository, from its root. */
export const packageFolders: readonly string[] = tracked('package.json').map((path) =>
  path.replace(/\/?package\.json$/, ''),
)

/** A package of the repository: what it asks for. */
export async function manifestIn(folder: string): Promise<z.output<typeof manifestSchema>> {
  return manifestSchema.parse(JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')))
}

/** What `npm ci` installs for it: the lock file's own root, and every package by its path. */
export async function lockIn(folder: string) {
  const text = await readFile(join(root, folder, 'package-lock.json'), 'utf8')
  const { lockfileVersion, packages } = lockSchema.parse(JSON.parse(text))
  const { '': own, ...installed } = packages
  if (own === undefined) throw new Error(`the lock file of "${folder}" has no root`)
  return { lockfileVersion, own, installed: Object.entries(installed) }
}

/** Whether a package comes with Foldgate, to whoever installs or runs it. */
export function isRuntime([, { dev, optional }]: readonly [string, LockEntry]): boolean {
  return !dev && !optional
}

// --- internal ---

function tracked(name: string): readonly string[] {
  const told = spawnSync('git', ['ls-files', '-z', name, `*/${name}`], { cwd: root, encoding: 'utf8' })
  return told.stdout.split('\0').filter((path) => path !== '')
}
