import { expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { withoutEffect } from '../../src/config/without-effect.ts'
import { profileSchema } from '../../src/profiles/schema.ts'

async function idleKeys(flags: Record<string, string>, profile: object): Promise<readonly string[]> {
  const loaded = await loadSettings({ flags, env: {}, cwd: import.meta.dirname })
  if (!loaded.ok) throw new Error('the settings are sound')
  const named = { ...profileSchema.parse(profile), name: 'mine' }
  return withoutEffect(loaded.settings, new Map([['mine', named]]))
}

test('defaults rely on nothing that is not there', async () => {
  expect(await idleKeys({}, {})).toEqual([])
})

test('what is set and not acted on is named', async () => {
  const keys = await idleKeys(
    { store: 'redis://127.0.0.1' },
    { recall: { enabled: true }, strategy: 'summarize' },
  )
  expect(keys).toEqual(['store.url', 'mine: strategy', 'mine: recall.enabled'])
})
