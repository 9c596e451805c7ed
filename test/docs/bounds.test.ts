import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './pages.ts'

/** Where a bound stands in the source, and how docs/privacy.md speaks of what it bounds. */
const bounds: readonly (readonly [file: string, constant: string, row: string, told: string])[] = [
  ['src/app.ts', 'FACTS_ENTRIES_MAX = 50_000', '| facts of messages', '50,000 messages'],
  ['src/app.ts', 'MADE_CHARS_MAX = 32 * 1024 * 1024', '| what was made of messages', '32 million characters'],
  ['src/app.ts', 'PROMPTS_MAX = 20_000', '| what prompts cost', '20,000 prompts'],
  ['src/app.ts', 'LAST_BODY_IDLE_MS = 600_000', '| the latest bodies', '10 minutes'],
  ['src/app.ts', 'LAST_BODY_BYTES_MIN = 64 * 1024', '| the latest bodies', '64 kB'],
  ['src/tokens/bpe-counter.ts', 'rememberedMax = 16_384', '| the memo of pieces of text', '16,384'],
  ['src/proxy/recall/recall-offer.ts', 'TOOL_LISTS_MAX = 1_000', '| sizes of tool lists', '1,000'],
  [
    'src/request/send/judge.ts',
    'HELD_BYTES_MAX = 4 * 1024 * 1024',
    '| the beginning of an answer',
    'at most 4 MB',
  ],
  [
    'src/request/reply/whole-answer.ts',
    'BODY_BYTES_MAX = 32 * 1024 * 1024',
    '| the beginning of an answer',
    '32 MB',
  ],
  [
    'src/request/reply/join-stream.ts',
    'REPLY_BYTES_MAX = 32 * 1024 * 1024',
    '| the beginning of an answer',
    '32 MB',
  ],
  [
    'src/request/reply/join-stream.ts',
    'EVENT_BYTES_MAX = 4 * 1024 * 1024',
    '| the beginning of an answer',
    '4 MB',
  ],
  ['src/summaries/summary-writer.ts', 'RECENT_MAX = 500', '| summaries, or why', 'latest 500'],
  [
    'src/summaries/summary-writer.ts',
    'JOBS_BYTES_MAX = 128 * 1024 * 1024',
    '| which conversation a summary',
    '128 MB',
  ],
  [
    'src/activity/conversations/board.ts',
    'CONVERSATIONS_MAX = 1_000',
    '| figures of requests',
    '1,000 conversations',
  ],
  ['src/activity/conversations/board.ts', 'ROWS_MAX = 20_000', '| figures of requests', '20,000 requests'],
  [
    'src/activity/conversations/held-content.ts',
    'OUTLINE_BYTES_MAX = 32 * 1024 * 1024',
    '| what became of each',
    '32 MB',
  ],
  [
    'src/activity/conversations/held-content.ts',
    'BODY_BYTES_MAX = 64 * 1024 * 1024',
    '| the bodies of these',
    '64 MB',
  ],
  ['src/models/models.ts', 'MODELS_MAX = 4096', '| what is believed of a model', '4,096 models'],
  ['src/models/suspicions.ts', 'CONVERSATIONS_MAX = 64', '| prompts that were refused', '64 conversations'],
  [
    'src/models/discovery/server-windows.ts',
    'MODELS_MAX = 4_096',
    '| windows that servers stated',
    '4,096 models',
  ],
  ['src/http/scope.ts', 'DIGESTS_MAX = 4096', "| the HMAC of a request's", '4,096'],
]

test('what docs/privacy.md says is held in memory is what the source lets be held', async () => {
  const rows = (await readFile(join(root, 'docs/privacy.md'), 'utf8')).split('\n')
  for (const [file, constant, beginning, told] of bounds) {
    const source = await readFile(join(root, file), 'utf8')
    expect([file, constant, source.includes(`const ${constant}\n`)]).toEqual([file, constant, true])
    expect([beginning, rows.find((row) => row.startsWith(beginning))]).toEqual([
      beginning,
      expect.stringContaining(told),
    ])
  }
})
