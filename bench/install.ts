/** Installs what Foldgate is measured against, where it is missing or not what `package-lock.json` says. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Lock = {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
}

if (!isInstalled()) {
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--prefix', fileURLToPath(new URL('.', import.meta.url)), '--ignore-scripts'],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  if (error !== undefined) process.stderr.write(`npm could not be run: ${error.message}\n`)
  process.exitCode = status ?? 1
}

/** npm leaves a lock file of what it installed; it lacks the root and what is optional and not for this machine. */
function isInstalled(): boolean {
  const installed = readLock('node_modules/.package-lock.json')
  const wanted = readLock('package-lock.json')
  if (installed === null || wanted === null) return false
  return Object.entries(wanted.packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || installed.packages[path]?.version === version,
  )
}

function readLock(name: string): Lock | null {
  const file = new URL(name, import.meta.url)
  if (!existsSync(file)) return null
  const lock: Lock = JSON.parse(readFileSync(file, 'utf8'))
  return lock
}
