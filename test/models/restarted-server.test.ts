import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { startFoldgate } from '../support/foldgate.ts'
import { freePort } from '../support/free-port.ts'
import { postChat } from '../support/post-chat.ts'

/** A llama.cpp that was started with this context, on this port. */
async function llamaServer(port: number, contextTokens: number) {
  const server = createServer(({ url, method }, outgoing) => {
    const isProps = url?.startsWith('/props') === true
    const body = isProps
      ? { default_generation_settings: { n_ctx: contextTokens } }
      : { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
    outgoing.writeHead(isProps || method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(body))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

// With a larger context conversations went on being compacted under the small one until a minute was over, and what a
// compaction has taken out does not come back.
test('the first request that finds a server back, which was started anew, goes by its new window', async () => {
  const port = await freePort()
  const chat = { model: 'local', messages: [{ role: 'user', content: 'Hi' }] }
  let stop = await llamaServer(port, 8192)
  const foldgate = await startFoldgate({ upstream: `http://127.0.0.1:${port}/v1` })
  const windowNow = async () => (await postChat(foldgate.url, chat)).header('x-foldgate-window')
  try {
    expect(await windowNow()).toBe('8192;source=server')
    await stop()
    expect((await postChat(foldgate.url, chat)).status).toBe(502)
    stop = await llamaServer(port, 32_768)
    expect(await windowNow()).toBe('32768;source=server')
  } finally {
    await stop()
    await foldgate.close()
  }
})
