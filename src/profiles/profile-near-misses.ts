import type { NearMiss } from './near-miss.ts'

/** What people write in profiles in place of a key. Of several that fit the first holds. */
export const profileNearMisses: readonly NearMiss[] = [
  ...windowMisses(''),
  ...windowMisses('window'),
  short('window', 'number', 'window: {tokens: VALUE}'),
  short('window', 'text', 'window: {tokens: auto}, or a number in the place of auto'),
  ...reserveMisses(''),
  ...reserveMisses('window'),
  short('models', 'text', 'models: ["VALUE"]'),
  { group: '', keys: ['model', 'match', 'match_models'], value: 'text', advice: 'write models: ["VALUE"]' },
  {
    group: '',
    keys: ['threshold', 'compact_at', 'trigger_tokens', 'trigger_ratio'],
    value: 'number',
    advice: 'write trigger: VALUE',
  },
  short('summary', 'off', 'summary: {mode: off}'),
  short('summary', 'on', 'strategy: summarize'),
  short('summary', 'text', 'summary: {model: VALUE}'),
  {
    group: '',
    keys: ['summary_model', 'summarizer'],
    value: 'text',
    advice: 'write summary: {model: VALUE}',
  },
  short('overflow', 'off', 'overflow: {attempts: 0}'),
  short('recall', 'on', 'recall: {enabled: true}'),
  short('recall', 'off', 'recall: {enabled: false}'),
  short('render', 'off', 'render: {enabled: false}'),
  short('clear', 'off', 'clear: {enabled: false}'),
  short('clear', 'number', 'clear: {keep_results: VALUE}'),
  short('preview', 'number', 'preview: {threshold_tokens: VALUE}'),
  short('keep', 'number', 'keep: {recent_messages: VALUE}'),
  short('recap', 'number', 'recap: {max_tokens: VALUE}'),
  short('continuation', 'number', 'continuation: {max: VALUE}'),
  short('limit', 'number', 'limit: {messages: VALUE}'),
  short('every', 'number', 'every: {turns: VALUE}'),
  {
    group: '',
    keys: ['upstreams', 'url', 'base_url', 'api_base', 'api_key', 'api_key_env', 'api_key_file'],
    advice:
      'upstreams belong in foldgate.yaml; write upstream: NAME here, the name that foldgate.yaml gives one',
  },
  {
    group: '',
    keys: [
      'host',
      'port',
      'profiles',
      'log_level',
      'client_keys',
      'scope',
      'cors',
      'hosts',
      'limits',
      'drain',
      'store',
      'admin',
      'archive',
      'usage',
      'prices',
    ],
    advice: 'it belongs in foldgate.yaml, not in a profile',
  },
]

// --- internal ---

/** A group's name with the value of its main key. */
function short(key: string, value: NearMiss['value'], line: string): NearMiss {
  return { group: '', keys: [key], ...(value !== undefined && { value }), advice: `write ${line}` }
}

/** The window, as servers and other proxies call it. */
function windowMisses(group: string): readonly NearMiss[] {
  const keys = [
    'context',
    'context_window',
    'context_length',
    'context_size',
    'context_tokens',
    'max_context_tokens',
    'max_context',
    'max_model_len',
    'max_input_tokens',
    'num_ctx',
    'n_ctx',
    'ctx_size',
    'window_tokens',
    'window_size',
    'size',
    'length',
  ]
  const all = group === 'window' ? [...keys, 'max_tokens'] : keys
  return [{ group, keys: all, value: 'number', advice: 'write window: {tokens: VALUE}' }]
}

function reserveMisses(group: string): readonly NearMiss[] {
  const keys = ['reserve', 'output_reserve', 'reserve_tokens', 'max-output-tokens']
  // In its own group it is right.
  const wrong = group === 'window' ? keys.filter((key) => key !== 'output_reserve') : keys
  return [{ group, keys: wrong, value: 'number', advice: 'write window: {output_reserve: VALUE}' }]
}
