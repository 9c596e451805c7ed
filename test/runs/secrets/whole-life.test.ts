import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, describe } from 'vitest'
import { findSecrets, madeSecret } from './needles.ts'
import { redisProgram, withoutRedis } from '../../support/redis-server.ts'
import type { AllSecrets, LifeOptions } from './stage.ts'
import { CONTENT, wholeLife } from './whole-life.ts'

const secret = madeSecret('sk')
const noise = Buffer.from('{"level":"info","message":"Foldgate listens"}\n'.repeat(50))

/** What is found of the secret where this was planted in the middle of something else. */
function found(planted: string | Buffer): readonly string[] {
  const bytes = Buffer.concat([noise, Buffer.from(planted), noise])
  return findSecrets({ key: secret }, [{ name: 'log', bytes }])
}

// A search that finds nothing says nothing, unless it finds what is there.
test.each<[string, string | Buffer]>([
  ['as it is', secret],
  ['as it is', secret.slice(0, 12)],
  ['as it is', secret.slice(17, 29)],
  ['as it is', secret.slice(-12)],
  ['URL-encoded', encodeURIComponent(secret)],
  ['percent-encoded', Array.from(Buffer.from(secret), (byte) => `%${byte.toString(16)}`).join('')],
  ['in hexadecimal', Buffer.from(secret).toString('hex')],
  ['in hexadecimal', Buffer.from(secret).toString('hex').toUpperCase()],
  ['in UTF-16', Buffer.from(secret, 'utf16le')],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in base64', Buffer.from(`user:${secret}`).toString('base64')],
  ['in base64', Buffer.from(`Bearer ${secret} and more`).toString('base64')],
  ['in base64', Buffer.from(`x${secret}`).toString('base64url')],
  ['as its sha256', hash('sha256', secret, 'hex')],
  ['as its sha256', hash('sha256', secret, 'base64url').slice(0, 22)],
  ['as its sha256', hash('sha256', `Bearer ${secret}`, 'base64')],
  ['as its sha256', hash('sha256', secret, 'buffer')],
  ['as its sha1', hash('sha1', secret, 'hex').slice(0, 16)],
  ['as its md5', hash('md5', secret, 'hex')],
])('a secret is found %s', (form, planted) => {
  expect(found(planted)).toContain(`key (${form}) in log`)
})

test('nothing is found where nothing is, in eleven characters, or where it is hidden from everybody', () => {
  expect(found('')).toEqual([])
  expect(found(secret.slice(3, 14))).toEqual([])
  expect(found(madeSecret('sk'))).toEqual([])
  // What is compressed has to be searched as it is read.
  expect(found(gzipSync(secret))).toEqual([])
})

/** What the upstreams have to have been sent, or the run was none. */
const held: readonly (keyof AllSecrets)[] = ['heldByVariable', 'heldByFile', 'heldAsHeader', 'rotatedHeld']
const own: readonly (keyof AllSecrets)[] = [
  'bearer',
  'basic',
  'azure',
  'xApiKey',
  'google',
  'query',
  'cookie',
]
const inPlay = { 'passed on': [...own, ...held], held }

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
        const sent = findSecrets(life.secrets, [life.sent]).join('\n')
        for (const what of inPlay[options.keys]) expect(sent).toContain(`${what} (`)
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
