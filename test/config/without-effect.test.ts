import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readProfileFiles } from '../../src/config/profile-files.ts'
import { loadSettings } from '../../src/config/settings.ts'
import { withoutEffect } from '../../src/config/without-effect.ts'
import { notYet } from '../../src/profiles/not-yet.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { configurationPage } from '../support/document.ts'
import { temporaryFolder } from './temporary-folder.ts'

async function idleKeys(settings: string, profile: object): Promise<readonly string[]> {
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  const loaded = await loadSettings({ flags: {}, env: {}, cwd })
  if (!loaded.ok) throw new Error('the settings are sound')
  const named = { ...profileSchema.parse(profile), name: 'mine' }
  return withoutEffect(loaded.settings, new Map([['mine', named]]))
}

test('defaults rely on nothing that is not there', async () => {
  expect(await idleKeys('', {})).toEqual([])
})

test('what is set and not acted on is named', async () => {
  const keys = await idleKeys('{admin: {port: 4000}, archive: {mention: true}}', {
    continuation: { max: 9 },
    recall: { enabled: true },
  })
  expect(keys).toEqual(['mine: recall.enabled', 'mine: continuation.max'])
})

// Every start warned of `small-local: summary.…`, which nobody had set: it stood in a built-in profile.
test('no built-in profile sets what has no effect', async () => {
  const loaded = await loadSettings({ flags: {}, env: {}, cwd: import.meta.dirname })
  if (!loaded.ok) throw new Error('the settings are sound')
  const { profiles } = await readProfileFiles({
    builtInDirectory: join(import.meta.dirname, '../../profiles'),
    directory: join(import.meta.dirname, 'no-such-folder'),
    upstreams: null,
  })
  expect(profiles.size).toBeGreaterThan(1)
  expect(withoutEffect(loaded.settings, profiles)).toEqual([])
})

// docs/configuration.md described summaries, recall, the store and the admin page as if they worked. The warning
// at the start and the page now have one source, the descriptions; this sees to it that it holds these keys.
test('what is not in effect yet is said where the key is described', async () => {
  const rows = new Map(
    [...configurationPage().matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)].map(
      ([, key = '', meaning = '']) => [key, meaning],
    ),
  )
  const waiting = ['recall', 'continuation']
  expect(waiting.filter((key) => rows.get(key)?.startsWith(notYet) !== true)).toEqual([])
  const changelog = await readFile(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8')
  expect(waiting.filter((key) => !changelog.includes(`\`${key}\``))).toEqual([])
})
