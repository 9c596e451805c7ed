import { expect, test } from 'vitest'
import { completion, fakeUpstream } from '../support/fake-upstream.ts'
import { startFoldgate } from '../support/foldgate.ts'
import { postChat } from './post-chat.ts'

test('a model name of any length is relayed, and kept and logged only in short', async () => {
  // Each unknown model was remembered by its whole name so that it is warned of once: twenty requests with
  // names of 50 MB ended the process.
  const upstream = await fakeUpstream(completion('fine'))
  const foldgate = await startFoldgate({ upstream: upstream.url })
  try {
    for (const end of ['one', 'two']) {
      const body = JSON.stringify({
        model: 'm'.repeat(2_000_000) + end,
        messages: [{ role: 'user', content: 'hello' }],
      })
      const reply = await postChat(foldgate.url, body)
      expect(reply.status).toBe(200)
      expect(upstream.requests.at(-1)?.body.toString()).toBe(body)
    }
    const warnings = foldgate.log.filter((line) => line.includes('window'))
    expect(warnings).toHaveLength(2)
    for (const line of foldgate.log) expect(line.length).toBeLessThan(1_000)
  } finally {
    await foldgate.close()
    await upstream.close()
  }
})
