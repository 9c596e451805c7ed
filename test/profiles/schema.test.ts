import { expect, test } from 'vitest'
import { profileSchema } from '../../src/profiles/schema.ts'

test('an empty profile has every default', () => {
  expect(profileSchema.parse({})).toEqual({
    models: [],
    headers: {},
    extends: 'default',
    upstream: null,
    window: { tokens: 'auto', max: null, output_reserve: 4096, encoding: 'auto', ratio: null },
    trigger: 1,
    target: null,
    every: { turns: 0, tool_calls: 0 },
    limit: { turns: 0, messages: 0 },
    min_growth_tokens: 0,
    keep: { recent_messages: 4, task: true },
    strategy: 'auto',
    template: 'auto',
    repair: false,
    render: { enabled: true, at: null },
    preview: { threshold_tokens: 2048, max_chars: 1600, max_lines: 24, at: null },
    clear: { enabled: true, keep_results: 3, except_tools: [], at: null },
    fold: { at: null },
    clip: { newest_user: false },
    recap: { max_tokens: 8192, beside_summaries: true, tell: ['said', 'work', 'files', 'diary', 'names'] },
    summary: {
      upstream: null,
      model: null,
      mode: 'background',
      at: 0.6,
      max_tokens: 1024,
      reasoning_tokens: 8192,
      parameters: {},
      min_savings_ratio: 0.3,
      wait_ms: 30_000,
      concurrent: 2,
      system_prompt: null,
      user_prompt: null,
    },
    overflow: {
      attempts: 3,
      min_recent: 4,
      hold_ms: 10_000,
      clamp_output: 'when_impossible',
      fallback: null,
    },
    recall: { enabled: false, rounds: 3 },
    continuation: { max: 0 },
    messages: { blank_billing: 'auto', subscriptions: 'observe' },
    observe: false,
  })
})

test.each([
  [{ trigger: 'off' }],
  [{ trigger: 1, target: 0.99 }],
  [{ trigger: 100_000, target: 60_000 }],
  [{ trigger: 100_000, target: 0.5 }],
  [{ trigger: 0.9, target: 20_000 }],
  [{ trigger: 'off', target: 0.9 }],
  [{ window: { tokens: 8192, encoding: 'cl100k_base', ratio: 1.2 } }],
  [{ preview: { at: 0 }, clear: { at: 0.6 }, fold: { at: 20_000 } }],
  [{ headers: { 'X-Agent': 'explorer*' } }],
  [{ summary: { parameters: { temperature: 0, stop: ['a'], nested: { deep: null } } } }],
])('accepts %j', (profile) => {
  expect(profileSchema.safeParse(profile).success).toBe(true)
})

test.each([
  [{ trigger: 0 }],
  [{ trigger: 1.5 }],
  [{ trigger: -1 }],
  [{ trigger: '0.5' }],
  [{ trigger: 0.5, target: 0.5 }],
  [{ trigger: 50_000, target: 60_000 }],
  [{ trigger: null }],
  [{ target: 'off' }],
  [{ models: [''] }],
  [{ models: 'qwen*' }],
  [{ headers: { 'x agent': 'a' } }],
  [{ window: { tokens: 0 } }],
  [{ window: { tokens: 8192.5 } }],
  [{ window: { tokens: 8192, size: 1 } }],
  [{ overflow: { clamp_output: true } }],
  [{ render: null }],
  [{ summary: { parameters: { stream: true } } }],
  [{ summary: { parameters: { messages: [] } } }],
  [{ name: 'x' }],
])('refuses %j', (profile) => {
  expect(profileSchema.safeParse(profile).success).toBe(false)
})
