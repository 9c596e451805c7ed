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
  peerDependencies: versions,
})

const lockSchema = z.looseObject({ lockfileVersion: z.number(), packages: z.record(z.string(), entry) })

const manifestSchema = z.looseObject({
  scripts: versions,
  dependencies: versions,
  devDependencies: versions,
  peerDependencies: versions,
  peerDependenciesMeta: z.record(z.string(), z.strictObject({ optional: z.literal(true) })).default({}),
  allowScripts: z.record(z.string(), z.boolean()).default({}),
})

export type LockEntry = z.output<typeof entry>

/** Folders of all packages that stand in the repository, from its root. */
export const packageFolders: readonly string[] = tracked('package.json').map((path) =>
  path.replace(/\/?package\.json$/, ''),
)

/** A package of the repository: what it asks for. */
export const manifestIn = async (folder: string): Promise<z.output<typeof manifestSchema>> =>
  manifestSchema.parse(JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')))

/** What `npm ci` installs for it: the lock file's own root, and every package by its path. */
export async function lockIn(folder: string) {
  const text = await readFile(join(root, folder, 'package-lock.json'), 'utf8')
  const { lockfileVersion, packages } = lockSchema.parse(JSON.parse(text))
  const { '': own, ...installed } = packages
  if (own === undefined) throw new Error(`the lock file of "${folder}" has no root`)
  return { lockfileVersion, own, installed: Object.entries(installed) }
}

/**
 * The packages that run with Foldgate, by their place in the lock file: its dependencies and what those need; with its peers,
 * which are optional and come with the image.
 */
export function runtimePackages(
  { own, installed }: Pick<Awaited<ReturnType<typeof lockIn>>, 'own' | 'installed'>,
  { withPeers }: { readonly withPeers: boolean },
): readonly (readonly [path: string, entry: LockEntry])[] {
  const entries = new Map(installed)
  const found = new Map<string, LockEntry>()
  const asked = { ...own.dependencies, ...(withPeers && own.peerDependencies) }
  const wanted = Object.keys(asked).map((name) => ({ name, from: '' }))
  for (const { name, from } of wanted) {
    const path = placesOf(name, from).find((place) => entries.has(place))
    const needed = path === undefined ? undefined : entries.get(path)
    if (path === undefined || needed === undefined)
      throw new Error(`the lock file does not say what ${name} is`)
    if (found.has(path)) continue
    found.set(path, needed)
    wanted.push(...Object.keys(needed.dependencies).map((each) => ({ name: each, from: path })))
  }
  return [...found]
}

/** Where Node looks for a package, from the package at `from` upwards. */
function placesOf(name: string, from: string): readonly string[] {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  const above = from.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')
  return from === '' ? [place] : [place, ...placesOf(name, above)]
}

function tracked(name: string): readonly string[] {
  const told = spawnSync('git', ['ls-files', '-z', name, `*/${name}`], { cwd: root, encoding: 'utf8' })
  return told.stdout.split('\0').filter((path) => path !== '')
}
