import type { ClientCredential } from '../../upstream/credential.ts'
import type { Place } from './figure.ts'

/** One endpoint that may say something about windows, and how its answer is read. */
export type Probe = {
  readonly name: string
  /** How to read the answer: as a list of models of any kind, in Ollama's two ways, or the window from a place in the answer. */
  readonly reader: 'models' | 'ollama' | 'ollama-cloud' | Place
  /** Absolute at the upstream, with their queries, for a model; the second where the first does not exist. */
  readonly paths: (model: string) => readonly [string, string?]
  /** Where this endpoint wants the key; null: where the client put it. */
  readonly keyPlace: ClientCredential['place'] | null
  /** Headers that it asks for, name and value by turns. */
  readonly headers: readonly string[]
  /** Whether the server may well be of another kind, so that an answer that is none of this kind is no trouble. */
  readonly isGuess: boolean
  /** Whatever it states is a catalogue's figure, and never the size of something loaded. */
  readonly isCatalogue: boolean
  /** The answer holds all models: one request serves them all. Else it is for one model, or soon out of date. */
  readonly isKept: boolean
}

/**
 * What to ask an upstream, most trusted first; empty where nothing would be answered. `base` is where the chat
 * completion's API begins at the upstream.
 */
export function probesFor(origin: string, base: string): readonly Probe[] {
  const { hostname } = new URL(origin)
  const host = hosts.find(([pattern]) => pattern.test(hostname))?.[1]
  const gemini = /^(.*)\/v1beta\/openai$/.exec(base)?.[1]
  const cloudflare = /^(.*\/client\/v4\/accounts\/[^/]+\/ai)\/v1$/.exec(base)?.[1]
  // Gateways stand at other hosts but keep these paths, and have their own idea of keys.
  if (gemini !== undefined) {
    const list = listProbe('gemini', `${gemini}/v1beta/models?pageSize=1000`)
    return [host === asksGemini ? { ...list, keyPlace: 'x-goog-api-key' } : list]
  }
  if (cloudflare !== undefined) return [cloudflareProbe(cloudflare)]
  return host === undefined ? sweep(base, rootOf(base)) : host(base, rootOf(base))
}

// --- internal ---

/** What a host is asked, by the API's base and by where a server's own endpoints begin. */
type Asks = (base: string, root: string) => readonly Probe[]

/** Everything that an unknown server could be. */
function sweep(base: string, root: string): readonly Probe[] {
  const list = { ...listProbe('list', `${base}/models`), isCatalogue: false }
  const others: readonly Probe[] = [
    {
      // llama-server. The figure is one slot's already: it is not divided by the number of slots.
      ...serverProbe('props', {
        total: 'default_generation_settings.n_ctx default_generation_settings.params.n_ctx',
      }),
      // A router answers for the model that is named. It would load it for us if it were not told otherwise.
      paths: (model) => [`${root}/props?model=${inQuery(model)}&autoload=false`],
    },
    serverProbe('ollama', 'ollama', `${root}/api/ps`),
    // They say which models are loaded, and so are true for a moment only.
    { ...guessedList('lm-studio', `${root}/api/v0/models`), isCatalogue: false, isKept: false },
    { ...guessedList('lm-studio-1', `${root}/api/v1/models`), isCatalogue: false, isKept: false },
    // Text Generation Inference; `max_input_length` is the older name.
    serverProbe(
      'tgi',
      { total: 'max_total_tokens', input: 'max_input_tokens max_input_length' },
      `${root}/info`,
    ),
    // The window it was started with, which may be null, and what its memory holds. The largest prompt is a few tokens short of
    // the smaller of these, and the output still has to fit beside it: so all are totals.
    serverProbe(
      'sglang',
      { total: 'context_length max_total_num_tokens max_req_input_len', isLeast: true },
      `${root}/get_server_info`,
      `${root}/server_info`,
    ),
    serverProbe('kobold', { total: 'value' }, `${root}/api/extra/true_max_context_length`),
    guessedList('litellm', `${root}/v1/model/info`, `${root}/model/info`),
    guessedList('xai', `${base}/language-models`),
    guessedList('github', `${root}/catalog/models`),
    guessedList('cerebras', `${root}/public/v1/models`),
  ]
  // Where the base is one of these endpoints' own, its list is asked once.
  return [list, ...others.filter((probe) => probe.paths('')[0] !== `${base}/models`)]
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

function serverProbe(name: string, reader: Probe['reader'], ...paths: [string?, string?]): Probe {
  const [path = '', elsewhere] = paths
  const list = elsewhere === undefined ? guessedList(name, path) : guessedList(name, path, elsewhere)
  return { ...list, reader, isCatalogue: false, isKept: false }
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

const asksNothing: Asks = () => []
const asksList: Asks = (base) => [listProbe('list', `${base}/models`)]
/** Google's own list wants the key in Google's own header. */
const asksGemini: Asks = () => [
  { ...listProbe('gemini', '/v1beta/models?pageSize=1000'), keyPlace: 'x-goog-api-key' },
]

/** These hosts and those below them. */
function under(...names: readonly string[]): RegExp {
  return new RegExp(`(?:^|\\.)(?:${names.map((name) => name.replaceAll('.', '\\.')).join('|')})$`)
}

/**
 * What is known of hosts by their names, November 2026; all others may be any kind of server. Machines that are rented
 * under a provider's name (`*.cloudapp.azure.com`, `*.compute.amazonaws.com`) may run any server, so such names must not be
 * among them.
 */
const hosts: readonly (readonly [RegExp, Asks])[] = [
  [
    under(
      ...`openrouter.ai groq.com mistral.ai together.xyz together.ai fireworks.ai moonshot.ai moonshot.cn
      router.huggingface.co githubcopilot.com ai-gateway.vercel.sh deepinfra.com sambanova.ai novita.ai chutes.ai
      baseten.co requesty.ai venice.ai llmgateway.io endpoints.ai.cloud.ovh.net`.split(/\s+/),
    ),
    asksList,
  ],
  [
    under('api.anthropic.com'),
    (base) => [
      {
        ...listProbe('anthropic', `${base}/models?limit=1000`),
        keyPlace: 'x-api-key',
        headers: ['anthropic-version', '2023-06-01'],
      },
    ],
  ],
  [under('api.cerebras.ai'), (_base, root) => [listProbe('cerebras', `${root}/public/v1/models`)]],
  [under('generativelanguage.googleapis.com'), asksGemini],
  [under('models.github.ai'), () => [listProbe('github', '/catalog/models')]],
  [
    under('ollama.com'),
    (_base, root) => [{ ...serverProbe('ollama-cloud', 'ollama-cloud', `${root}/api/show`), isGuess: false }],
  ],
  [under('x.ai'), (base) => [listProbe('xai', `${base}/language-models`)]],
  // Their lists of models hold names only: asking would be in vain. Cloudflare says it below an account's path alone.
  [
    under(
      ...`api.cloudflare.com openai.com chatgpt.com deepseek.com z.ai bigmodel.cn minimax.io minimaxi.com minimax.chat
      perplexity.ai databricks.com azuredatabricks.net`.split(/\s+/),
    ),
    asksNothing,
  ],
  [
    /\.(?:openai|cognitiveservices|services\.ai|models\.ai|inference\.ai)\.azure\.(?:com|us|cn)$/,
    asksNothing,
  ],
  [/^bedrock[\w-]*\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/, asksNothing],
  [/(?:^|\.)dashscope[\w-]*\.aliyuncs\.com$/, asksNothing],
  [/(?:^|[.-])aiplatform\.googleapis\.com$/, asksNothing],
]
