import { nearest } from '../profiles/near-miss.ts'
import { flags } from './flags.ts'
import type { Environment } from './keys.ts'
import type { Settings } from './settings.ts'

/**
 * Variables that begin as Foldgate's own do and are none of them, where it is plain what was meant: a line for each, without
 * its value, at the start and by `foldgate check`. Nothing refuses to start for one: others may have set it.
 */
export function strayVariables(
  env: Environment,
  { upstreams, client_keys, admin, store }: Pick<Settings, 'upstreams' | 'client_keys' | 'admin' | 'store'>,
): readonly string[] {
  const keys = [...upstreams.values(), ...client_keys].map(({ key }) => key?.source.variable)
  const used = new Set<string | null | undefined>([...keys, admin.token_env, store.encrypt_key_env])
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !variables.has(name) && !used.has(name))
    .flatMap((name) => {
      const meant = meantBy(name.slice(prefix.length).toLowerCase())
      return meant === null
        ? []
        : [`the variable ${name} is none of Foldgate's: did you mean ${prefix}${meant}?`]
    })
    .sort()
}

// --- internal ---

const prefix = 'FOLDGATE_'

const variables: ReadonlySet<string> = new Set(flags.flatMap(({ environment }) => environment ?? []))

/** How other programs call the address of what they forward to. */
const addressWords: ReadonlySet<string> = new Set(['url', 'base_url', 'api_base', 'backend', 'target'])

/** What Kubernetes sets in every pod for a Service of this name: `FOLDGATE_SERVICE_HOST`, `FOLDGATE_PORT_3653_TCP_ADDR`. */
const serviceLink = /(?:^|_)service_(?:host|port)(?:_|$)|(?:^|_)port_\d+_/

function meantBy(word: string): string | null {
  if (serviceLink.test(word)) return null
  if (addressWords.has(word)) return 'UPSTREAM'
  const names = [...variables].map((name) => name.slice(prefix.length).toLowerCase())
  return nearest(word, names)?.toUpperCase() ?? null
}
