import { spawnSync } from 'node:child_process'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/storage/sqlite-store.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { freePort } from '../support/free-port.ts'
import { redisProgram, redisServer, withoutRedis } from '../support/redis-server.ts'
import { output, serve, type Program } from './program.ts'
import { putValue } from '../support/put-value.ts'

const user = (content: string) => ({ role: 'user' as const, content })
const assistant = (content: string) => ({ role: 'assistant' as const, content })
const begun = chatOf([user('hello')])
const continued = chatOf([user('hello'), assistant('fine'), user('and now?')])
const defaultFile = (home: string) => join(home, '.local/state/foldgate/foldgate.sqlite')

async function conversationOf(url: string, body: object): Promise<string> {
  const reply = await postChat(url, body)
  expect(reply.status).toBe(200)
  return reply.header('x-foldgate-conversation') ?? ''
}

async function ended(program: Program): Promise<void> {
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
}

const settings = 'drain: {delay_s: 0, timeout_s: 5}\n'

describe('where records are kept', () => {
  test('is a private file in the user’s folder, which the start names; a restart finds them again', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
    const first = await serve(['--upstream', upstream.url], { cwd })
    expect(first.stdout()).toContain(`"records":"sqlite:${defaultFile(cwd)}"`)
    const conversation = await conversationOf(first.url, begun)
    await ended(first)
    expect(first.stderr()).toBe('')
    if (process.platform !== 'win32') expect((await stat(defaultFile(cwd))).mode & 0o777).toBe(0o600)

    const second = await serve(['--upstream', upstream.url], { cwd })
    // Without its records it would be a conversation of its own, named after its own beginning.
    expect(await conversationOf(second.url, continued)).toBe(conversation)
    await ended(second)
  })

  // What is said where it cannot be had, or is required, `npm run faults` tells.
  test('is the memory where that is asked for', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
    const asked = await serve(['--upstream', upstream.url, '--store', 'memory:'], { cwd })
    await conversationOf(asked.url, begun)
    expect(asked.stdout()).toContain('"records":"memory:"')
    expect(asked.stdout()).not.toContain('the store cannot be used')
    await ended(asked)
    expect(await readdir(cwd)).toEqual(['foldgate.yaml'])
  })

  test('is unreadable where there is a key for it, and never is that key told', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'foldgate.yaml': `${settings}store: {encrypt_key_env: STORE_KEY}\n` })
    const env = { STORE_KEY: 'PLANTED-KEY' }
    const first = await serve(['--upstream', upstream.url], { cwd, env })
    const conversation = await conversationOf(first.url, begun)
    await ended(first)
    const database = new DatabaseSync(defaultFile(cwd), { readOnly: true })
    const rows = database.prepare('SELECT CAST(value AS TEXT) AS value FROM entries').all()
    database.close()
    expect(rows.length).toBeGreaterThan(0)
    for (const { value } of rows) expect(value).toMatch(/^v1:/)

    const second = await serve(['--upstream', upstream.url], { cwd, env })
    expect(await conversationOf(second.url, continued)).toBe(conversation)
    await ended(second)
    const other = await serve(['--upstream', upstream.url], { cwd, env: { STORE_KEY: 'another' } })
    expect(await conversationOf(other.url, continued)).not.toBe(conversation)
    const told = [first, second, other].map((each) => each.stdout() + each.stderr()).join('')
    expect(told).not.toContain('PLANTED-KEY')
  })
})

/** A certificate for localhost that signs itself; null where this machine cannot make one. */
function certificateIn(folder: string): { readonly key: string; readonly certificate: string } | null {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const request = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' ')
  request.push('-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate)
  const made = spawnSync('openssl', request)
  return made.status === 0 ? { key, certificate } : null
}

describe.skipIf(redisProgram === undefined)(`a server behind TLS${withoutRedis}`, () => {
  test('is reached by rediss://, and only if its certificate is good', async ({ skip }) => {
    const cwd = await temporaryFolder({})
    const made = certificateIn(cwd)
    if (made === null) return skip('openssl is not installed')
    const port = await freePort()
    const files = ['--tls-cert-file', made.certificate, '--tls-key-file', made.key]
    const settingsOfTls = ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no']
    const server = await redisServer(...settingsOfTls).catch(() => null)
    if (server === null) return skip('this server is built without TLS')
    await using running = server
    await running.ask('SET {foldgate}:value:key value')
    const args = ['--store', `rediss://localhost:${port}`]
    const refused = /rediss:\/\/localhost:\d+ cannot be used \(\w*SELF_SIGNED\w*\)/
    expect(await purged(cwd, args)).toEqual(refusing(refused))
    const [code, said] = await purged(cwd, args, { NODE_EXTRA_CA_CERTS: made.certificate })
    expect([code, said]).toEqual([0, expect.stringContaining('Deleted 1 record')])
  })
})

async function purged(cwd: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await output(['purge', ...args], { cwd, env })
  return [code, stdout, stderr]
}

const refusing = (said: RegExp) => [1, '', expect.stringMatching(said)]

