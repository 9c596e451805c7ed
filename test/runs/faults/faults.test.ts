import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { root } from '../../docs/pages.ts'
import type { Row } from './fault.ts'
import { faultPage, keyOf, saysSo } from './page.ts'
import { sections } from './sections.ts'

const page = join(root, 'docs/faults.md')
const observed = new Map<string, readonly Row[]>()
const unheard: unknown[] = []
const hear = (error: unknown) => void unheard.push(error)

beforeAll(() => void process.on('unhandledRejection', hear))
afterAll(() => void process.off('unhandledRejection', hear))

// They mostly wait, but deadlines are among what is tested.
vi.setConfig({ maxConcurrency: 6 })

describe.concurrent('with a Foldgate each', () => {
  describe.for(sections)('$title', (section) => {
    test.for(section.faults)('$name', async (fault, { skip, onTestFinished }) => {
      if (typeof fault.impossible === 'string') skip(fault.impossible)
      const rows = await fault.observe(onTestFinished)
      expect(rows.length).toBeGreaterThan(0)
      observed.set(keyOf(section, fault.name), rows)
    })
  })
})

test('nothing was thrown that nobody heard', () => {
  expect(unheard).toEqual([])
})

test('what was observed is what docs/faults.md says', { timeout: 300_000 }, async ({ onTestFinished }) => {
  const standing = await readFile(page, 'utf8').catch(() => '')
  const missing: string[] = []
  // On a busy machine a deadline of another part ends first now and then: what differs is looked at again, by itself.
  for (const section of sections)
    for (const { name, impossible, observe } of section.faults) {
      const key = keyOf(section, name)
      for (let again = 0; again < 2 && observed.has(key); again += 1) {
        if (saysSo(standing, section, name, observed.get(key) ?? [])) break
        observed.set(key, await observe(onTestFinished))
      }
      if (typeof impossible !== 'string' && !observed.has(key)) missing.push(key)
    }
  expect(missing, 'faults that failed, or were left out').toEqual([])
  await expect(faultPage(sections, observed, standing)).toMatchFileSnapshot(page)
})
