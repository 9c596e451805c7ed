import * as fc from 'fast-check'

/** What values of settings are made of: as they are meant, or as anybody may write them. */
export type Values = {
  /** A whole number of a few. */
  readonly few: fc.Arbitrary<unknown>
  readonly tokens: fc.Arbitrary<unknown>
  /** A ratio or tokens. */
  readonly share: fc.Arbitrary<unknown>
  readonly flag: fc.Arbitrary<unknown>
  readonly name: fc.Arbitrary<unknown>
  /** The name of an environment variable; there is one, `A_KEY`. */
  readonly variable: fc.Arbitrary<unknown>
  readonly origin: fc.Arbitrary<unknown>
  readonly address: fc.Arbitrary<unknown>
  /** Something that a key whose values are free may have. */
  readonly free: fc.Arbitrary<unknown>
  readonly word: (...words: readonly string[]) => fc.Arbitrary<unknown>
  /** A group with any of these keys. */
  readonly group: (keys: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.Arbitrary<unknown>
}

export const meant: Values = {
  few: fc.integer({ min: 1, max: 10 }),
  tokens: fc.constantFrom(1, 100, 1_500, 2_000, 5_000, 100_000),
  share: fc.constantFrom(0.05, 0.25, 0.5, 0.75, 0.9, 1, 800, 1_500),
  flag: fc.boolean(),
  name: fc.constantFrom('a', 'm*', 'test-model'),
  variable: fc.constant('A_KEY'),
  origin: fc.constantFrom('https://h', 'http://localhost:3000', '*'),
  address: fc.constantFrom('http://h/v1', 'https://h:1/v1', 'http://[::1]:80/'),
  free: fc.constant({}),
  word: (...words) => fc.constantFrom(...words),
  group: (keys) => fc.record(keys, { requiredKeys: [] }),
}

const anything = fc.jsonValue({ maxDepth: 3 })

const wrong = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    -1,
    0.5,
    1e308,
    2 ** 53,
    2 ** 31,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '5',
    '10k',
    'off',
    'auto',
  ),
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    [],
    {},
    '\u0000',
    '../x',
    '__proto__',
    'constructor',
    'x'.repeat(600),
    '\u009b2J',
    'http://h:99999',
    'file:///etc',
  ),
  anything,
)

export const odd: Values = {
  few: orWrong(meant.few),
  tokens: orWrong(meant.tokens),
  share: orWrong(meant.share),
  flag: orWrong(meant.flag),
  name: orWrong(meant.name),
  variable: orWrong(meant.variable),
  origin: orWrong(meant.origin),
  address: orWrong(meant.address),
  free: anything,
  word: (...words) => orWrong(meant.word(...words)),
  group: (keys) => {
    const stray = fc.constantFrom(...Object.keys(keys), 'sumary', '__proto__', 'constructor', '')
    return fc.oneof(
      { weight: 8, arbitrary: meant.group(keys) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(meant.group(keys), stray, anything)
          .map(([known, key, value]) => Object.assign({}, known, { [key]: value })),
      },
      { weight: 1, arbitrary: anything },
    )
  },
}

/** What a profile's file may say. */
export function profileOf({
  few,
  tokens,
  share,
  flag,
  name,
  free,
  word,
  group,
}: Values): fc.Arbitrary<unknown> {
  const pass = group({ enabled: flag, at: share })
  return group({
    models: fc.array(name, { maxLength: 3 }),
    headers: fc.dictionary(fc.constantFrom('x-agent', 'x-other'), name, { maxKeys: 2 }),
    extends: word('default', 'small-local'),
    upstream: fc.constant(null),
    window: group({
      tokens: tokens,
      max: tokens,
      output_reserve: tokens,
      encoding: word('auto', 'o200k_base', 'cl100k_base'),
      ratio: word('0.5', '1', '2').map(asNumber),
    }),
    trigger: fc.oneof(word('off'), word('0.75', '0.9', '1').map(asNumber)),
    target: word('0.25', '0.5').map(asNumber),
    every: group({ turns: few, tool_calls: few }),
    limit: group({ turns: few, messages: few }),
    min_growth_tokens: tokens,
    keep: group({ recent_messages: few, task: flag }),
    strategy: word('auto', 'summarize', 'truncate'),
    template: word('auto', 'lenient', 'strict'),
    repair: flag,
    render: pass,
    preview: group({ threshold_tokens: tokens, max_chars: tokens, max_lines: few, at: share }),
    clear: group({
      enabled: flag,
      keep_results: few,
      except_tools: fc.array(name, { maxLength: 2 }),
      at: share,
    }),
    fold: group({ at: share }),
    recap: group({ max_tokens: tokens, beside_summaries: flag }),
    summary: group({
      model: name,
      mode: word('background', 'blocking', 'off'),
      at: share,
      max_tokens: tokens,
      reasoning_tokens: tokens,
      parameters: free,
      min_savings_ratio: word('0', '0.3').map(asNumber),
      wait_ms: few,
      concurrent: few,
      system_prompt: word('{previous_summary}', 'Be brief.'),
      user_prompt: word('{messages}', '$& $1 {messages} {previous_summary}'),
    }),
    overflow: group({
      attempts: few,
      min_recent: few,
      hold_ms: few,
      clamp_output: word('when_impossible', 'never'),
    }),
    recall: group({ enabled: flag, rounds: few }),
    continuation: group({ max: few }),
    observe: flag,
  })
}

/** What foldgate.yaml may say. */
export function settingsOf(values: Values): fc.Arbitrary<unknown> {
  const { few, flag, name, variable, origin, address, free, word, group } = values
  const upstream = group({
    url: address,
    api_key_env: variable,
    headers: fc.dictionary(fc.constantFrom('x-a', 'x-b'), word('1', 'b')),
    concurrency: few,
  })
  const clientKey = fc.record({
    name: word('one'),
    key_env: variable,
    profiles: fc.array(name, { maxLength: 2 }),
    overrides: flag,
  })
  return group({
    host: word('127.0.0.1', '::1'),
    port: few,
    profiles: word('profiles', '.'),
    log_level: word('debug', 'info', 'silent'),
    upstreams: fc.dictionary(fc.constant('default'), upstream, { maxKeys: 1 }),
    client_keys: fc.array(clientKey, { maxLength: 1 }),
    scope: group({ header: word('x-tenant') }),
    cors: group({ origins: fc.array(origin, { maxLength: 2 }) }),
    hosts: fc.array(word('h', 'h.lan'), { maxLength: 2 }),
    limits: group({
      body_mb: few,
      bytes_in_flight_mb: word('100').map(asNumber),
      concurrent: few,
      headers_s: few,
      connect_s: few,
      idle_s: few,
    }),
    drain: group({ delay_s: few, timeout_s: few }),
    store: group({
      url: word('memory:', 'sqlite:', 'sqlite:x', 'redis://h'),
      ttl_days: few,
      max_mb: few,
      required: flag,
      encrypt_key_env: variable,
    }),
    admin: group({
      host: word('127.0.0.1'),
      port: word('3654').map(asNumber),
      token_env: variable,
      show_content: flag,
      metrics: word('protected', 'open'),
    }),
    archive: group({ dir: name, mention: flag }),
    usage: group({ in_streams: word('rewritten', 'never', 'always') }),
    prices: free,
  })
}

// --- internal ---

function orWrong(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: wrong })
}

/** What else it is stays. */
function asNumber(value: unknown): unknown {
  return typeof value === 'string' && /^[\d.]+$/.test(value) ? Number(value) : value
}
