import { type KeyProblem, spellPath, wrongAt } from '../profiles/issues.ts'
import { isCredentialHeader } from '../upstream/credential.ts'
import type { SettingsFile } from './settings-schema.ts'
import { isLoopback } from './web-address.ts'

/** Problems between settings that are valid by themselves. No key is read for it. */
export function* settingsRules(settings: SettingsFile): Generator<KeyProblem> {
  yield* upstreamRules(settings)
  yield* clientKeyRules(settings)
  yield* exposureRules(settings)
}

/** Whether configured headers carry a credential, as well as `api_key_env` does. */
export function holdsCredential(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some(isCredentialHeader)
}

// --- internal ---

function* upstreamRules({ upstreams, client_keys }: SettingsFile): Generator<KeyProblem> {
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name]
    if (upstream.url === null && name !== 'default') {
      const message = `"${spellPath([...path, 'url'])}" is missing`
      yield { path, of: 'key', message, suggestion: 'add the address, such as url: https://host/v1' }
    }
    if (upstream.forward_client_key !== true) continue
    const at = [...path, 'forward_client_key']
    if (upstream.api_key_env !== null || upstream.api_key_file !== null) {
      const message = `the upstream "${name}" has a key of its own and is to get the client's as well`
      yield wrongAt(at, message, 'remove forward_client_key or the key')
    }
    if (client_keys.length > 0) {
      const message = `the upstream "${name}" is to get the client's credential, which is a key of Foldgate's own here`
      yield wrongAt(at, message, 'give the upstream its key by api_key_env, or remove client_keys')
    }
  }
}

function* clientKeyRules({ client_keys }: SettingsFile): Generator<KeyProblem> {
  const names = new Set<string>()
  for (const [index, { name, key_env, key_file }] of client_keys.entries()) {
    const path = ['client_keys', index]
    if (key_env === null && key_file === null)
      yield wrongAt(path, `"${spellPath(path)}" has no key`, 'add key_env or key_file')
    if (names.has(name)) {
      const message = `two client keys have the name ${JSON.stringify(name)}`
      yield wrongAt([...path, 'name'], message, 'names tell clients apart: give each its own')
    }
    names.add(name)
  }
}

/** Settings that would let strangers use a key that Foldgate holds, or the admin listener. */
function* exposureRules(settings: SettingsFile): Generator<KeyProblem> {
  const { host, cors, upstreams, client_keys, admin } = settings
  const holder = Object.entries(upstreams).find(
    ([, { api_key_env, api_key_file, headers }]) =>
      api_key_env !== null || api_key_file !== null || holdsCredential(headers),
  )?.[0]
  if (holder !== undefined && client_keys.length === 0 && !isLoopback(host)) {
    const message = `"host" is ${host}, which other machines reach, and Foldgate holds a key for the upstream "${holder}": anyone could use it`
    yield wrongAt(['host'], message, 'add client_keys to foldgate.yaml, or listen on 127.0.0.1')
  }
  if (holder !== undefined && client_keys.length === 0 && cors.origins.includes('*')) {
    const message = `"cors.origins" lets in the pages of every site, and Foldgate holds a key for the upstream "${holder}": any page that is opened on this machine could use it`
    yield wrongAt(['cors', 'origins'], message, 'name the origins, or add client_keys to foldgate.yaml')
  }
  if (admin.port !== 0 && !isLoopback(admin.host) && admin.token_env === null) {
    const message = `"admin.host" is ${admin.host}, which other machines reach, and there is no token`
    const suggestion =
      'set admin.token_env in foldgate.yaml, listen on 127.0.0.1, or turn it off by --admin-port 0'
    yield wrongAt(['admin', 'host'], message, suggestion)
  }
}
