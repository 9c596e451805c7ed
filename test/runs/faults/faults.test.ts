import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { root } from '../../docs/pages.ts'
import type { Row } from './fault.ts'
import { faultPage, keyOf, saysSo, standingPage } from './page.ts'
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

describe('what was observed', () => {
  test('threw nothing that nobody heard', () => {
    expect(unheard).toEqual([])
  })

  test('is what docs/faults.md says', { timeout: 300_000 }, async ({ onTestFinished }) => {
    const standing = await standingPage(page)
    // On a busy machine a deadline of another part ends first now and then: what differs is looked at again, by itself.
    for (const { section, fault } of sections.flatMap((each) =>
      each.faults.map((one) => ({ section: each, fault: one })),
    )) {
      const key = keyOf(section, fault.name)
      for (let again = 0; again < 2 && observed.has(key); again += 1) {
        if (saysSo(standing, section, fault.name, observed.get(key) ?? [])) break
        observed.set(key, await fault.observe(onTestFinished))
      }
    }
    const missing = sections.flatMap((section) =>
      section.faults
        .filter(
          ({ name, impossible }) => typeof impossible !== 'string' && !observed.has(keyOf(section, name)),
        )
        .map(({ name }) => keyOf(section, name)),
    )
    expect(missing, 'faults that failed, or were left out').toEqual([])
    await expect(faultPage(sections, observed, standing)).toMatchFileSnapshot(page)
  })
})
