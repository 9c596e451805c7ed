import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { type KeyTrouble, watchKeys } from '../../src/config/watch-files.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from './temporary-folder.ts'

const yaml = `
upstreams:
  default: {api_key_file: keys/main}
  cheap: {url: "http://cheap", api_key_env: CHEAP}
client_keys:
  - {name: ada, key_file: keys/ada}
  - {name: ben, key_file: keys/ben}
admin: {token_env: TOKEN}
`

const env = { CHEAP: 'sk-cheap', TOKEN: 'admin-token' }

const keys = { 'keys/main': 'sk-main\n', 'keys/ada': 'fg-ada\n', 'keys/ben': 'fg-ben\n' }

type Around = {
  /** Long by default: only what is asked for is read. */
  lookMs?: number
  prepare?: (folder: string) => Promise<void>
  /** Happens between the first reading and the watching. */
  meanwhile?: (folder: string) => Promise<void>
}

const mainIn = (folder: string) => join(folder, 'keys/main')

const writeMain = (folder: string) => writeFile(mainIn(folder), 'sk-new')

async function pipeMain(folder: string) {
  spawnSync('sh', ['-c', 'mkfifo "$0"', mainIn(folder)])
  void writeFile(mainIn(folder), 'sk-piped')
}

/** Watches the keys of these settings. */
async function watched(
  files: Readonly<Record<string, string>> = keys,
  { lookMs = 3_600_000, prepare, meanwhile }: Around = {},
) {
  const folder = await temporaryFolder({ 'foldgate.yaml': yaml, ...files })
  await prepare?.(folder)
  const loaded = await loadSettings({ flags: {}, env, cwd: folder })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { settings } = loaded
  await meanwhile?.(folder)
  const rotated: string[] = []
  const troubles: KeyTrouble[] = []
  const watching = watchKeys({
    settings,
    quietMs: 20,
    lookMs,
    onRotated: (names) => rotated.push(...names),
    onTrouble: (trouble) => troubles.push(trouble),
  })
  onTestFinished(watching.close)
  const { reload, close } = watching
  /** Those of Ada and Ben, several separated by a space. */
  const clients = () =>
    settings.client_keys.map(({ key }) =>
      key
        .now()
        .map((each) => each.reveal())
        .join(' '),
    )
  const main = () => settings.upstreams.get('default')?.key?.now()[0].reveal()
  const write = (name: string, text: string) => writeFile(join(folder, 'keys', name), text)
  return { folder, reload, close, rotated, troubles, clients, main, write, mainPath: mainIn(folder) }
}

describe('a key whose file changes is the new one from then on', () => {
  test.each<[string, (path: string) => Promise<void>]>([
    ['written in place', (path) => writeFile(path, 'sk-new\n')],
    ['written beside', (path) => writeFile(`${path}.tmp`, 'sk-new').then(() => rename(`${path}.tmp`, path))],
    ['removed and written anew', (path) => unlink(path).then(() => writeFile(path, 'sk-new'))],
  ])('%s', async (_, change) => {
    const at = await watched(keys, { lookMs: 30 })
    await change(at.mainPath)
    await eventually(() => expect(at.main()).toBe('sk-new'))
    await eventually(() => expect(at.rotated).toEqual(['upstreams.default.api_key_file']))
    expect(at.clients()).toEqual(['fg-ada', 'fg-ben'])
  })

  // Kubernetes' secret volumes: each file is a link into `..data`, a link to a folder, which is swapped as a whole.
  test('by a swap of the link that its folder lies behind, again and again', async () => {
    const secrets = await mkdtemp(join(tmpdir(), 'foldgate-secrets-'))
    onTestFinished(() => rm(secrets, { recursive: true, force: true }))
    const publish = async (version: string): Promise<void> => {
      await mkdir(join(secrets, version))
      for (const name of ['main', 'ada', 'ben'])
        await writeFile(join(secrets, version, name), `${name}-${version}\n`)
      await symlink(version, join(secrets, '..data_tmp'))
      await rename(join(secrets, '..data_tmp'), join(secrets, '..data'))
    }
    await publish('v1')
    for (const name of ['main', 'ada', 'ben']) await symlink(join('..data', name), join(secrets, name))
    const prepare = (folder: string) => symlink(secrets, join(folder, 'keys'))
    const at = await watched({}, { lookMs: 30, prepare })
    expect(at.main()).toBe('main-v1')
    for (const version of ['v2', 'v3']) {
      await publish(version)
      await rm(join(secrets, version === 'v2' ? 'v1' : 'v2'), { recursive: true })
      await eventually(() => expect(at.main()).toBe(`main-${version}`))
      expect(at.clients()).toEqual([`ada-${version}`, `ben-${version}`])
    }
    expect(at.troubles).toEqual([])
  })

  test('one that changed before it was watched is found as well', async () => {
    // While a store is opened, say: that may take seconds.
    const at = await watched(keys, { lookMs: 30, meanwhile: writeMain })
    await eventually(() => expect(at.main()).toBe('sk-new'))
  })

  test('nothing is told where nothing changed', async () => {
    const at = await watched()
    await at.write('main', '  sk-main  \n\n')
    await at.reload()
    expect([at.rotated, at.troubles]).toEqual([[], []])
  })
})

