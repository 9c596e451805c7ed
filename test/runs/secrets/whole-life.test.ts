import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { redisProgram, withoutRedis } from '../../support/redis-server.ts'
import { findSecrets } from './needles.ts'
import type { AllSecrets, LifeOptions } from './stage.ts'
import { CONTENT, wholeLife } from './whole-life.ts'

/** What the upstreams have to have been sent, or the run was none. */
const inPlay = {
  'passed on': [
    'bearer',
    'basic',
    'azure',
    'xApiKey',
    'google',
    'query',
    'cookie',
    'heldByVariable',
    'heldByFile',
    'heldAsHeader',
    'rotatedHeld',
  ],
  held: ['heldByVariable', 'heldByFile', 'heldAsHeader', 'rotatedHeld'],
} as const satisfies Record<LifeOptions['keys'], readonly (keyof AllSecrets)[]>

const lives: readonly (LifeOptions & { readonly isThere: boolean })[] = [
  { store: 'sqlite', keys: 'passed on', isThere: true },
  { store: 'encrypted sqlite', keys: 'held', isThere: true },
  { store: 'redis', keys: 'held', isThere: redisProgram !== undefined },
]

describe(`after a whole life of the program${withoutRedis}`, () => {
  for (const { isThere, ...options } of lives) {
    test.runIf(isThere)(
      `no key is found anywhere: keys are ${options.keys}, records are in ${options.store}`,
      async () => {
        const life = await wholeLife(options)
        expect(life.haystacks.length).toBeGreaterThan(100)
        expect(findSecrets(life.secrets, life.haystacks)).toEqual([])
        expect(life.told.filter(({ bytes }) => bytes.includes(CONTENT)).map(({ name }) => name)).toEqual([])

        // The same search finds what was sent to upstreams, and one key that is planted.
        const found = findSecrets(life.secrets, [life.sent]).join('\n')
        for (const what of inPlay[options.keys]) expect(found).toContain(`${what} (`)
        const planted = join(life.cwd, 'planted')
        await writeFile(planted, `\u0000${life.secrets.adminToken.slice(5, 17)}\u0001`)
        expect(findSecrets(life.secrets, [{ name: 'a file', bytes: await readFile(planted) }])).toEqual([
          'adminToken (as it is) in a file',
        ])
      },
      120_000,
    )
  }
})
