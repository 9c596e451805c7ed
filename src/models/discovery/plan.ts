import type { ClientCredential } from '../../upstream/credential.ts'
import { hostKindOf, type HostKind } from './hosts.ts'

/** One endpoint that may say something about windows, and how its answer is read. */
export type Probe = {
  readonly name: string
  /** `models`: any kind of list. The others are servers with an endpoint of their own. */
  readonly reader: 'models' | 'ollama' | 'ollama-cloud' | 'props' | 'sglang' | 'tgi' | 'kobold'
  /** Absolute at the upstream, with their queries, for a model; the second where the first does not exist. */
  readonly paths: (model: string) => readonly [string, string?]
  /** Where this endpoint wants the key; null: where the client put it. */
  readonly keyPlace: ClientCredential['place'] | null
  /** Headers that it asks for, name and value by turns. */
  readonly headers: readonly string[]
  // How its answers are taken: see the table in trust.ts.
  /** Whether the server may well be of another kind, so that an answer that is none of this kind is no trouble. */
  readonly isGuess: boolean
  /** What it states is never the size of something loaded. */
  readonly isCatalogue: boolean
  /** The answer holds all models and is kept for them; else it is for one model, or soon out of date. */
  readonly isKept: boolean
}

/**
 * What to ask an upstream, most trusted first; empty where nothing would be answered. `base` is where the chat
 * completion's API begins at the upstream; `isClients` where that is a path which only the client came up with:
 * it is worth one question and no more, or whoever makes up paths has us ask a dozen times for each.
 */
export function probesFor(origin: string, base: string, isClients: boolean): readonly Probe[] {
  const kind = hostKindOf(origin)
  const gemini = /^(.*)\/v1beta\/openai$/.exec(base)
  const cloudflare = /^(.*\/client\/v4\/accounts\/[^/]+\/ai)\/v1$/.exec(base)
  // Gateways stand at other hosts but keep these paths.
  if (gemini !== null) return [geminiProbe(`${gemini[1] ?? ''}/v1beta`, kind)]
  if (cloudflare !== null) return [cloudflareProbe(cloudflare[1] ?? '')]
  switch (kind) {
    case 'silent':
    case 'cloudflare':
      return []
    case 'list':
      return [listProbe('list', `${base}/models`)]
    case 'anthropic':
      return [anthropicProbe(base)]
    case 'cerebras':
      return [listProbe('cerebras', `${rootOf(base)}/public/v1/models`)]
    case 'gemini':
      return [geminiProbe('/v1beta', kind)]
    case 'github':
      return [listProbe('github', '/catalog/models')]
    case 'ollama-cloud':
      return [{ ...serverProbe('ollama-cloud', `${rootOf(base)}/api/show`), isGuess: false }]
    case 'xai':
      return [listProbe('xai', `${base}/language-models`)]
    case null:
      return isClients ? [{ ...guessedList('list', `${base}/models`), isCatalogue: false }] : sweep(base)
  }
}

// --- internal ---

/** Everything that an unknown server could be. */
function sweep(base: string): readonly Probe[] {
  const root = rootOf(base)
  const probes: readonly Probe[] = [
    { ...listProbe('list', `${base}/models`), isCatalogue: false },
    {
      ...serverProbe('props', `${root}/props`),
      // A router answers for the model that is named. It would load it for us if it were not told otherwise.
      paths: (model) => [`${root}/props?model=${inQuery(model)}&autoload=false`],
    },
    serverProbe('ollama', `${root}/api/ps`),
    lmStudioProbe('lm-studio', `${root}/api/v0/models`),
    lmStudioProbe('lm-studio-1', `${root}/api/v1/models`),
    serverProbe('tgi', `${root}/info`),
    serverProbe('sglang', `${root}/get_server_info`, `${root}/server_info`),
    serverProbe('kobold', `${root}/api/extra/true_max_context_length`),
    guessedList('litellm', `${root}/v1/model/info`, `${root}/model/info`),
    guessedList('xai', `${base}/language-models`),
    guessedList('github', `${root}/catalog/models`),
    guessedList('cerebras', `${root}/public/v1/models`),
  ]
  // Where the base is one of these endpoints' own, its list is asked once.
  const [list] = probes
  return probes.filter((probe) => probe === list || probe.paths('')[0] !== `${base}/models`)
}

/** Where a server's own endpoints begin: the base without the part that stands for the OpenAI API. */
function rootOf(base: string): string {
  return base.replace(
    /(?:\/(?:openai|api|inference))?\/v[01]$|\/inference$|\/openai\/deployments\/[^/]+$/,
    '',
  )
}

function listProbe(name: string, ...paths: [string, string?]): Probe {
  return {
    name,
    reader: 'models',
    paths: () => paths,
    keyPlace: null,
    headers: [],
    isGuess: false,
    isCatalogue: true,
    isKept: true,
  }
}

function guessedList(name: string, ...paths: [string, string?]): Probe {
  return { ...listProbe(name, ...paths), isGuess: true }
}

/** Says which models are loaded, and so is true for a moment only. */
function lmStudioProbe(name: string, path: string): Probe {
  return { ...guessedList(name, path), isCatalogue: false, isKept: false }
}

function serverProbe(reader: Exclude<Probe['reader'], 'models'>, ...paths: [string, string?]): Probe {
  return { ...guessedList(reader, ...paths), reader, isCatalogue: false, isKept: false }
}

/** Google's own list wants the key in Google's own header; a gateway in front of it has its own idea of keys. */
function geminiProbe(api: string, host: HostKind | null): Probe {
  const list = listProbe('gemini', `${api}/models?pageSize=1000`)
  return host === 'gemini' ? { ...list, keyPlace: 'x-goog-api-key' } : list
}

function anthropicProbe(base: string): Probe {
  return {
    ...listProbe('anthropic', `${base}/models?limit=1000`),
    keyPlace: 'x-api-key',
    headers: ['anthropic-version', '2023-06-01'],
  }
}

/** The search, since the whole list comes in pages. Its text is the model's name without its maker's. */
function cloudflareProbe(api: string): Probe {
  return {
    ...listProbe('cloudflare', ''),
    paths: (model) => [`${api}/models/search?search=${inQuery(model.slice(model.lastIndexOf('/') + 1))}`],
    isKept: false,
  }
}

function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
