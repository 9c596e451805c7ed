import { describe, expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { namedProfile } from '../support/profiles.ts'
import { startWarnings, type Memory, whoPaysForSummaries } from '../../src/commands/start-lines.ts'

const MEGABYTE = 1024 * 1024
const ample: Memory = { heapBytes: 4096 * MEGABYTE, allBytes: 16_384 * MEGABYTE }

async function settingsOf(cwd: string, flags: Record<string, string> = {}) {
  const loaded = await loadSettings({ flags, env: { KEY: 'PLANTED' }, cwd })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.settings
}

async function warningsWith(flags: Record<string, string>, memory = ample): Promise<readonly string[]> {
  const settings = await settingsOf('/', flags)
  return startWarnings(settings, { host: settings.host, port: 3653 }, memory)
}

describe('a start', () => {
  test('warns of nothing where there is nothing to warn of', async () => {
    expect(await warningsWith({})).toEqual([])
  })

  test('says who may use a listener off loopback that has no client keys, and at whose upstream', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      const [line, ...others] = await warningsWith({ host, upstream: 'http://ollama.example/v1' })
      expect(others).toEqual([])
      expect(line).toContain('client_keys')
      expect(line).toContain('http://ollama.example/v1')
    }
  })

  test.each([
    ['a container', { heapBytes: 4096 * MEGABYTE, allBytes: 512 * MEGABYTE }, 'memory', 'to 224 and 56'],
    ['a heap', { heapBytes: 256 * MEGABYTE, allBytes: 16_384 * MEGABYTE }, 'heap', 'to 128 and 32'],
    ['next to nothing', { heapBytes: 64 * MEGABYTE, allBytes: 128 * MEGABYTE }, 'memory', 'give it more'],
  ])('says in one line which limits are beyond %s, and what to set', async (_, memory, short, advice) => {
    const [line = '', ...others] = await warningsWith({}, memory)
    expect(others).toEqual([])
    expect(line).not.toContain('\n')
    for (const part of ['limits.bytes_in_flight_mb (512)', 'limits.body_mb (64)', short, advice])
      expect(line).toContain(part)
  })
})

/** What the line at the start says, with one profile for each of these. */
async function told(settings: string, ...profiles: readonly object[]): Promise<string> {
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  const named = profiles.map((profile, index) => [`p${index}`, namedProfile(`p${index}`, profile)] as const)
  return whoPaysForSummaries(await settingsOf(cwd), new Map(named))
}

/** An upstream beside the default one. */
const cheap = (more = '') => `upstreams: {cheap: {url: "http://127.0.0.1:9/v1"${more}}}`
const small = { upstream: 'cheap', model: 'small' }

describe('the line at the start', () => {
  test('says that summaries are off where no profile has them, even if one could', async () => {
    expect(await told('', {}, { summary: { model: 'small', mode: 'off' } })).toMatch(/^off/)
  })

  test.each([
    ['the client’s', '', { model: 'small' }, "small, paid with the client's key"],
    [
      'its own',
      cheap(', api_key_env: KEY'),
      { upstream: 'cheap' },
      "the request's own model at cheap, paid with Foldgate's key for cheap",
    ],
    // It was said that nobody paid: the header was not looked at.
    [
      'its own, in a header',
      cheap(', headers: {Authorization: Bearer PLANTED}'),
      small,
      "small at cheap, paid with Foldgate's key for cheap",
    ],
    ['nobody’s', cheap(), small, 'small at cheap, paid with no key'],
    [
      'its own where the default upstream has one',
      'upstreams: {default: {api_key_env: KEY}}',
      { model: 'small' },
      "small, paid with Foldgate's key for default",
    ],
  ])('says who pays: %s', async (_whose, settings, summary, expected) => {
    const line = await told(settings, { summary })
    expect(line).toBe(`on (profile p0: ${expected})`)
    expect(line).not.toContain('PLANTED')
  })

  test('names three profiles, and how many more there are', async () => {
    const summary = { model: 'small' }
    const line = await told('', ...Array.from({ length: 5 }, () => ({ summary })))
    expect(line).toMatch(/^on \(profile p0: .*; profile p2: [^;]*; 2 more\)$/)
  })
})
