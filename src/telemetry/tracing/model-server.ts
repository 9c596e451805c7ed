/** The server behind an upstream's address, in the words of the GenAI conventions. */
export type ModelServer = {
  readonly provider: string
  readonly address: string
  readonly port: number
}

/** The server at an upstream's `http:` or `https:` address. */
export function modelServer(url: string): ModelServer {
  const { hostname, protocol, port } = new URL(url)
  const found = providers.find(({ pattern }) => pattern.test(hostname))
  return {
    provider: found?.provider ?? 'openai',
    // An IPv6 address stands in brackets in a URL only.
    address: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort(protocol) : Number(port),
  }
}

/**
 * The well-known values of `gen_ai.provider.name` (November 2026) by host. All others are `openai`: the attribute says
 * which provider's format is spoken, and `server.address` whose server it is.
 *
 * @internal exported for tests
 */
export const providers: readonly {
  readonly provider: string
  readonly pattern: RegExp
  readonly sample: string
}[] = [
  { provider: 'anthropic', pattern: /(?:^|\.)anthropic\.com$/, sample: 'api.anthropic.com' },
  {
    provider: 'aws.bedrock',
    pattern: /^bedrock[\w-]*\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/,
    sample: 'bedrock-runtime.us-east-1.amazonaws.com',
  },
  {
    provider: 'azure.ai.inference',
    pattern: /\.(?:models|inference)\.ai\.azure\.\w+$/,
    sample: 'm.eastus.models.ai.azure.com',
  },
  {
    provider: 'azure.ai.openai',
    pattern: /\.(?:openai|cognitiveservices|services\.ai)\.azure\.\w+$/,
    sample: 'mine.openai.azure.com',
  },
  { provider: 'cohere', pattern: /(?:^|\.)cohere\.(?:ai|com)$/, sample: 'api.cohere.ai' },
  { provider: 'deepseek', pattern: /(?:^|\.)deepseek\.com$/, sample: 'api.deepseek.com' },
  {
    provider: 'gcp.gemini',
    pattern: /(?:^|\.)generativelanguage\.googleapis\.com$/,
    sample: 'generativelanguage.googleapis.com',
  },
  {
    provider: 'gcp.vertex_ai',
    pattern: /(?:^|[.-])aiplatform\.googleapis\.com$/,
    sample: 'us-central1-aiplatform.googleapis.com',
  },
  { provider: 'groq', pattern: /(?:^|\.)groq\.com$/, sample: 'api.groq.com' },
  {
    provider: 'ibm.watsonx.ai',
    pattern: /(?:^|\.)ml\.cloud\.ibm\.com$/,
    sample: 'us-south.ml.cloud.ibm.com',
  },
  { provider: 'mistral_ai', pattern: /(?:^|\.)mistral\.ai$/, sample: 'api.mistral.ai' },
  { provider: 'moonshot_ai', pattern: /(?:^|\.)moonshot\.(?:ai|cn)$/, sample: 'api.moonshot.ai' },
  { provider: 'perplexity', pattern: /(?:^|\.)perplexity\.ai$/, sample: 'api.perplexity.ai' },
  { provider: 'x_ai', pattern: /(?:^|\.)x\.ai$/, sample: 'api.x.ai' },
]

// --- internal ---

function defaultPort(protocol: string): number {
  return protocol === 'https:' ? 443 : 80
}
