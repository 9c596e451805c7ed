import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { findNginx } from './subjects/nginx.ts'

/** What the figures depend on, as pairs of name and value. */
export function describeMachine(pinning: string): readonly (readonly [string, string])[] {
  const cores = cpus()
  return [
    ['Processor', cores[0]?.model.trim() || 'unknown'],
    ['Cores', `${cores.length}. ${pinning}`],
    ['Memory', `${(totalmem() / 2 ** 30).toFixed(1)} GiB`],
    ['Kernel', `Linux ${release().replace(/-.*/, '')}`],
    ['Node', process.version],
    ['Foldgate', versionOf('../package.json')],
    ['Minimal relay', `node:http and undici ${versionOf('../node_modules/undici/package.json')}`],
    ['Portkey', versionOf('node_modules/@portkey-ai/gateway/package.json')],
    ['nginx', nginxVersion()],
  ]
}

// --- internal ---

function versionOf(file: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  return version
}

function nginxVersion(): string {
  const nginx = findNginx()
  if (nginx === null) return 'not installed here, so not measured'
  // It tells its version on standard error.
  const { stderr } = spawnSync(nginx, ['-v'], { encoding: 'utf8' })
  return /nginx\/(\S+)/.exec(stderr)?.[1] ?? 'unknown'
}
