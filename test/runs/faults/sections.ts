import { clockFaults } from './clock-faults.ts'
import type { Section } from './fault.ts'
import { nonsense, refusals, brokenConnections, slowAnswers } from './upstream-faults.ts'
import { diskFaults } from './disk-faults.ts'
import { killFault, logFaults, signalFaults } from './process-faults.ts'
import { startFaults } from './start-faults.ts'
import { redisFaults, sqliteClockFaults, sqliteFaults } from './store-faults.ts'
import { summaryFaults } from './summary-faults.ts'
import { observeUpstreamFault, type UpstreamFault } from './upstream-stand.ts'

const STORE =
  'A conversation that stands compacted goes on while the fault lasts and after it, and once more after a restart. Every request is answered as if nothing were wrong; what is lost is at most what Foldgate knew of the conversation, and what is sent of it begins with the same bytes. A store that has failed is left alone for a while, and a request by then may go by an id of its own.'

/** Everything that is made to go wrong, in the order of the page. */
export const sections: readonly Section[] = [
  upstreamSection(
    'An upstream that breaks off',
    'Each kind of request meets the fault: a chat completion that goes on as it came, plain and streamed, one that is compacted, and another path that is relayed unread. All that came of an answer reaches the client. After a connection that broke nothing is sent again: it costs money, and clients know best whether to repeat it. Only a stream that is held, and cut before its first event or ended there, is asked for once more without streaming.',
    brokenConnections,
  ),
  upstreamSection('An upstream that is slow', 'What comes is passed on as it comes.', slowAnswers),
  upstreamSection(
    'An upstream that talks nonsense',
    'What is HTTP is passed on as it came, whatever it says. Every such connection is given up, so that nothing of it is taken for another answer.',
    nonsense,
  ),
  upstreamSection(
    'An upstream that refuses',
    "The refusal is the upstream's own, byte for byte. Only one of a compacted request that may be Foldgate's doing is followed by a second attempt, and one of a large prompt in words that no rule can read by one at half of its size. Where the size was not the reason, that costs one request more an hour for each model and wording, and the client waits for both; where it was, the conversation goes on from half of what was sent until its window is known.",
    refusals,
  ),
  {
    title: 'The summary model',
    about:
      'It fails in the same ways, with summaries made ahead of need (`summary.mode: background`) and while the request waits (`blocking`). Every request has a good answer of its own upstream. What the client sees is of the request at which the summary was due.',
    faults: summaryFaults,
  },
  { title: 'SQLite, while it is used', about: STORE, faults: sqliteFaults },
  { title: 'Redis, while it is used', about: STORE, faults: redisFaults },
  {
    title: 'The disk',
    about:
      'The store and the archive (`archive.dir`) are on a disk of a few megabytes. A conversation goes on while the fault lasts and after it, and another one begins meanwhile.',
    faults: diskFaults,
  },
  {
    title: 'The store, at the start',
    about:
      'Without its store Foldgate starts and keeps its records in memory, unless `store.required` is set.',
    faults: startFaults,
  },
  {
    title: 'The process',
    about:
      'A program of its own, with conversations and streams under way. The upstream takes four requests at a time; the others are in line. With `drain.delay_s: 0`, so that SIGTERM ends it at once; off loopback it takes newcomers for five seconds more by default.',
    faults: [killFault, ...signalFaults, ...logFaults],
  },
  {
    title: 'The clock',
    about:
      'Foldgate measures waits with a clock that never jumps; what holds for a while, and is kept beyond the process, goes by the time of day.',
    faults: [...clockFaults, ...sqliteClockFaults],
  },
]

function upstreamSection(title: string, about: string, faults: readonly UpstreamFault[]): Section {
  return {
    title,
    about,
    faults: faults.map((fault) => ({ name: fault.name, observe: () => observeUpstreamFault(fault) })),
  }
}