describe('foldgate purge', () => {
  test('deletes everything, or one conversation, and says what that was', async () => {
    const cwd = await temporaryFolder({})
    const path = join(cwd, 'store.sqlite')
    const args = ['--store', `sqlite:${path}`]
    const one = [...args, '--conversation', 'conversation-one']
    const store = await openSqliteStore({ path, bytesMax: 1_000_000, lifetimeMs: 0 })
    await putValue(store, 'a', '1', 'conversation-one')
    await putValue(store, 'b', '1', 'conversation-one')
    await putValue(store, 'c', '1', 'conversation-two')
    await store.appendRows('events', [{ text: '1', group: 'conversation-one' }, { text: '2' }])
    const said = `Deleted 3 records of the conversation conversation-one from sqlite:${path}.\n`
    expect(await purged(cwd, one)).toEqual([0, said, ''])
    expect(await store.getFirst(['a', 'b'])).toBeNull()
    expect(await store.getFirst(['c'])).not.toBeNull()
    expect(await purged(cwd, one)).toEqual([0, expect.stringContaining('has no records of'), ''])
    const wrong = /^That is no conversation's id: .*x-foldgate-conversation.*\n$/
    expect(await purged(cwd, [...args, '--conversation', '../everything'])).toEqual(refusing(wrong))

    const all = expect.stringContaining(`Deleted 2 records from sqlite:${path}`)
    expect(await purged(cwd, args)).toEqual([0, all, ''])
    expect(await store.getFirst(['c'])).toBeNull()
    expect(await purged(cwd, args)).toEqual([0, expect.stringContaining('holds nothing of Foldgate'), ''])
    await store.close()
  })

  test('of a running Foldgate takes its records away, and it goes on', async () => {
    await using upstream = await fakeUpstream(completion('fine'))
    const cwd = await temporaryFolder({ 'foldgate.yaml': settings })
    const foldgate = await serve(['--upstream', upstream.url], { cwd })
    const conversation = await conversationOf(foldgate.url, begun)
    expect((await purged(cwd))[1]).toMatch(/^Deleted [3-9] records from sqlite:/)
    expect(await conversationOf(foldgate.url, continued)).not.toBe(conversation)
    await ended(foldgate)
  })

  // On a full disk it said "run foldgate purge again", again and again: deleting takes some room as well.
  test('says why it failed in the middle, so that something can be done about it', async () => {
    const cwd = await temporaryFolder({})
    const path = join(cwd, 'store.sqlite')
    const store = await openSqliteStore({ path, bytesMax: 1_000_000, lifetimeMs: 0 })
    await putValue(store, 'a', '1')
    await store.close()
    const other = new DatabaseSync(path)
    const full = "SELECT RAISE(ABORT, 'PLANTED: no room left')"
    other.exec(`CREATE TRIGGER full BEFORE DELETE ON entries BEGIN ${full}; END`)
    other.close()
    const failed = await purged(cwd, ['--store', `sqlite:${path}`])
    expect(failed).toEqual(refusing(/failed in the middle of it: see to it \(constraint failed\), and run/))
    expect(failed.join()).not.toContain('PLANTED')
  })

  test('makes no file where there is none, touches none of another program, and says what is wrong with a store', async () => {
    const cwd = await temporaryFolder({})
    const memory = await purged(cwd, ['--store', 'memory:'])
    expect(memory).toEqual([0, expect.stringContaining('nothing is on disk'), ''])
    expect(await purged(cwd)).toEqual([0, `Nothing to delete: there is no file ${defaultFile(cwd)}.\n`, ''])
    expect(await readdir(cwd)).toEqual([])
    await writeFile(join(cwd, 'notes.txt'), 'These are notes, and no database at all.')
    const away = /^redis:\/\/127\.0\.0\.1:9 cannot be used \(ECONNREFUSED\): .*\n$/
    for (const [store, said, env] of [
      [['--store', 'sqlite:notes.txt'], /notes\.txt is no database: .*\n$/],
      [['--store', 'redis://:PLANTED@127.0.0.1:9'], away],
      [[], /HOME is not set/, { HOME: '' }],
    ] as const)
      expect(await purged(cwd, store, env)).toEqual(refusing(said))
  })
})

const archived = 'store: {url: "memory:"}\narchive: {dir: kept}\ndrain: {delay_s: 0, timeout_s: 5}\n'

test('foldgate purge deletes the files of the archive, too, and nothing else that lies there', async () => {
  const cwd = await temporaryFolder({
    'foldgate.yaml': archived,
    'kept/conversation-one.md': '# Conversation conversation-one\ntext',
    'kept/conversation-two.md': '# Conversation conversation-two\ntext',
    'kept/notes.md': 'mine',
  })
  const dir = join(cwd, 'kept')
  const [code, said, trouble] = await purged(cwd, ['--conversation', 'conversation-one'])
  expect([code, trouble]).toEqual([0, ''])
  expect(said).toMatch(/^Records are kept in memory/)
  expect(said).toContain(`\nDeleted 1 file of the conversation conversation-one from the archive ${dir}.\n`)
  expect(await readdir(dir)).toEqual(['conversation-two.md', 'notes.md'])
  expect(await purged(cwd, ['--conversation', '../kept/notes'])).toEqual(refusing(/./))
  expect((await purged(cwd))[1]).toContain(`\nDeleted 1 file from the archive ${dir}.\n`)
  expect(await readdir(dir)).toEqual(['notes.md'])
})

/** What a network folder whose server is gone does: nothing that is asked of it is answered. */
const hanging = `import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
for (const name of ['stat', 'open']) {
  const real = files[name]
  files[name] = (path, ...more) => String(path).endsWith('/kept') ? new Promise(() => {}) : real(path, ...more)
}
syncBuiltinESMExports()
`

// The start waited for the folder, and the signal to end for the start: requests were served, but nothing drained.
test('an archive that hangs is told at the start, and keeps no signal waiting', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({ 'foldgate.yaml': archived, 'hanging.mjs': hanging })
  const env = { NODE_OPTIONS: `--import ${join(cwd, 'hanging.mjs')}` }
  const foldgate = await serve(['--upstream', upstream.url], { cwd, env })
  const [line] = await foldgate.said(/.*archive\.dir: nothing can be written in .* \(no answer\)/)
  expect(line).toContain('"level":"warn"')
  await conversationOf(foldgate.url, begun)
  await ended(foldgate)
})
