import type { Check } from './section.ts'

const afterChats =
  'The same process inspects tens of thousands of chats between its loads, each of another conversation, and is somewhat slower at what it only relays afterwards: the row of a Foldgate that inspects none shows by how much. What is left of it is the router, the gates and the metrics, 3 µs of CPU a request.'

const inspecting =
  'Inspecting takes what it takes, and each chat here is a new conversation. It is spread over some three hundred functions, none of which takes 3 % of the time; what V8 and Node do for them takes five times as much: about 80 promises a request, 90 kB of objects that live for a moment (a relayed request has 30), look-ups in maps, and their collection. Three fifths of what a chat costs through memory: beyond relaying are that, a tenth is reading it, a tenth hashes. Remembering it in a file takes another third: a request dirties one page of the index and a third of one of values and journal, and each page is written twice.'

const smallBesideFixed =
  'At 1 MB what does not depend on the length counts. Measured within the process, in the middle of a turn: 0.4 ms to recognise what was read before, 1.0 to look up, to count 2 kB of new text and to put the view of up to 128,000 tokens together, 0.2 to copy it, 0.6 to describe what was sent and to answer; the buffered relay takes 1.7 in all.'

const parsing =
  'The bound is not in reach over HTTP: passing the same body on buffered takes more than that, or nearly as much. What Foldgate does beyond passing on is a fifth of parsing, hashing and stringifying at 1 MB, and a tenth at 4 MB.'

const collections =
  'A body counts as memory of the heap. What is new is collected every few megabytes, but every tenth turn still meets a collection of all that lives, some 35 to 50 MB, about 10 to 30 ms of work beside it on one core. Buffers that are used again would spare most of it and are too dangerous (docs/decisions/memory-under-load.md).'

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
  'stream-first-byte': `The streams are chats. ${inspecting}`,
  'warm-1mb': smallBesideFixed,
  'warm-4mb': collections,
  'warm-16mb': collections,
  'warm-parse-1mb': parsing,
  'warm-parse-4mb': `${parsing} ${collections}`,
  'warm-parse-16mb': `${parsing} ${collections}`,
}
