import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { root } from '../docs/pages.ts'
import { manifestIn } from './lock-files.ts'

const folder = join(root, '.github/workflows')

const permissions = z.record(z.string(), z.enum(['read', 'write']))

const workflow = z.object({
  permissions,
  jobs: z.record(
    z.string(),
    z.object({
      permissions: permissions.optional(),
      uses: z.string().optional(),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })).default([]),
    }),
  ),
})

const names = (await readdir(folder)).toSorted()

test('there is a workflow that tests, and one that releases', () => {
  expect(names).toEqual(['release.yml', 'test.yml'])
})

test.each(names)(
  '%s runs actions by their commit, scripts that there are, and may write only where a job does',
  async (name) => {
    const { jobs, permissions: all } = workflow.parse(parse(await readFile(join(folder, name), 'utf8')))
    expect(all).toEqual({ contents: 'read' })
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    const actions = steps.flatMap(({ uses }) => uses ?? [])
    expect(actions.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([])
    const others = Object.values(jobs).flatMap(({ uses }) => uses ?? [])
    expect(others.filter((path) => !names.some((each) => path === `./.github/workflows/${each}`))).toEqual([])

    const commands = steps.flatMap(({ run }) => run ?? []).join('\n')
    const { scripts } = await manifestIn('')
    const asked = [...commands.matchAll(/\bnpm (?:run )?(?:-s )?([\w:]+)/g)].map(([, script = '']) => script)
    expect(asked.length).toBeGreaterThan(0)
    const ofNpm = new Set(['ci', 'uninstall', 'pkg', 'publish'])
    expect(asked.filter((script) => scripts[script] === undefined && !ofNpm.has(script))).toEqual([])
  },
)

// The checkout's own Node stands before the machine's in npm's scripts: every line of the matrix would have been the same.
test('what is tried on several Nodes runs on these', async () => {
  const { jobs } = workflow.parse(parse(await readFile(join(folder, 'test.yml'), 'utf8')))
  const commands = jobs['test']?.steps.flatMap(({ run }) => run ?? []) ?? []
  expect(commands).toEqual([
    'npm ci',
    'npm uninstall --no-save --ignore-scripts node',
    'npm run check',
    'npm test',
  ])
})
