import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, sources } from './pages.ts'

/** In which room, or file of it, a bound stands, and how docs/privacy.md speaks of what it bounds. */
const bounds = `
src/pipeline | FACTS_BYTES = 640 | facts of messages | half of \`limits.remembered_mb\`
src/models | PROMPTS_MAX = 20_000 | what prompts cost | 20,000 prompts
src/pipeline | LAST_BODY_IDLE_MS = 600_000 | the latest bodies | 10 minutes
src/pipeline | LAST_BODY_BYTES_MIN = 64 * 1024 | the latest bodies | 64 kB
src/tokens | REMEMBERED_MAX = 16_384 | the memo of pieces of text | 16,384
src/pipeline | TOOL_LISTS_MAX = 1_000 | sizes of tool lists | 1,000
src/pipeline | HELD_BYTES_MAX = 4 * 1024 * 1024 | the beginning of an answer | at most 4 MB
src/pipeline | BODY_BYTES_MAX = 32 * 1024 * 1024 | the beginning of an answer | 32 MB
src/pipeline | REPLY_BYTES_MAX = 32 * 1024 * 1024 | the beginning of an answer | 32 MB
src/pipeline/reply/reply-to.ts | EVENT_BYTES_MAX = 4 * 1024 * 1024 | the beginning of an answer | 4 MB
src/summaries | RECENT_MAX = 500 | summaries, or why | latest 500
src/summaries | JOBS_BYTES_MAX = 128 * 1024 * 1024 | which conversation a summary | 128 MB
src/telemetry/conversations/conversation-list.ts | CONVERSATIONS_MAX = 1_000 | figures of requests | 1,000 conversations
src/telemetry | ROWS_MAX = 20_000 | figures of requests | 20,000 requests
src/telemetry | OUTLINE_BYTES_MAX = 32 * 1024 * 1024 | what became of each | 32 MB
src/telemetry | BODY_BYTES_MAX = 64 * 1024 * 1024 | the bodies of these | 64 MB
src/models/models.ts | MODELS_MAX = 4096 | what is believed of a model | 4,096 models
src/models/models.ts | MODELS_MAX = 4096 | prompts that were refused | 4,096 models
src/models | CONVERSATIONS_MAX = 64 | prompts that were refused | 64 conversations
src/models/discovery/server-windows.ts | MODELS_MAX = 4_096 | windows that servers stated | 4,096 models
src/upstream | DIGESTS_MAX = 4096 | the HMAC of a request's | 4,096
`

test('what docs/privacy.md says is held in memory is what the source lets be held', async () => {
  const rows = (await readFile(join(root, 'docs/privacy.md'), 'utf8')).split('\n')
  for (const bound of bounds.trim().split('\n')) {
    const [place = '', constant = '', head = '', told = ''] = bound.split(' | ')
    const beginning = `| ${head}`
    const source = await (place.endsWith('.ts') ? readFile(join(root, place), 'utf8') : sources(place))
    const name = constant.slice(0, constant.indexOf(' = '))
    // Once: a bound of the same name elsewhere in the room would let this one go.
    const stated = source.split('\n').filter((line) => line.startsWith(`const ${name} = `))
    expect([place, ...stated]).toEqual([place, `const ${constant}`])
    expect([beginning, rows.find((row) => row.startsWith(beginning))]).toEqual([
      beginning,
      expect.stringContaining(told),
    ])
  }
})
