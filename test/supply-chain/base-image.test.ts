import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../docs/pages.ts'
import { readDockerfile } from '../runs/image/dockerfile.ts'

// A tag is moved by whoever may push to it. An image that was built by one would run what they put there, and no
// reader of the Dockerfile could tell.
test('every stage of the image begins with a base that is pinned by digest, or with an earlier stage', async () => {
  const text = await readFile(join(root, 'Dockerfile'), 'utf8')
  const stages = readDockerfile(text)
  const names = new Set(stages.map(({ name }) => name))
  const bases = stages.map(({ base }) => base).filter((base) => !names.has(base))
  expect(bases.length).toBeGreaterThan(0)
  for (const base of bases) expect(base).toMatch(/^[\w./-]+:\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/)
  // One base: what was tested in one stage is what runs in another.
  expect(new Set(bases).size).toBe(1)
  // A syntax line names a builder's image, which would be pulled by its tag.
  expect(text).not.toMatch(/^#\s*syntax\s*=/im)
})

test('and its Node is the one that the tests run on', async () => {
  const [stage] = readDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'))
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [, version] = /^node:([\d.]+)/.exec(stage?.base ?? '') ?? []
  expect(manifest).toHaveProperty('devDependencies.node', version)
})
