/**
 * Installs a folder's own package, where it is missing or not what its `package-lock.json` says.
 *
 *   node scripts/install-package.ts FOLDER
 *
 * For what is needed to measure or to test, and is no dependency of Foldgate. No install script is run.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Lock = {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
}

process.exitCode = install(process.argv[2] ?? '')

function install(folder: string): number {
  if (!existsSync(join(folder, 'package-lock.json'))) {
    process.stderr.write(`"${folder}" has no package-lock.json: name the folder of a package.\n`)
    return 1
  }
  if (isInstalled(folder)) return 0
  const { status, error } = spawnSync('npm', ['ci', '--prefix', folder, '--ignore-scripts'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (error !== undefined) process.stderr.write(`npm could not be run: ${error.message}\n`)
  return status ?? 1
}

/** npm leaves a lock file of what it installed; it lacks the root and what is optional and not for this machine. */
function isInstalled(folder: string): boolean {
  const installed = readLock(join(folder, 'node_modules/.package-lock.json'))
  const wanted = readLock(join(folder, 'package-lock.json'))
  if (installed === null || wanted === null) return false
  return Object.entries(wanted.packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || installed.packages[path]?.version === version,
  )
}

function readLock(file: string): Lock | null {
  if (!existsSync(file)) return null
  const lock: Lock = JSON.parse(readFileSync(file, 'utf8'))
  return lock
}
