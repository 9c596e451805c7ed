/** What a known host can be asked: nothing, its list of models at the API's base, or something of its own. */
export type HostKind =
  | 'silent'
  | 'list'
  | 'anthropic'
  | 'cerebras'
  | 'cloudflare'
  | 'gemini'
  | 'github'
  | 'ollama-cloud'
  | 'xai'

/** What is known of a host by its name; null for all others, which may be any kind of server. */
export function hostKindOf(origin: string): HostKind | null {
  const { hostname } = new URL(origin)
  return hosts.find(({ pattern }) => pattern.test(hostname))?.kind ?? null
}

// --- internal ---

/** These hosts and those below them. */
function under(...names: readonly string[]): RegExp {
  return new RegExp(`(?:^|\\.)(?:${names.map((name) => name.replaceAll('.', '\\.')).join('|')})$`)
}

/**
 * November 2026. A silent host's list of models holds names only: asking would be in vain. Machines that are
 * rented under a provider's name (`*.cloudapp.azure.com`, `*.compute.amazonaws.com`) may run any server, so
 * such names must not be among them.
 */
const hosts: readonly { readonly kind: HostKind; readonly pattern: RegExp }[] = [
  {
    kind: 'list',
    pattern: under(
      'openrouter.ai',
      'groq.com',
      'mistral.ai',
      'together.xyz',
      'together.ai',
      'fireworks.ai',
      'moonshot.ai',
      'moonshot.cn',
      'router.huggingface.co',
      'githubcopilot.com',
      'ai-gateway.vercel.sh',
      'deepinfra.com',
      'sambanova.ai',
      'novita.ai',
      'chutes.ai',
      'baseten.co',
      'requesty.ai',
      'venice.ai',
      'llmgateway.io',
      'endpoints.ai.cloud.ovh.net',
    ),
  },
  { kind: 'anthropic', pattern: under('api.anthropic.com') },
  { kind: 'cerebras', pattern: under('api.cerebras.ai') },
  { kind: 'cloudflare', pattern: under('api.cloudflare.com') },
  { kind: 'gemini', pattern: under('generativelanguage.googleapis.com') },
  { kind: 'github', pattern: under('models.github.ai') },
  { kind: 'ollama-cloud', pattern: under('ollama.com') },
  { kind: 'xai', pattern: under('x.ai') },
  {
    kind: 'silent',
    pattern: under(
      'openai.com',
      'deepseek.com',
      'z.ai',
      'bigmodel.cn',
      'minimax.io',
      'minimaxi.com',
      'minimax.chat',
      'perplexity.ai',
      'databricks.com',
      'azuredatabricks.net',
    ),
  },
  {
    kind: 'silent',
    pattern: /\.(?:openai|cognitiveservices|services\.ai|models\.ai|inference\.ai)\.azure\.(?:com|us|cn)$/,
  },
  { kind: 'silent', pattern: /^bedrock[\w-]*\.[\w-]+\.(?:amazonaws\.com|api\.aws)$/ },
  { kind: 'silent', pattern: /(?:^|\.)dashscope[\w-]*\.aliyuncs\.com$/ },
  { kind: 'silent', pattern: /(?:^|[.-])aiplatform\.googleapis\.com$/ },
]
