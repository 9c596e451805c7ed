import { expect, test } from 'vitest'
import { profileSchema } from '../../src/profiles/schema.ts'

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
