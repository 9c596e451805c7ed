import type { ConfiguredUpstream, Settings } from '../../config/settings.ts'
import { defaultUpstreamUrl } from '../../config/settings-schema.ts'
import { problemOf, type Problem } from '../../config/problem.ts'
import type { Environment } from '../../config/api-keys.ts'
import { canonicalUrl, upstreamUrlFault } from '../../config/web-address.ts'
import { parseUpstreamAddress } from '../../upstream/address.ts'
import type { Behind } from './known-program.ts'

/** The upstreams under which the vendors' servers are reached beside the default one. */
const anthropicName = 'anthropic'
const chatGptName = 'chatgpt'

/** Where the requests of a run go. */
export type Destinations = { readonly upstreams: Settings['upstreams']; readonly behind: Behind }

/** What is behind a Foldgate with these upstreams. */
export function behindOf(upstreams: Settings['upstreams']): Behind {
  const standard = upstreams.get('default')
  return behind(upstreams, standard === undefined || !isVendors(standard))
}

/** The addresses of upstreams by their names, as they may be shown. */
export function addressesOf(upstreams: Settings['upstreams']): ReadonlyMap<string, string> {
  return new Map([...upstreams].map(([name, { url }]) => [name, parseUpstreamAddress(url).display]))
}

/**
 * If the settings name a server, that one is for everything. Else each API goes where the environment had it go, or to
 * its vendor; the client's own key goes along.
 */
export function destinationsOf(
  settings: Pick<Settings, 'upstreams'>,
  env: Environment,
): Destinations | Problem {
  const standard = settings.upstreams.get('default')
  if (standard === undefined || !isVendors(standard)) {
    return { upstreams: settings.upstreams, behind: behind(settings.upstreams, true) }
  }
  const openAi = addressIn(['OPENAI_BASE_URL', 'OPENAI_API_BASE'], env)
  const messages = addressIn(['ANTHROPIC_BASE_URL'], env)
  if (openAi !== null && 'message' in openAi) return openAi
  if (messages !== null && 'message' in messages) return messages
  const upstreams = new Map(settings.upstreams)
  if (openAi !== null) upstreams.set('default', { ...standard, ...openAi })
  // The base URL of this API ends before the version, which stands for the path of an upstream.
  const at = messages ?? { url: 'https://api.anthropic.com', set_by: 'ANTHROPIC_BASE_URL' }
  for (const added of [
    vendor(anthropicName, { ...at, url: `${at.url}/v1` }),
    vendor(chatGptName, { url: 'https://chatgpt.com/backend-api/codex', set_by: '--upstream' }),
  ])
    if (!upstreams.has(added.name)) upstreams.set(added.name, added)
  return { upstreams, behind: behind(upstreams, false) }
}

// --- internal ---

function behind(upstreams: Settings['upstreams'], isOneServer: boolean): Behind {
  const serving = isOneServer ? upstreams.get('default') : upstreams.get(anthropicName)
  const hasChatGpt = !isOneServer && upstreams.has(chatGptName)
  return {
    isOneServer,
    messagesPath: serving === undefined || isOneServer ? '' : `/u/${anthropicName}`,
    isAnthropic: serving !== undefined && parseUpstreamAddress(serving.url).isAnthropic,
    chatGptPath: hasChatGpt ? `/u/${chatGptName}` : null,
  }
}

/** Whether nothing was set: with a key of Foldgate's own it is its owner who has said where it goes. */
function isVendors({ url, key, headers }: ConfiguredUpstream): boolean {
  return url === canonicalUrl(defaultUpstreamUrl) && key === null && Object.keys(headers).length === 0
}

function vendor(name: string, at: Pick<ConfiguredUpstream, 'url' | 'set_by'>): ConfiguredUpstream {
  return {
    name,
    ...at,
    key: null,
    headers: {},
    concurrency: null,
    forward_client_key: true,
    drops_client_key: false,
  }
}

/** The address in the first of these variables that is set. */
function addressIn(names: readonly string[], env: Environment) {
  const name = names.find((each) => (env[each] ?? '').trim() !== '')
  if (name === undefined) return null
  const text = (env[name] ?? '').trim()
  const fault = upstreamUrlFault(text)
  if (fault !== null)
    return problemOf(name, `has to be ${fault}`, 'unset it, or name the server by --upstream')
  return { url: canonicalUrl(text), set_by: name }
}
