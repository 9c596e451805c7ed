import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { serve } from '../../programs/program.ts'
import { postChat } from '../../support/post-chat.ts'
import { openRaw } from '../../support/raw-client.ts'
import { fakeUpstream } from '../../support/fake-upstream.ts'

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))

/** With so few a process that serves nobody has some dozens left. */
const DESCRIPTORS_MAX = 64

const chat = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }

// Clients hold streams open until Foldgate has no file descriptor left for another connection to the upstream. The next
// one was told that the upstream cannot be reached, and its operator looked for the fault there.
test('a process without a free file descriptor says so, and serves again once there are some', async () => {
  let isQuick = false
  const upstream = await fakeUpstream((_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
    if (isQuick) outgoing.end('data: [DONE]\n\n')
  })
  onTestFinished(upstream.close)
  const cwd = await temporaryFolder({})
  const limited = join(cwd, 'limited.sh')
  await writeFile(limited, `ulimit -n ${DESCRIPTORS_MAX}\nexec "${process.execPath}" "${main}" "$@"\n`)
  const foldgate = await serve(['--upstream', upstream.url, '--store', 'memory:'], {
    cwd,
    command: ['/bin/sh', limited],
  })

  // A request takes two descriptors, one to its client and one to the upstream. If the last one is left for a client, it is
  // the client that is turned away; then this connection makes room for one more.
  const idle = await openRaw(Number(foldgate.port))
  onTestFinished(() => {
    idle.destroy()
  })
  const leaving = new AbortController()
  let refusal: Response | null = null
  for (let at = 0; at < DESCRIPTORS_MAX && refusal === null; at += 1) {
    const answer = await fetch(`${foldgate.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(chat),
      signal: leaving.signal,
    }).catch(() => null)
    if (answer === null) idle.destroy()
    else if (answer.status !== 200) refusal = answer
  }
  expect(refusal?.status).toBe(503)
  expect(Number(refusal?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refusal?.json()).toMatchObject({
    error: { code: 'overloaded', message: expect.stringContaining('ulimit -n') },
  })

  leaving.abort()
  isQuick = true
  await expect.poll(async () => (await postChat(foldgate.url, chat)).status).toBe(200)
  expect(foldgate.stderr()).toBe('')
})
