import { mkdir, stat, chown, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import assert from 'node:assert/strict'
import { type Steps, filesIn } from '../../support/run-command.ts'
import type { Image } from './build.ts'
import type { Rooms } from './rooms.ts'
import { startStrictUpstream } from '../../support/strict-upstream/strict-upstream.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { longConversation } from '../../support/long-conversation.ts'
import { postChat } from '../../support/post-chat.ts'
import { freePort } from '../../support/free-port.ts'

/** A container of the image, as far as one is without Docker. */
type Container = Awaited<ReturnType<typeof startContainer>>

/** Starts the image by its entrypoint, with these variables, and waits until it listens. */
async function startContainer(
  image: Image,
  rooms: Rooms,
  env: Readonly<Record<string, string>>,
  volumes: ReadonlyMap<string, string>,
) {
  const { root, workdir, user, group } = image
  const around = { workdir, env: { ...image.env, ...env }, user, group, volumes }
  const running = rooms.start(root, { ...around, words: image.entrypoint })
  await running.said(/ listens on /)
  return {
    running,
    url: `http://127.0.0.1:${env['FOLDGATE_PORT']}/v1`,
    /** Runs another command beside it, as its probe is. */
    also: async (words: readonly string[]) => {
      const beside = rooms.start(root, { ...around, words })
      return { code: await beside.ended, output: beside.output() }
    },
    /** Asks it to end, as the end of a container does; resolves with its exit code. */
    stop: async () => {
      process.kill(await running.pid(), 'SIGTERM')
      return running.ended
    },
  }
}

/** Makes a volume as Docker does: empty, with the owner and mode of what lies there in the image. */
async function makeVolume(image: Image, place: string, folder: string): Promise<void> {
  const { mode, uid, gid } = await stat(join(image.root, place))
  // What is above it is everybody's to pass.
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: mode & 0o777 })
  if (process.getuid?.() === 0) await chown(folder, uid, gid)
}

/** Known to Foldgate's table with this window: a container without any settings knows when to compact. */
const MODEL = 'gpt-4'
const WINDOW_TOKENS = 8_192

/** Starts the image as a container would be, and holds a long conversation through it, over a restart. */
export async function runImage(image: Image, rooms: Rooms, folder: string, steps: Steps): Promise<void> {
  const [volume = ''] = image.volumes
  const records = join(folder, 'volume/foldgate')
  await makeVolume(image, volume, records)
  const volumes = new Map([[volume, records]])
  const counter = await loadCounter('o200k_base')
  const upstream = await startStrictUpstream({
    windowTokens: WINDOW_TOKENS,
    template: 'lenient',
    outputReserveChecked: true,
    count: counter.count,
    reply: () => ({ content: 'It is the second one.' }),
  })
  const env = { FOLDGATE_UPSTREAM: upstream.url, FOLDGATE_PORT: String(await freePort()) }
  const start = () => startContainer(image, rooms, env, volumes)
  const before = await filesIn(image.root)
  const messages = longConversation()
  const chat = async (container: Container, more: readonly object[] = []) => {
    const reply = await postChat(container.url, { model: MODEL, messages: [...messages, ...more] })
    assert.equal(reply.status, 200, reply.text)
    const request = upstream.requests.findLast(({ path }) => path.endsWith('/chat/completions'))
    assert.ok(request !== undefined)
    return { request, conversation: reply.header('x-foldgate-conversation') }
  }
  const running: Container[] = []
  try {
    const begin = async () => {
      const container = await start()
      running.push(container)
      return container
    }
    const first = await steps.step('starts by its entrypoint, with an upstream and nothing else set', begin)
    if (first === null) return
    if (rooms.isClosed) await asConfined(first, image, steps)
    await steps.step(`is well by its HEALTHCHECK: ${image.probe.join(' ')}`, async () => {
      assert.deepEqual(await first.also(image.probe), { code: 0, output: 'ok\n' })
    })
    const sent = await steps.step('compacts a long conversation, what stays word for word', async () => {
      const answered = await chat(first)
      const given = messages.map((message) => JSON.stringify(message))
      mustBeCompacted(answered.request.rawMessages, given)
      assert.ok(answered.request.promptTokens <= WINDOW_TOKENS)
      assert.ok(upstream.requests.every(({ rejected }) => rejected === null))
      return answered
    })
    await steps.step('ends at SIGTERM with 0', async () => {
      assert.equal(await first.stop(), 0, first.running.output())
    })
    await steps.step('left its records in the volume, for its user only, and nothing else', async () => {
      const [file = '', ...others] = (await filesIn(records)).filter((path) => !/-(?:wal|shm)$/.test(path))
      assert.deepEqual([file, others], ['foldgate.sqlite', []])
      const { mode, size } = await stat(join(records, file))
      assert.equal(mode & 0o777, 0o600)
      assert.deepEqual(await filesIn(image.root), before)
      return `${file}, ${size} bytes`
    })
    if (sent === null) return
    await steps.step('goes on after a restart: the same bytes, still the same conversation', async () => {
      const second = await begin()
      const again = await chat(second)
      assert.ok(again.request.body.equals(sent.request.body), 'other bytes than before the restart')
      // Without the records a longer conversation would be one of its own, named after its own beginning.
      const said = { role: 'assistant', content: 'It is the second one.' }
      const longer = await chat(second, [said, { role: 'user', content: 'Thanks.' }])
      assert.equal(longer.conversation, sent.conversation)
      assert.deepEqual(longer.request.rawMessages.slice(0, -2), sent.request.rawMessages)
      assert.equal(await second.stop(), 0)
    })
  } finally {
    for (const { running: each } of running) each.child.kill('SIGKILL')
    await upstream.close()
  }
}

