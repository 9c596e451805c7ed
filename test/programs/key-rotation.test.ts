import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { postChat } from '../support/post-chat.ts'
import { eventually } from '../support/eventually.ts'
import { completion, fakeUpstream, type Script } from '../support/fake-upstream.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { serve } from './program.ts'

const small = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const as = (key: string) => ({ authorization: `Bearer ${key}` })

const settings = `
upstreams: {default: {api_key_file: secrets/main, concurrency: 1}}
client_keys: [{name: ada, key_file: secrets/ada}]
drain: {delay_s: 0, timeout_s: 5}
`

/** Publishes both keys as Kubernetes does: files that are links into `..data`, a link that is swapped. */
async function publish(cwd: string, version: string, keys: { main: string; ada: string }): Promise<void> {
  const secrets = join(cwd, 'secrets')
  await mkdir(join(secrets, version), { recursive: true })
  for (const [name, key] of Object.entries(keys)) await writeFile(join(secrets, version, name), `${key}\n`)
  await symlink(version, join(secrets, '..data_tmp'))
  await rename(join(secrets, '..data_tmp'), join(secrets, '..data'))
}

async function folderWithKeys(keys: { main: string; ada: string }): Promise<string> {
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
  await publish(cwd, 'v1', keys)
  for (const name of Object.keys(keys)) await symlink(join('..data', name), join(cwd, 'secrets', name))
  return cwd
}

/** Answers only when it is told to. */
function held() {
  const released = Promise.withResolvers<void>()
  const script: Script = async (_received, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write('data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n')
    await released.promise
    outgoing.end('data: {"choices":[{"index":0,"delta":{"content":" last"}}]}\n\ndata: [DONE]\n\n')
  }
  return { script, release: () => released.resolve() }
}

describe('keys change while Foldgate runs', () => {
  test('a swapped secret volume: the next request has the new keys, those under way end with the old ones', async () => {
    const { script, release } = held()
    await using upstream = await fakeUpstream([script, completion('fine')])
    const cwd = await folderWithKeys({ main: 'sk-old', ada: 'fg-old' })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    const streamed = postChat(foldgate.url, { ...small, stream: true }, as('fg-old'))
    await eventually(() => expect(upstream.requests).toHaveLength(1))
    // It waits for the upstream's one place: let in with a key that held then, sent with the one that holds then.
    const waiting = postChat(foldgate.url, small, as('fg-old'))

    await publish(cwd, 'v2', { main: 'sk-new', ada: 'fg-new' })
    await rm(join(cwd, 'secrets/v1'), { recursive: true })
    await foldgate.said(/keys were rotated/)
    expect((await postChat(foldgate.url, small, as('fg-old'))).status).toBe(401)
    release()
    const whole = await streamed
    expect([whole.status, whole.text.includes('last')]).toEqual([200, true])
    expect((await waiting).status).toBe(200)
    expect((await postChat(foldgate.url, small, as('fg-new'))).status).toBe(200)
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-old',
      'Bearer sk-new',
      'Bearer sk-new',
    ])

    const told = foldgate.stdout() + foldgate.stderr()
    expect(told).toContain('"settings":"upstreams.default.api_key_file, client_keys[0].key_file"')
    for (const key of ['sk-old', 'sk-new', 'fg-old', 'fg-new']) expect(told).not.toContain(key)
  })

  test.skipIf(process.platform === 'win32')(
    'SIGHUP reads them at once; what is no good is told, and the old one stays',
    async () => {
      await using upstream = await fakeUpstream(completion('fine'))
      const cwd = await temporaryFolder({
        'foldgate.yaml': settings,
        'secrets/main': 'sk-old',
        'secrets/ada': 'fg-old',
      })
      const foldgate = await serve(['--upstream', upstream.url], { cwd })
      await writeFile(join(cwd, 'secrets/main'), 'sk PLANTED')
      await writeFile(join(cwd, 'secrets/ada'), 'fg-old\nfg-new\n')
      foldgate.child.kill('SIGHUP')
      await foldgate.said(/keys were rotated/)
      const [line = ''] = await foldgate.said(/.*a changed key is not used, the old one stays.*/)
      expect(JSON.parse(line)).toMatchObject({
        level: 'error',
        setting: 'upstreams.default.api_key_file',
        file: join(cwd, 'secrets/main'),
        reason: 'the file holds spaces or characters that no key has',
      })
      expect(foldgate.stdout() + foldgate.stderr()).not.toContain('PLANTED')
      // Both of a client's hold while it is changed over.
      for (const key of ['fg-old', 'fg-new'])
        expect((await postChat(foldgate.url, small, as(key))).status).toBe(200)
      expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer sk-old',
        'Bearer sk-old',
      ])

      await writeFile(join(cwd, 'secrets/main'), 'sk-new')
      await writeFile(join(cwd, 'secrets/ada'), 'fg-new\n')
      foldgate.child.kill('SIGHUP')
      await eventually(async () =>
        expect((await postChat(foldgate.url, small, as('fg-old'))).status).toBe(401),
      )
      expect((await postChat(foldgate.url, small, as('fg-new'))).status).toBe(200)
      expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-new')
    },
  )
})
