/** The server behind an upstream's address, in the words of the GenAI conventions. */
export type ModelServer = ReturnType<typeof modelServer>

/** The server at an upstream's `http:` or `https:` address. */
export function modelServer(url: string) {
  const { hostname, protocol, port } = new URL(url)
  const [provider] = providers.find(([, pattern]) => pattern.test(hostname)) ?? ['openai']
  const defaultPort = protocol === 'https:' ? 443 : 80
  // An IPv6 address stands in brackets in a URL only.
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return { provider, address, port: port === '' ? defaultPort : Number(port) }
}

/**
 * @internal exported for tests. The well-known values of `gen_ai.provider.name` (November 2026) by host. All others are
 * `openai`: the attribute says which provider's format is spoken, and `server.address` whose server it is.
 */
export const providers: readonly (readonly [provider: string, pattern: RegExp, sample: string])[] = [
  ['anthropic', /(?:^|\.)anthropic\.com$/, 'api.anthropic.com'],
  [
    'aws.bedrock',
    /^bedrock[\w-]*\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/,
    'bedrock-runtime.us-east-1.amazonaws.com',
  ],
  ['azure.ai.inference', /\.(?:models|inference)\.ai\.azure\.\w+$/, 'm.eastus.models.ai.azure.com'],
  ['azure.ai.openai', /\.(?:openai|cognitiveservices|services\.ai)\.azure\.\w+$/, 'mine.openai.azure.com'],
  ['cohere', /(?:^|\.)cohere\.(?:ai|com)$/, 'api.cohere.ai'],
  ['deepseek', /(?:^|\.)deepseek\.com$/, 'api.deepseek.com'],
  ['gcp.gemini', /(?:^|\.)generativelanguage\.googleapis\.com$/, 'generativelanguage.googleapis.com'],
  ['gcp.vertex_ai', /(?:^|[.-])aiplatform\.googleapis\.com$/, 'us-central1-aiplatform.googleapis.com'],
  ['groq', /(?:^|\.)groq\.com$/, 'api.groq.com'],
  ['ibm.watsonx.ai', /(?:^|\.)ml\.cloud\.ibm\.com$/, 'us-south.ml.cloud.ibm.com'],
  ['mistral_ai', /(?:^|\.)mistral\.ai$/, 'api.mistral.ai'],
  ['moonshot_ai', /(?:^|\.)moonshot\.(?:ai|cn)$/, 'api.moonshot.ai'],
  ['perplexity', /(?:^|\.)perplexity\.ai$/, 'api.perplexity.ai'],
  ['x_ai', /(?:^|\.)x\.ai$/, 'api.x.ai'],
]
