import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { randomText, identityHeaders, ownSign, proofOf } from '../../../src/server/own-sign.ts'
import { announce, findRunning, type RunningFoldgate } from '../../../src/commands/run/running-foldgate.ts'
import { freePort, listen } from '../../support/free-port.ts'

// A file and a header that anybody can send were believed: after a Foldgate had been killed, another user's program on its port
// was given what a coding agent asked, and its key. Whatever lay beside the files was deleted, behind a link, too.

const behind = { messagesPath: '', isAnthropic: false, isOneServer: true, chatGptPath: null }

async function place() {
  const home = await temporaryFolder({})
  const folder = join(home, 'foldgate', 'running')
  return { user: { env: { XDG_STATE_HOME: home }, platform: 'linux' }, home, folder }
}

/** A program at a port of its own, that answers probes like this. */
async function program(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  const port = await freePort()
  await listen(server, port)
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${port}`
}

const foldgate = (secret: string): Promise<string> =>
  program((incoming, outgoing) => {
    const challenge = String(incoming.headers[identityHeaders.challenge] ?? '')
    outgoing
      .writeHead(200, {
        ...ownSign,
        [identityHeaders.proof]: proofOf(secret, challenge, incoming.socket.localPort),
      })
      .end()
  })

const said = (origin: string, secret: string): RunningFoldgate => ({
  secret,
  origin,
  admin: null,
  addresses: {},
  behind,
  serves: true,
})

/** The id of a process that is gone. */
const gone = (): number => spawnSync(process.execPath, ['-e', '']).pid

test('one that runs is found by its own word, in a file that only its user reads', async () => {
  const { user, folder } = await place()
  const secret = randomText()
  const running = said(await foldgate(secret), secret)
  const withdraw = await announce(running, process.pid, user)
  expect((await stat(join(folder, `${process.pid}.json`))).mode & 0o777).toBe(0o600)
  expect(await findRunning(user)).toEqual(running)
  await withdraw()
  expect(await findRunning(user)).toBeNull()
})

// A `run` that was started last went before the Foldgate that all else uses.
test('one that serves is found before one of a run, whichever was started last; one that does not say it serves', async () => {
  const { user, folder } = await place()
  const [secret, ofRun] = [randomText(), randomText()]
  const { serves, ...older } = said(await foldgate(secret), secret)
  expect(serves).toBe(true)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, '1.json'), JSON.stringify(older))
  const run = { ...said(await foldgate(ofRun), ofRun), serves: false }
  const withdraw = await announce(run, process.pid, user)
  const [first, last] = [new Date(1_000), new Date(2_000)]
  await utimes(join(folder, '1.json'), first, first)
  await utimes(join(folder, `${process.pid}.json`), last, last)
  expect(await findRunning(user)).toEqual({ ...older, serves: true })
  await rm(join(folder, '1.json'))
  expect(await findRunning(user)).toEqual(run)
  await withdraw()
})

test('a program that took its port is not taken for it, whatever it says', async () => {
  const { user } = await place()
  for (const stranger of [
    await foldgate(randomText()),
    await program((_incoming, outgoing) => outgoing.writeHead(200, ownSign).end()),
    await program((incoming, outgoing) => {
      const challenge = String(incoming.headers[identityHeaders.challenge])
      outgoing.writeHead(200, { ...ownSign, [identityHeaders.proof]: challenge }).end()
    }),
  ]) {
    await announce(said(stranger, randomText()), gone(), user)
    expect(await findRunning(user)).toBeNull()
  }
})

test('of a port that one of them has by its own word nobody else is found, as long as that one runs', async () => {
  const { user } = await place()
  const stranger = await foldgate(randomText())
  const port = Number(new URL(stranger).port)
  await announce(said(stranger, randomText()), process.pid, user)
  expect(await findRunning(user)).toBeNull()
  expect(await findRunning(user, port)).toBe('unproved')
  expect(await findRunning(user, port + 1)).toBeNull()
})

test('of those that do not answer only the files of processes that are gone are taken away, and no other file', async () => {
  const { user, folder } = await place()
  const silent = said('http://127.0.0.1:9', randomText())
  const left = gone()
  await announce(silent, process.pid, user)
  await announce(silent, left, user)
  await writeFile(join(folder, 'notes.txt'), 'mine')
  await writeFile(join(folder, 'x.json'), '{}')
  await mkdir(join(folder, '1.json'))
  expect(await findRunning(user)).toBeNull()
  expect((await readdir(folder)).sort()).toEqual(
    ['1.json', `${process.pid}.json`, 'notes.txt', 'x.json'].sort(),
  )
})

test('no link is followed: not to read, not to write, not to take away', async () => {
  const { user, home, folder } = await place()
  const left = gone()
  const elsewhere = join(home, 'elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, `${left}.json`), 'mine')
  await mkdir(join(home, 'foldgate'))
  await symlink(elsewhere, folder)
  expect(await findRunning(user)).toBeNull()
  expect(await readFile(join(elsewhere, `${left}.json`), 'utf8')).toBe('mine')

  const other = await place()
  await mkdir(other.folder, { recursive: true })
  await symlink(join(elsewhere, `${left}.json`), join(other.folder, `${left}.json`))
  expect(await findRunning(other.user)).toBeNull()
  const secret = randomText()
  await announce(said(await foldgate(secret), secret), left, other.user)
  expect(await readFile(join(elsewhere, `${left}.json`), 'utf8')).toBe('mine')
})

// Node's own way to make a folder with those above it asked for ever, at 75 % of a processor.
test('where no folder can be made nothing is said, and nobody waits', async () => {
  const user = { env: { XDG_STATE_HOME: '/proc/1' }, platform: 'linux' }
  const withdraw = await announce(said('http://127.0.0.1:9', randomText()), process.pid, user)
  await withdraw()
  expect(await findRunning(user)).toBeNull()
})
