import { expect, test } from 'vitest'
import { loadSettings } from '../../../src/config/settings.ts'
import { destinationsOf } from '../../../src/commands/run/destinations.ts'

/** Where requests go, by upstream; and what is behind. */
async function destinations(
  flags: { readonly upstream?: string },
  env: Readonly<Record<string, string>> = {},
) {
  const loaded = await loadSettings({ flags, env, cwd: import.meta.dirname })
  if (!loaded.ok) throw new Error('the settings are wrong')
  const found = destinationsOf(loaded.settings, env)
  if ('message' in found) return found
  const urls = Array.from(found.upstreams.values(), (each) => [each.name, each.url, each.forward_client_key])
  return { urls, behind: found.behind }
}

test('nothing is set: each API goes to its vendor, with the key that the program has', async () => {
  expect(await destinations({})).toEqual({
    urls: [
      ['default', 'https://api.openai.com/v1', true],
      // The version stands for the path of an upstream: `/v1/messages` of the program is `/v1/messages` there.
      ['anthropic', 'https://api.anthropic.com/v1', true],
      ['chatgpt', 'https://chatgpt.com/backend-api/codex', true],
    ],
    behind: {
      isOneServer: false,
      messagesPath: '/u/anthropic',
      isAnthropic: true,
      chatGptPath: '/u/chatgpt',
    },
  })
})

test('what the environment names takes the place of its vendor', async () => {
  const env = { OPENAI_API_BASE: 'http://h:1/v1/', ANTHROPIC_BASE_URL: 'https://api.z.ai/api/anthropic' }
  expect(await destinations({}, env)).toMatchObject({
    urls: [
      ['default', 'http://h:1/v1', true],
      ['anthropic', 'https://api.z.ai/api/anthropic/v1', true],
      ['chatgpt', 'https://chatgpt.com/backend-api/codex', true],
    ],
    behind: { isOneServer: false, isAnthropic: false },
  })
  const wrong = { OPENAI_BASE_URL: 'https://user:PLANTED@host/v1' }
  const problem = await destinations({}, wrong)
  expect(problem).toMatchObject({ source: 'OPENAI_BASE_URL' })
  expect(JSON.stringify(problem)).not.toContain('PLANTED')
})

test('a server that is named is for all, whatever the environment says', async () => {
  const env = { OPENAI_BASE_URL: 'http://h:1/v1', ANTHROPIC_BASE_URL: 'http://h:2' }
  expect(await destinations({ upstream: 'http://one/v1' }, env)).toEqual({
    urls: [['default', 'http://one/v1', true]],
    behind: { isOneServer: true, messagesPath: '', isAnthropic: false, chatGptPath: null },
  })
})
