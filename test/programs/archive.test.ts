import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { output, serve } from './program.ts'

const settings = 'store: {url: "memory:"}\narchive: {dir: kept}\ndrain: {delay_s: 0, timeout_s: 5}\n'

test('foldgate purge deletes the files of the archive, too, and nothing else that lies there', async () => {
  const cwd = await temporaryFolder({
    'foldgate.yaml': settings,
    'kept/conversation-one.md': '# Conversation conversation-one\ntext',
    'kept/conversation-two.md': '# Conversation conversation-two\ntext',
    'kept/notes.md': 'mine',
  })
  const dir = join(cwd, 'kept')
  const one = await output(['purge', '--conversation', 'conversation-one'], { cwd })
  expect(one).toMatchObject({ code: 0, stderr: '' })
  expect(one.stdout).toMatch(/^Records are kept in memory/)
  expect(one.stdout).toContain(
    `\nDeleted 1 file of the conversation conversation-one from the archive ${dir}.\n`,
  )
  expect(await readdir(dir)).toEqual(['conversation-two.md', 'notes.md'])
  const wrong = await output(['purge', '--conversation', '../kept/notes'], { cwd })
  expect([wrong.code, wrong.stdout]).toEqual([1, ''])
  const all = await output(['purge'], { cwd })
  expect(all.stdout).toContain(`\nDeleted 1 file from the archive ${dir}.\n`)
  expect(await readdir(dir)).toEqual(['notes.md'])
})

test('an archive that cannot be written is told at the start, and keeps nobody waiting', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings, kept: '' })
  const foldgate = await serve(['--upstream', upstream.url], { cwd })
  const [line] = await foldgate.said(/.*archive\.dir: nothing can be written in .*/)
  expect(line).toContain('"level":"warn"')
  expect(line).toContain('(ENOTDIR)')
  expect((await postChat(foldgate.url, chatOf([{ role: 'user', content: 'hello' }]))).status).toBe(200)
  foldgate.child.kill('SIGTERM')
  expect(await foldgate.ended).toBe(0)
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
  const cwd = await temporaryFolder({ 'foldgate.yaml': settings, 'hanging.mjs': hanging })
  const env = { NODE_OPTIONS: `--import ${join(cwd, 'hanging.mjs')}` }
  const foldgate = await serve(['--upstream', upstream.url], { cwd, env })
  await foldgate.said(/.*archive\.dir: nothing can be written in .* \(no answer\)/)
  foldgate.child.kill('SIGTERM')
  expect(await foldgate.ended).toBe(0)
})
