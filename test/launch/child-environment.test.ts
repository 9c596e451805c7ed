import { expect, test } from 'vitest'
import { childEnvironment } from '../../src/launch/child-environment.ts'

const additions = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:7/v1' }, args: [], shown: {}, reasons: {} }

test('a program has the environment that it would have had, and what points it here', () => {
  expect(childEnvironment({ LANG: 'C', OPENAI_BASE_URL: 'http://h/v1' }, additions)).toEqual({
    LANG: 'C',
    OPENAI_BASE_URL: 'http://127.0.0.1:7/v1',
  })
})

// A proxy on another machine would look for 127.0.0.1 there.
test('behind a proxy it reaches this machine without it; what else is excepted stays so', () => {
  const proxied = { https_proxy: '', HTTP_PROXY: 'http://proxy:3128', no_proxy: 'intern, 127.0.0.1' }
  const hosts = 'intern,127.0.0.1,localhost'
  expect(childEnvironment(proxied, additions)).toMatchObject({ NO_PROXY: hosts, no_proxy: hosts })
  const all = { ...proxied, no_proxy: '*' }
  expect(childEnvironment(all, additions)).toEqual({ ...all, ...additions.env })
})
