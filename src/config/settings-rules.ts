import { type KeyProblem, spellPath } from '../profiles/issues.ts'
import type { SettingsFile } from './settings-schema.ts'
import { isCredentialHeader } from '../upstream/credential.ts'
import { isLoopback } from './web-address.ts'

export type RuleProblem = KeyProblem & {
  /** Other settings without whose valid values this problem cannot be told. */
  readonly given?: readonly (readonly PropertyKey[])[]
}

/** What must hold between settings, checked when each of them is valid. No key is read for it. */
export function settingsRules(settings: SettingsFile): readonly RuleProblem[] {
  return [
    ...upstreamRules(settings),
    ...clientKeyRules(settings),
    ...openRelayRule(settings),
    ...openToPagesRule(settings),
    ...adminRule(settings),
  ]
}

/** Whether configured headers carry a credential, as well as `api_key_env` does. */
export function holdsCredential(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some(isCredentialHeader)
}

// --- internal ---

function upstreamRules({ upstreams, client_keys }: SettingsFile): readonly KeyProblem[] {
  const problems: KeyProblem[] = []
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name]
    if (upstream.url === null && name !== 'default') {
      const message = `"${spellPath([...path, 'url'])}" is missing`
      problems.push({ path, of: 'key', message, suggestion: 'add the address, such as url: https://host/v1' })
    }
    if (upstream.forward_client_key !== true) continue
    const at = { path: [...path, 'forward_client_key'], of: 'value' } as const
    if (upstream.api_key_env !== null || upstream.api_key_file !== null) {
      const message = `the upstream "${name}" has a key of its own and is to get the client's as well`
      problems.push({ ...at, message, suggestion: 'remove forward_client_key or the key' })
    }
    if (client_keys.length > 0) {
      const message = `the upstream "${name}" is to get the client's credential, which is a key of Foldgate's own here`
      problems.push({
        ...at,
        message,
        suggestion: 'give the upstream its key by api_key_env, or remove client_keys',
      })
    }
  }
  return problems
}

function clientKeyRules({ client_keys }: SettingsFile): readonly KeyProblem[] {
  const problems: KeyProblem[] = []
  const names = new Set<string>()
  for (const [index, { name, key_env, key_file }] of client_keys.entries()) {
    const path = ['client_keys', index]
    if (key_env === null && key_file === null) {
      const message = `"${spellPath(path)}" has no key`
      problems.push({ path, of: 'value', message, suggestion: 'add key_env or key_file' })
    }
    if (names.has(name)) {
      const message = `two client keys have the name ${JSON.stringify(name)}`
      const suggestion = 'names tell clients apart: give each its own'
      problems.push({ path: [...path, 'name'], of: 'value', message, suggestion })
    }
    names.add(name)
  }
  return problems
}

function openRelayRule({ host, upstreams, client_keys }: SettingsFile): readonly RuleProblem[] {
  if (isLoopback(host) || client_keys.length > 0) return []
  const holder = keyHolderIn(upstreams)
  if (holder === null) return []
  const message = `"host" is ${host}, which other machines reach, and Foldgate holds a key for the upstream "${holder}": anyone could use it`
  const suggestion = 'add client_keys to foldgate.yaml, or listen on 127.0.0.1'
  return [{ path: ['host'], of: 'value', message, suggestion, given: [['client_keys']] }]
}

function openToPagesRule({ cors, upstreams, client_keys }: SettingsFile): readonly RuleProblem[] {
  if (!cors.origins.includes('*') || client_keys.length > 0) return []
  const holder = keyHolderIn(upstreams)
  if (holder === null) return []
  const message = `"cors.origins" lets in the pages of every site, and Foldgate holds a key for the upstream "${holder}": any page that is opened on this machine could use it`
  const suggestion = 'name the origins, or add client_keys to foldgate.yaml'
  return [{ path: ['cors', 'origins'], of: 'value', message, suggestion, given: [['client_keys']] }]
}

/** The name of an upstream that Foldgate holds a key for; null where there is none. */
function keyHolderIn(upstreams: SettingsFile['upstreams']): string | null {
  const holder = Object.entries(upstreams).find(
    ([, { api_key_env, api_key_file, headers }]) =>
      api_key_env !== null || api_key_file !== null || holdsCredential(headers),
  )
  return holder?.[0] ?? null
}

function adminRule({ admin }: SettingsFile): readonly RuleProblem[] {
  if (admin.port === 0 || isLoopback(admin.host) || admin.token_env !== null) return []
  const message = `"admin.host" is ${admin.host}, which other machines reach, and there is no token`
  const suggestion =
    'set admin.token_env in foldgate.yaml, listen on 127.0.0.1, or turn it off by --admin-port 0'
  return [{ path: ['admin', 'host'], of: 'value', message, suggestion, given: [['admin']] }]
}