/** What a program in the container can do, asked of one. */
const confined = `
const { spawnSync } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
const refusal = (path) => { try { writeFileSync(path, ''); return 'written' } catch (error) { return error.code } }
const status = readFileSync('/proc/self/status', 'utf8')
const line = (name) => status.match(new RegExp('^' + name + ':\\\\s*(.*)$', 'm'))[1]
console.log(JSON.stringify({
  user: process.getuid(), group: process.getgid(), groups: process.getgroups(),
  capabilities: line('CapEff'), noNewPrivileges: line('NoNewPrivs'),
  writing: ['/written', '/app/dist/written', '/tmp/written', '/etc/written'].map(refusal),
  shells: ['sh', 'bash', '/bin/sh', '/bin/busybox', 'npm'].map((name) => spawnSync(name).error?.code),
}))`

async function asConfined(container: Container, image: Image, steps: Steps): Promise<void> {
  await steps.step('is process 1 of its container', async () => {
    const status = await readFile(`/proc/${await container.running.pid()}/status`, 'utf8')
    assert.match(status, /^NSpid:\s.*\t1$/m)
  })
  await steps.step('is no root, has no capability and gets none, a read-only root and no shell', async () => {
    const { code, output } = await container.also(['node', '-e', confined])
    assert.equal(code, 0, output)
    assert.deepEqual(JSON.parse(output), {
      user: image.user,
      group: image.group,
      groups: [image.group],
      capabilities: '0000000000000000',
      noNewPrivileges: '1',
      writing: ['EROFS', 'EROFS', 'EROFS', 'EROFS'],
      shells: ['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
    })
  })
}

/** There are fewer messages; one says what the others were; all others are the client's, in their order. */
function mustBeCompacted(sent: readonly string[], given: readonly string[]): void {
  assert.ok(sent.length < given.length, `${sent.length} messages of ${given.length}`)
  assert.equal(sent[0], given[0])
  assert.equal(sent.at(-1), given.at(-1))
  const made = sent.filter((message) => !given.includes(message))
  assert.equal(made.length, 1, `${made.length} messages are none of the client's`)
  assert.match(made[0] ?? '', /<conversation-recap>/)
  const kept = sent.filter((message) => given.includes(message)).map((message) => given.lastIndexOf(message))
  const inOrder = kept.toSorted((one, other) => one - other)
  assert.deepEqual(kept, inOrder)
}
