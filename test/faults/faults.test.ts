import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { root } from '../docs/pages.ts'
import type { Row } from './fault.ts'
import { faultPage, keyOf, standingPage } from './page.ts'
import { sections } from './sections.ts'

const page = join(root, 'docs/faults.md')
const observed = new Map<string, readonly Row[]>()
const unheard: unknown[] = []
const hear = (error: unknown) => void unheard.push(error)

beforeAll(() => void process.on('unhandledRejection', hear))
afterAll(() => void process.off('unhandledRejection', hear))

// They mostly wait, but deadlines are among what is tested.
vi.setConfig({ maxConcurrency: 6, testTimeout: 60_000 })

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

describe('what was observed', () => {
  test('threw nothing that nobody heard', () => {
    expect(unheard).toEqual([])
  })

  test('is what docs/faults.md says', async () => {
    const missing = sections.flatMap((section) =>
      section.faults
        .filter(
          ({ name, impossible }) => typeof impossible !== 'string' && !observed.has(keyOf(section, name)),
        )
        .map(({ name }) => keyOf(section, name)),
    )
    expect(missing, 'faults that failed, or were left out').toEqual([])
    await expect(faultPage(sections, observed, await standingPage(page))).toMatchFileSnapshot(page)
  })
})