test('two keys of one client, while one takes the other’s place: each line of its file is one', async () => {
  const at = await watched()
  await at.write('ada', 'fg-ada\r\nfg-ada-new\n')
  await at.reload()
  expect(at.clients()[0]).toBe('fg-ada fg-ada-new')
  await at.write('ada', 'fg-ada-new\n')
  await at.reload()
  expect(at.clients()[0]).toBe('fg-ada-new')
})

describe('what is no good is told without the key, and the old one stays', () => {
  test.each<[string, string | null, string]>([
    ['gone', null, 'the file does not exist'],
    ['empty', '\n', 'the file is empty'],
    ['of two words', 'sk-PLANTED and more', 'the file holds spaces or characters that no key has'],
    // It is sent, not compared: an upstream takes one only.
    ['of two keys', 'sk-main\nsk-new\n', 'the file holds spaces or characters that no key has'],
    ['not ASCII', 'sk-PLANTED-é', 'the file holds spaces or characters that no key has'],
    ['too large', 'PLANTED'.repeat(20_000), 'the file is larger than 65536 bytes'],
  ])('a file that is %s', async (_, text, reason) => {
    const at = await watched()
    if (text === null) await unlink(at.mainPath)
    else await at.write('main', text)
    await at.write('ada', 'fg-ada-2')
    await at.reload()
    expect(at.main()).toBe('sk-main')
    const file = at.mainPath
    expect(at.troubles).toEqual([{ setting: 'upstreams.default.api_key_file', file, reason }])
    // The other one is not held up.
    expect([at.clients()[0], at.rotated]).toEqual(['fg-ada-2', ['client_keys[0].key_file']])
  })

  test.each([
    ['fg-ben', 'the client keys "ada" and "ben" are the same key'],
    ['sk-cheap', 'the client key "ada" is the key that Foldgate sends to the upstream "cheap"'],
    ['admin-token', 'the client key "ada" is the token of the admin listener'],
  ])("a client key that is somebody else's: %s", async (text, reason) => {
    const at = await watched()
    await at.write('ada', `fg-ada-new\n${text}`)
    await at.reload()
    expect(at.clients()[0]).toBe('fg-ada')
    expect(at.troubles.map((trouble) => trouble.reason)).toEqual([reason])
    // Nor is an upstream's that a client has.
    await at.write('ada', 'fg-ada')
    await at.write('main', 'fg-ada')
    await at.reload()
    expect([at.main(), at.clients()[0]]).toEqual(['sk-main', 'fg-ada'])
    expect(at.troubles.at(-1)?.setting).toBe('upstreams.default.api_key_file')
  })

  test('two clients may change their keys with each other; two new ones that are the same are both refused', async () => {
    const at = await watched()
    await at.write('ada', 'fg-ben')
    await at.write('ben', 'fg-ada')
    await at.reload()
    expect(at.clients()).toEqual(['fg-ben', 'fg-ada'])
    for (const name of ['ada', 'ben']) await at.write(name, 'fg-same')
    await at.reload()
    expect(at.clients()).toEqual(['fg-ben', 'fg-ada'])
    const refused = ['client_keys[0].key_file', 'client_keys[1].key_file']
    expect(at.troubles.map(({ setting }) => setting)).toEqual(refused)
  })

  test('is told once, and again when it is asked for or has become another', async () => {
    const at = await watched(keys, { lookMs: 30 })
    await at.write('main', '')
    await eventually(() => expect(at.troubles).toHaveLength(1))
    await at.write('ada', 'fg-ada-2')
    await eventually(() => expect(at.rotated).toEqual(['client_keys[0].key_file']))
    expect(at.troubles).toHaveLength(1)
    await at.reload()
    expect(at.troubles).toHaveLength(2)
    await unlink(at.mainPath)
    await eventually(() => expect(at.troubles.at(-1)?.reason).toBe('the file does not exist'))
    await at.write('main', 'sk-back')
    await eventually(() => expect(at.main()).toBe('sk-back'))
  })
})

// `key_file: /dev/fd/63` of a shell's `<(pass show …)`: who opens a pipe a second time waits for a writer for ever.
test.skipIf(process.platform === 'win32')('a pipe is read once and left alone then', async () => {
  const at = await watched({ 'keys/ada': 'fg-ada', 'keys/ben': 'fg-ben' }, { prepare: pipeMain })
  expect(at.main()).toBe('sk-piped')
  await at.write('ada', 'fg-ada-2')
  await at.reload()
  expect([at.main(), at.clients()[0]]).toEqual(['sk-piped', 'fg-ada-2'])
})

test('nothing is called, and nothing changes, once it is closed', async () => {
  const at = await watched()
  await at.write('main', 'sk-late')
  const reload = at.reload()
  at.close()
  await reload
  expect([at.main(), at.rotated, at.troubles]).toEqual(['sk-main', [], []])
})
