import { describe, expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { serve } from '../process/program.ts'
import { startWarnings, type Memory } from '../../src/commands/start-warnings.ts'

const MEGABYTE = 1024 * 1024
const ample: Memory = { heapBytes: 4096 * MEGABYTE, allBytes: 16_384 * MEGABYTE }

async function warningsWith(
  flags: Record<string, string>,
  memory: Memory = ample,
): Promise<readonly string[]> {
  const loaded = await loadSettings({ flags, env: {}, cwd: '/' })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { host } = loaded.settings
  return startWarnings(loaded.settings, { host, port: 3653 }, memory)
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
    ['a heap', { heapBytes: 256 * MEGABYTE, allBytes: 16_384 * MEGABYTE }, 'heap', 'to 160 and 40'],
    [
      'a container of next to nothing',
      { heapBytes: 64 * MEGABYTE, allBytes: 128 * MEGABYTE },
      'memory',
      'give it more',
    ],
  ])('says in one line which limits are beyond %s, and what to set', async (_, memory, short, advice) => {
    const [line = '', ...others] = await warningsWith({}, memory)
    expect(others).toEqual([])
    expect(line).not.toContain('\n')
    for (const part of ['limits.bytes_in_flight_mb (512)', 'limits.body_mb (64)', short, advice])
      expect(line).toContain(part)
  })
})

test('a program with a small heap says so as it starts, and serves', async () => {
  const env = { NODE_OPTIONS: '--max-old-space-size=256' }
  const foldgate = await serve(['--store', 'memory:'], { cwd: await temporaryFolder({}), env })
  await foldgate.said(/limits\.bytes_in_flight_mb \(512\).*give it more heap/)
  expect((await fetch(`${foldgate.origin}/healthz`)).status).toBe(200)
})
