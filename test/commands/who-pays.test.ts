import { describe, expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { whoPaysForSummaries } from '../../src/commands/who-pays.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'

/** What the line at the start says, with one profile for each of these. */
async function told(settings: string, ...profiles: readonly object[]): Promise<string> {
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  const loaded = await loadSettings({ flags: {}, env: { KEY: 'PLANTED' }, cwd })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const named = profiles.map((profile, index) => ({ ...profileSchema.parse(profile), name: `p${index}` }))
  return whoPaysForSummaries(loaded.settings, new Map(named.map((profile) => [profile.name, profile])))
}

const cheap = 'http://127.0.0.1:9/v1'

describe('the line at the start', () => {
  test('says that summaries are off where no profile has them, even if one could', async () => {
    expect(await told('', {}, { summary: { model: 'small', mode: 'off' } })).toMatch(/^summaries are off/)
  })

  test.each([
    ['the client’s', '', { model: 'small' }, "small, paid with the client's key"],
    [
      'its own',
      `upstreams: {cheap: {url: "${cheap}", api_key_env: KEY}}`,
      { upstream: 'cheap' },
      "the request's own model at cheap, paid with Foldgate's key for cheap",
    ],
    // It was said that nobody paid: the header was not looked at.
    [
      'its own, in a header',
      `upstreams: {cheap: {url: "${cheap}", headers: {Authorization: Bearer PLANTED}}}`,
      { upstream: 'cheap', model: 'small' },
      "small at cheap, paid with Foldgate's key for cheap",
    ],
    [
      'nobody’s',
      `upstreams: {cheap: {url: "${cheap}"}}`,
      { upstream: 'cheap', model: 'small' },
      'small at cheap, paid with no key',
    ],
    [
      'its own where the default upstream has one',
      'upstreams: {default: {api_key_env: KEY}}',
      { model: 'small' },
      "small, paid with Foldgate's key for default",
    ],
  ])('says who pays: %s', async (_whose, settings, summary, expected) => {
    const line = await told(settings, { summary })
    expect(line).toBe(`summaries are on (profile p0: ${expected})`)
    expect(line).not.toContain('PLANTED')
  })

  test('names three profiles, and how many more there are', async () => {
    const summary = { model: 'small' }
    const line = await told('', ...Array.from({ length: 5 }, () => ({ summary })))
    expect(line).toMatch(/^summaries are on \(profile p0: .*; profile p2: [^;]*; 2 more\)$/)
  })
})
