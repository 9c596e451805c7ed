import type { Environment } from '../config/keys.ts'
import type { Additions } from './known-program.ts'

/** The environment of a program that is started: the one it would have had, and what points it here. */
export function childEnvironment(env: Environment, additions: Additions): Record<string, string | undefined> {
  return { ...env, ...additions.env, ...aroundProxies(env) }
}

// --- internal ---

const proxyNames = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

const ownMachine = ['127.0.0.1', 'localhost']

/** A proxy on another machine would look for Foldgate there. */
function aroundProxies(env: Environment): Record<string, string> {
  if (proxyNames.every((name) => (env[name] ?? '') === '')) return {}
  const excepted = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').map((host) => host.trim())
  if (excepted.includes('*')) return {}
  const hosts = [...new Set([...excepted.filter((host) => host !== ''), ...ownMachine])].join(',')
  return { NO_PROXY: hosts, no_proxy: hosts }
}
