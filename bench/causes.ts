import type { Check } from './section.ts'

const relaying =
  'Router, gates and metrics cost some 3 µs of CPU a request beside the 40 of the minimal relay: that explains 0.93. The ratios of single rounds lie far apart (above); what their median lies lower by is not established.'

const smallChat =
  'By a profile of such a load: a fifth is the way through Node and undici, which the relay has, too; 22 % the store (committing 7, looking up 6, writing 4, the journal 4, keys 1), 10 % reading the body, 6 % the window and the measure, 8 % sending and judging, 12 % telling (the row and the headers 5, what is learnt 3, metrics 2, the journal’s text 1), 7 % garbage, and the rest lies in some 370 functions of a microsecond each. By `perf`, without names: 23 % is compiled JavaScript, 55 % Node itself (SQLite, V8’s builtins and collector, the parser, SHA-256), 18 % the kernel; no symbol takes more than 5. By `strace` the store writes 8 times a request, locks 5 times and reads twice (four pages of its file): with `--store memory:` the CPU is 0.75 of it. V8’s own threads, compiling and collecting, take 100 of 600 µs in the first five seconds of a load and 35 of 420 after fifteen. A larger young generation, collecting by one thread, compiling without one, a larger cache of the file and values that wait 100 ms for one another changed nothing that the rounds would show.'

const firstBytes =
  'Head and first chunk come from the upstream one after the other; of a model that the table lists elsewhere the head waits for the first output, since a 200 may be an overflow. Whether it waits is not what takes the time: five short rounds by themselves had 1.30 with that and 2.10 without it. Before, each stream is read, looked up, measured and told as every chat is (see `chat-cpu`). The rounds lie too far apart to establish more.'

const agentRun =
  'By a profile of such runs: a third of the time went into reading the passages of all folded messages anew at each compaction, which are remembered now; in runs by themselves a request then took 0.65 of what it had, in turns with the other one 0.82. What is left is spread: counting new text 7 %, weighing passages and names for the recap 12, garbage 4, the store 6.'

const responses =
  'By medians a response takes 34 µs more than a chat, where it took 38 in the build before: what both share shrank by a fifth, so the rest weighs more. The rounds lie between 0.95 and 1.17.'

const oneChunk =
  'One chunk of 450, in one round of three: what the process did just then was not looked into.'

const smallBesideFixed =
  'At 1 MB what does not depend on the length counts. Measured within the process, in the middle of a turn: 0.4 ms to recognise what was read before, 1.0 to look up, to count 2 kB of new text and to put the view of up to 128,000 tokens together, 0.2 to copy it, 0.6 to describe what was sent and to answer; the buffered relay takes 1.7 in all. Between the turns here the process waits for the others, and afterwards all of it, the relay too, takes up to twice as long.'

const parsing =
  'Hardly in reach over HTTP below 16 MB: the buffered relay itself takes a fifth of parsing, hashing and stringifying at 1 MB, and 0.09 to 0.15 of it at 4 MB, in two runs: little or nothing is left to look into the body with.'

const collections =
  'Some 3 ms between receiving and sending do not depend on the length, and weigh at 4 MB still. A body counts as memory of the heap, and the last ones are kept: V8 collects all that lives, 35 to 80 MB, some 40 ms of work on the one core, in one turn in ten or so; that makes the longest turns. The build before this one had a collector of its own, and took 0.85 of the CPU in such turns, at the price that docs/decisions/memory.md tells; leaving growth to V8 alone took 1.15 times as much. Buffers that are used again would spare most of it and are too dangerous. At 16 MB a turn takes 36 ms without and 115 with such a collection, and about every second has one: so the median of a run is the one or the other (three builds by themselves, 24 turns, three times: medians of 39 to 110, CPU 78, 79 and 86 ms).'

const growing =
  "By stages, as Node and undici tell of them, in runs by themselves: at the first sizes no message is folded, so more are sent as more come, 540 at 0.46 MB and 980 at 0.9, and what lies between receiving and sending takes 2.1 and 2.7 ms. From there on about 1,000 are sent and it takes 2.7 to 3.1, whatever the length. Without the first size the medians grew 1.23 and 0.91 times as fast as the relay's, in two runs of the bench: beyond it nothing is established. There receiving takes Foldgate 0.3 ms more for each MB; the relay 0.16, and 0.15 more to send it."

const idle =
  'Libraries, as one process that loads one after the other tells of itself: 41 MB are Node, 59 with node:http as a module (which brings the fetch of Node along), 73 with undici, 83 with zod, 88 with the rest of them, and no line of Foldgate. The minimal relay has 89. Of what Foldgate adds 20 MB are room for new objects that reading 380 files has made V8 take, and that it keeps while nothing happens: with `--max-semi-space-size=2` it was 98.'

const oneAtATime =
  'Between events of Node and undici, within the process: 5 µs more until the request is sent (hono, the gates, the metrics), and 4 more from the head of the answer to its end, of 150 µs that the relay adds. Further rounds by themselves had 0.85 to 1.34, with medians of 1.05 to 1.14.'

const uncollected =
  'Garbage is collected when V8 likes, and nothing is allocated after such a load that would make it. The build before this one collected everything two seconds after: 664 MB at most and 378 ten seconds later instead of 799 and 628, and one small request could have it do so whenever it liked (docs/decisions/memory.md).'

/**
 * Why a check misses its bound, by its id, for the result page. By hand, after whoever wrote it had looked: with a
 * profile, or by leaving a part out. What was not looked into stays unexplained.
 */
export const causes: Readonly<Partial<Record<Check['id'], string>>> = {
  'relay-throughput': relaying,
  'relay-portkey': relaying,
  'relay-latency': oneAtATime,
  'relay-cpu': relaying,
  'chat-cpu': smallChat,
  'chat-portkey': smallChat,
  'chat-throughput': smallChat,
  'response-cpu': responses,
  'stream-first-byte': firstBytes,
  'stream-chunks': oneChunk,
  'idle-memory': idle,
  'beside-agent': agentRun,
  'memory-in-flight': uncollected,
  'memory-after': uncollected,
  'memory-in-flight-unchanged': uncollected,
  'memory-after-unchanged': uncollected,
  'warm-1mb': smallBesideFixed,
  'warm-4mb': collections,
  'warm-16mb': collections,
  'warm-slope': growing,
  'warm-parse-1mb': parsing,
  'warm-parse-4mb': parsing,
  'warm-parse-16mb': collections,
}
