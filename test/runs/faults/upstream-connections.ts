import { setTimeout } from 'node:timers/promises'
import type { Failing, UpstreamFault } from './upstream-stand.ts'
import { after, all, end, none, part, reset, stay, type Act } from './wire/acts.ts'
import { textOfAnswer, wholeOnWire, type GoodAnswer } from './wire/good-answer.ts'
import type { Play } from './wire/raw-upstream.ts'

const streams = ['streamed', 'compacted, streamed'] as const
const bodies = ['plain', 'compacted', 'relayed'] as const
/** Kinds whose answer is never held back. */
const atOnce = ['plain', 'streamed', 'relayed'] as const

/** An upstream that ends its answer before it should, or never begins it. */
export const brokenConnections: readonly UpstreamFault[] = [
  { name: 'refuses the connection', isClosed: true, fails: () => ({ play: null, owed: null, isAll: false }) },
  { name: 'resets before the headers', fails: () => none(reset) },
  { name: 'closes before the headers', fails: () => none(end) },
  { name: 'resets in the middle of the headers', fails: ({ head }) => none(after(head.slice(0, -8), reset)) },
  { name: 'resets after the headers', fails: ({ head }) => part('', after(head, reset)) },
  {
    name: 'resets in the middle of a body of stated length',
    kinds: bodies,
    fails: (answer) => half(answer, reset),
  },
  { name: 'closes in the middle of the answer', fails: (answer) => half(answer, end) },
  {
    name: 'resets in the middle of a chunk',
    kinds: streams,
    fails: (answer) => {
      const [first = '', second = ''] = answer.pieces
      const begun = answer.framed(second).slice(0, -10)
      const owed = first + begun.slice(begun.indexOf('\r\n') + 2)
      return part(owed, after(answer.head + answer.framed(first) + begun, reset))
    },
  },
  {
    name: 'resets in the middle of an event',
    kinds: streams,
    fails: (answer) => {
      const owed = textOfAnswer(answer).slice(0, 300)
      return part(owed, after(answer.head + answer.framed(owed), reset))
    },
  },
  {
    name: 'resets after the last event, before the end of the body',
    kinds: streams,
    fails: (answer) =>
      part(textOfAnswer(answer), after(wholeOnWire(answer).slice(0, -answer.end.length), reset)),
  },
  {
    name: 'resets a body that ends with its connection',
    fails: (answer) => {
      const owed = answer.pieces.slice(0, 2).join('').slice(0, -5)
      return part(owed, after(withoutLength(answer) + owed, reset))
    },
  },
  {
    name: 'closes a body that ends with its connection',
    fails: (answer) => all(textOfAnswer(answer), after(withoutLength(answer) + textOfAnswer(answer), end)),
  },
  {
    name: 'resets a connection that was kept, as it is used again',
    isOnKeptConnection: true,
    fails: () => none(reset),
  },
]

/** An upstream that takes its time. */
export const slowAnswers: readonly UpstreamFault[] = [
  { name: 'never answers (`limits.first_byte_s`)', limits: { first_byte_s: 1 }, fails: () => none(stay) },
  {
    name: 'falls silent after the headers (`limits.idle_s`)',
    limits: { idle_s: 1 },
    fails: ({ head }) => part('', after(head, stay)),
  },
  {
    name: 'falls silent in the middle of the answer (`limits.idle_s`)',
    limits: { idle_s: 1 },
    fails: (answer) => half(answer, stay),
  },
  {
    name: 'gives a byte a second, for longer than `limits.idle_s`',
    limits: { idle_s: 3 },
    fails: (answer) => all(textOfAnswer(answer), trickle(answer, 4)),
  },
  {
    name: 'gives the next byte once the client has the one before',
    kinds: atOnce,
    fails: (answer, _kind, clientHas) =>
      all(textOfAnswer(answer), async (socket) => {
        socket.write(answer.head)
        let given = 0
        for (const character of textOfAnswer(answer)) {
          socket.write(answer.framed(character))
          given += 1
          await clientHas(given)
        }
        socket.write(answer.end)
      }),
  },
]

// --- internal ---

/** The first half of an answer. */
function half(answer: GoodAnswer, act: Act): Failing {
  const given = answer.pieces.slice(0, answer.pieces.length / 2)
  return part(given.join(''), after(answer.head + given.map(answer.framed).join(''), act))
}

function withoutLength({ head }: GoodAnswer): string {
  return head.replace(/^(?:content-length|transfer-encoding): .*\r\n/m, '')
}

/** The last bytes of the body a second apart, all else at once. */
function trickle(answer: GoodAnswer, last: number): Play {
  const bytes = wholeOnWire(answer)
  // The end of the last chunk is no part of what the client is owed.
  const bodyEnd = bytes.lastIndexOf(textOfAnswer(answer).slice(-last)) + last
  return async (socket) => {
    socket.write(bytes.slice(0, bodyEnd - last))
    for (const character of bytes.slice(bodyEnd - last, bodyEnd)) {
      await setTimeout(1_000)
      socket.write(character)
    }
    socket.write(bytes.slice(bodyEnd))
  }
}
