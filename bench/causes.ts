import type { Check } from './section.ts'

const afterChats =
  'The same process has inspected some ten thousand chats before, each of another conversation. What it remembers of them makes a collection of garbage dear, and what it only relays waits for that, too. A Foldgate that had seen few conversations had 0.94 to 1.03 of the requests of the minimal relay, 1.16 to 1.24 of its CPU and 1.10 to 1.14 of its added latency, in runs of its own.'

const inspecting =
  'Inspecting takes what it takes, and each chat here is a new conversation. With parts left out, one after the other, a chat through memory: took these µs of CPU beyond relaying: reading 14, profile, look-up and window 16, sending so that a refusal can be recovered 11, report and headers 8 to 20, learning from the answer 24, metrics, journal and page 13. It is spread over some two hundred functions: no single one of ours takes 2 % of the time. Remembering costs more than doing: each new conversation leaves some 10 kB, which the garbage collector copies twice, and in the file three values with three indexes each, about 100 µs.'

const smallBesideFixed =
  'At 1 MB what does not depend on the length counts: the view of up to 128,000 tokens is put together and sent with every turn. A turn that meets no collection of garbage takes 2.1 to 2.5 ms, the buffered relay 1.7.'

const collections =
  'A body counts as memory of the heap, so that every few turns bring a collection of what lives, some 60 MB, about 10 ms on one core: a turn that meets none takes 4.6 to 5.7 ms at 4 MB, of which 2.6 are the arrival of the bytes, 0.5 reading, 1.4 measuring and the view, and 1.3 sending. Buffers that are used again would spare most of it and are too dangerous (docs/decisions/memory-under-load.md).'

/**
 * Why a check misses its bound, by its id, for the result page. By hand, after whoever wrote it had looked: with a
 * profile, or by leaving a part out. What was not looked into stays unexplained.
 */
export const causes: Readonly<Partial<Record<Check['id'], string>>> = {
  'relay-throughput': afterChats,
  'relay-portkey': afterChats,
  'relay-latency': afterChats,
  'relay-cpu': afterChats,
  'chat-cpu': inspecting,
  'chat-portkey': inspecting,
  'stream-first-byte': `The streams are chats. ${inspecting} A model of an unknown window, as those of the streams are, costs a look at the answer besides.`,
  'warm-1mb': smallBesideFixed,
  'warm-4mb': collections,
  'warm-16mb': collections,
  'warm-parse-1mb': smallBesideFixed,
  'warm-parse-4mb': collections,
  'warm-parse-16mb': collections,
}
