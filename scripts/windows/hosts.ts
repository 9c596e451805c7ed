/** APIs that no client of chat completions speaks: their hosts are never an upstream, and their figures are their own. */
export const foreignApis: readonly string[] = ['openai-codex-responses', 'pi-messages']

/**
 * Hosts of providers where a data row's URL does not say all of them: one `*` stands for a region, a resource or an account.
 * Every other provider has the host of its rows' URL.
 */
export const hostsOf: Readonly<Record<string, readonly string[]>> = {
  'amazon-bedrock': [
    'bedrock-mantle.*.api.aws',
    'bedrock-runtime-fips.*.amazonaws.com',
    'bedrock-runtime.*.amazonaws.com',
  ],
  azure: ['*.cognitiveservices.azure.com', '*.openai.azure.com', '*.services.ai.azure.com'],
  'github-copilot': ['*.githubcopilot.com'],
  'google-vertex': [
    '*-aiplatform.googleapis.com',
    'aiplatform.*.rep.googleapis.com',
    'aiplatform.googleapis.com',
  ],
  // The international and the mainland host of one service.
  minimax: ['api.minimax.io', 'api.minimaxi.com'],
  'minimax-cn': ['api.minimax.io', 'api.minimaxi.com'],
  moonshotai: ['api.moonshot.ai', 'api.moonshot.cn'],
  'moonshotai-cn': ['api.moonshot.ai', 'api.moonshot.cn'],
  // Regions with data kept inside them.
  openai: ['*.api.openai.com', 'api.openai.com'],
  xai: ['*.api.x.ai', 'api.x.ai'],
  // DashScope: its plans and its plain API serve the same models.
  ...Object.fromEntries(
    [
      'qwen-token-plan',
      'qwen-token-plan-cn',
      'qwen-token-plan-individual',
      'qwen-token-plan-individual-cn',
    ].map((provider) => [
      provider,
      [
        '*.dashscope.aliyuncs.com',
        '*.maas.aliyuncs.com',
        'dashscope-*.aliyuncs.com',
        'dashscope.aliyuncs.com',
      ],
    ]),
  ),
  together: ['api.together.ai', 'api.together.xyz'],
  ...Object.fromEntries(
    ['xiaomi', 'xiaomi-token-plan-ams', 'xiaomi-token-plan-cn', 'xiaomi-token-plan-sgp'].map((provider) => [
      provider,
      ['api.xiaomimimo.com', 'token-plan-*.xiaomimimo.com'],
    ]),
  ),
  zai: ['api.z.ai', 'open.bigmodel.cn'],
  'zai-coding-cn': ['api.z.ai', 'open.bigmodel.cn'],
}

/**
 * The models that a provider makes itself, by listed name: where hosts disagree on a window, the maker's own is believed.
 */
export const makers: Readonly<Record<string, RegExp>> = {
  'amazon-bedrock': /^nova-/,
  'ant-ling': /^(?:ling|ring)-/,
  anthropic: /^claude-/,
  deepseek: /^deepseek-/,
  // Gemma's weights are open: Google's limit on the prompt is not theirs elsewhere.
  google: /^(?:deep-research|gemini)-/,
  meta: /^muse-/,
  minimax: /^minimax-/,
  mistral: /^(?:codestral|devstral|labs|magistral|ministral|mistral|open-mistral|pixtral|voxtral)-/,
  moonshotai: /^kimi-/,
  nvidia: /^nemotron-/,
  openai: /^(?:chat-latest|gpt-(?!oss)|o\d)/,
  'qwen-token-plan': /^qwen/,
  xai: /^grok-/,
  xiaomi: /^mimo-/,
  zai: /^glm-/,
}
