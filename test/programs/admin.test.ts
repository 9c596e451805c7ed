import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { adminPlace, deleteConversation } from '../admin/ask-admin.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { output, serve } from './program.ts'

/** How many records, and rows of the journal of usage, a file holds of a conversation. */
function recordsOf(path: string, conversation: string): () => number {
  const database = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => database.close())
  const [entries, rows] = ['entries', 'journal_usage'].map(
    (name) => `SELECT id FROM ${name} WHERE conversation = ?1`,
  )
  const records = database.prepare(`${entries} UNION ALL ${rows}`)
  return () => records.all(conversation).length
}

const begun = chatOf([{ role: 'user', content: 'hello' }])

test('two Foldgates on one machine both start; the one with the admin listener deletes, with its token', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({
    'foldgate.yaml': 'drain: {delay_s: 0, timeout_s: 5}\nadmin: {token_env: ADMIN_TOKEN}\n',
  })
  const { port, origin } = await adminPlace()
  const env = { ADMIN_TOKEN: 'PLANTED-TOKEN', FOLDGATE_STORE: `sqlite:${join(cwd, 'store.sqlite')}` }
  const args = ['--upstream', upstream.url, '--admin-port', String(port)]
  const first = await serve(args, { cwd, env })
  expect(first.stdout()).toContain(`"page":"${origin}/"`)
  const second = await serve(args, { cwd, env })
  const [line] = await second.said(/.*Foldgate goes on without it.*/)
  expect(line).toContain('"level":"warn"')
  expect(line).toContain('--admin-port (FOLDGATE_ADMIN_PORT)')
  // It was told by that line alone, under one that people read.
  expect(second.stdout()).toContain(
    `"page":"none: Port ${port} on 127.0.0.1 is taken by another program. Choose another one with --admin-port (FOLDGATE_ADMIN_PORT)."`,
  )
  // The other port of the first is taken, too, by what its probe knows as a Foldgate.
  const clients = new URL(first.origin)
  const third = await output(['--upstream', upstream.url, '--port', clients.port], { cwd, env })
  expect([third.code, third.stderr]).toEqual([
    1,
    `Port ${clients.port} on 127.0.0.1 is taken: a Foldgate listens there already, with its own settings. ` +
      `Use that one (${first.url}, or npm start -- run --attach --port ${clients.port} -- COMMAND), or choose another port with --port (FOLDGATE_PORT).\n`,
  ])

  const reply = await postChat(second.url, begun)
  expect(reply.status).toBe(200)
  const conversation = reply.header('x-foldgate-conversation') ?? ''
  const refused = await deleteConversation(origin, conversation)
  expect([refused.status, refused.code]).toEqual([401, 'admin_token_required'])
  const authorization = 'Bearer PLANTED-TOKEN'
  const held = recordsOf(join(cwd, 'store.sqlite'), conversation)
  // That a request was seen is recorded beside its answer, and its row of the journal is written a moment later: one that came
  // behind the deletion was there to be deleted again.
  await expect.poll(held).toBe(3)
  expect((await deleteConversation(origin, conversation, { authorization })).status).toBe(204)
  expect(held()).toBe(0)
  const again = await deleteConversation(origin, conversation, { authorization })
  expect([again.status, again.code]).toEqual([404, 'unknown_conversation'])

  for (const program of [first, second]) {
    program.child.kill('SIGTERM')
    expect(await program.ended).toBe(0)
    expect(program.stdout() + program.stderr()).not.toContain('PLANTED-TOKEN')
  }
})
