import type { Measure } from '../section.ts'
import { direct } from '../subjects/direct.ts'
import { startMinimalRelay } from '../subjects/minimal-relay.ts'
import { startParseHashStringify } from '../subjects/parse-hash-stringify.ts'
import { byGrowth } from './warm/by-growth.ts'
import { byNews } from './warm/by-news.ts'
import { bySize, type WarmSubjects } from './warm/by-size.ts'
import { startCompactingFoldgate } from './warm/compacting.ts'

/** What the next turn costs of a conversation that is long and compacted already. */
export const warmTurns: Measure = {
  name: 'warm-turns',
  run: async (options) => {
    const { upstreamOrigin } = options
    const subjects: WarmSubjects = {
      direct: direct(upstreamOrigin),
      buffered: await startMinimalRelay(upstreamOrigin, true),
      parsing: await startParseHashStringify(upstreamOrigin),
      inMemory: await startCompactingFoldgate(upstreamOrigin, { store: 'memory:' }),
      foldgate: await startCompactingFoldgate(upstreamOrigin),
    }
    try {
      const sizes = await bySize(subjects, options)
      const growth = await byGrowth(subjects, options)
      const news = await byNews(subjects, options)
      return {
        name: 'warm-turns',
        title: 'The next turn of a long conversation',
        about:
          'A coding agent sends its whole conversation with every turn: sources, logs and test runs of about 1,000 messages a MB, each turn one call and its result longer (2 kB) and nothing else changed. Foldgate knows the conversation and compacts it to a window of 128,000 tokens. Every turn goes to every subject, one at a time; the time is that until the answer is whole. CPU time is that of the subject, compactions and what it does after its answer included.',
        tables: [sizes.table, ...growth.tables, ...news],
        checks: [...sizes.checks, growth.check],
      }
    } finally {
      for (const subject of Object.values(subjects)) await subject.stop()
    }
  },
}
