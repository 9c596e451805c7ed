import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

/** One request that is made to hold the loop, to take all memory, or both. */
export type Attack = {
  readonly name: string
  /** Of its body before it is packed, about; a quick run takes less. */
  readonly bytes: number
  /** Where it is tried. sidecar: the container of the example; roomy: a machine of several gigabytes, with bodies of 64 MB. */
  readonly room: 'sidecar' | 'roomy'
  /** The size itself is the attack: no run makes it smaller. */
  readonly isExact?: boolean
  /** One of its kind that `npm run programs` tries, too; the others are left to the whole run. */
  readonly isQuick?: boolean
  readonly coding?: Coding
  /** A profile beside the windows. */
  readonly profile?: 'archiving' | 'joining'
  /** Where it is sent, by default `chat/completions`. */
  readonly path?: AttackPath
  /** The chat, at this size. */
  readonly chat: (bytes: number) => Chat
  /** What the upstream answers to it, at this size: the answer may be the attack. */
  readonly answer?: (bytes: number) => HostileAnswer
}

export type AttackPath = 'chat/completions' | 'responses' | 'responses/compact' | 'messages'

/** An answer with status 200, in pieces as they are sent. */
export type HostileAnswer = {
  readonly type: 'text/event-stream' | 'application/json'
  readonly pieces: Iterable<Buffer>
}

/** A body in its parts; each text is JSON that goes as it is. */
export type Chat = {
  readonly model?: Json
  /** Members in front of the messages, each with its name. */
  readonly before?: readonly Json[]
  /** Messages, or the items of an input; or what stands for the array of them: such a chat does not grow. */
  readonly messages: readonly Json[] | Json
  readonly after?: readonly Json[]
}

export type Json = string | Buffer

/** What comes last of what is given, and what may come before it: it stays the last thing that is read. */
export type Given<Last> = readonly [last: Last] | readonly [more: Partial<Attack>, last: Last]

export const moreAndLast = <Last>(given: Given<Last>): readonly [Partial<Attack>, Last] =>
  given.length === 1 ? [{}, given[0]] : given

/** Ways to make attacks whose names begin so: in the container of the sidecar, where no other room is given. */
export function attackIn(prefix: string, common: Partial<Attack> = {}) {
  function attack(name: string, bytes: number, ...given: Given<Attack['chat']>): Attack {
    const [more, chat] = moreAndLast(given)
    return { name: `${prefix}${name}`, room: 'sidecar', bytes, chat, ...common, ...more }
  }
  /** A smaller one would stay below what it is to come near to. */
  function exactly(name: string, bytes: number, ...given: Given<Attack['chat']>): Attack {
    const [more, chat] = moreAndLast(given)
    return attack(name, bytes, { isExact: true, ...more }, chat)
  }
  return {
    attack,
    exactly,
    /** So many messages between two of a user's, nearly as many as are read. */
    manyMessages: (name: string, count: number, ...given: Given<(index: number) => Json>): Attack => {
      const [more, message] = moreAndLast(given)
      const bytes = count * Buffer.from(message(1)).length
      return exactly(name, bytes, more, () => ({ messages: [ask, ...many(count, message), ask] }))
    },
    /** So many elements in a list, nearly as many as are read of one message. */
    within: (name: string, count: number, element: string, chat: (list: Json) => Chat): Attack => {
      const bytes = count * (element.length + 1)
      return exactly(name, bytes, () => chat(listOf(element, bytes)))
    },
    deepIn: (where: string, chat: (deep: Json) => Chat): Attack =>
      exactly(`depth in ${where}`, 60_000, (bytes) => chat(nested(bytes))),
  }
}

/** The body of a chat, once as it is and once longer by one message, as its client's next request would be. */
export function bodyOf(
  { model = '"m"', before: first = [], messages, after = [] }: Chat,
  isGrown: boolean,
  path: AttackPath = 'chat/completions',
): Buffer {
  const grown = isGrown ? ['{"role":"assistant","content":"Yes."}', ask] : []
  const isWhole = typeof messages === 'string' || Buffer.isBuffer(messages)
  const all = isWhole ? messages : json`[${commas([...messages, ...grown])}]`
  const history = path.startsWith('responses') ? 'input' : 'messages'
  return json`{${commas([json`"model":${model}`, ...first, json`"${history}":${all}`, ...after])}}`
}

/** What a user says last. */
export const ask = '{"role":"user","content":"Go on."}'

/** A sentence of a file, as long contents repeat it. */
export const PROSE =
  'The file ledger.ts reads 412 rows, checks their sums and writes what is new to /var/lib/app. '

/** A conversation in which something stands in the middle: behind the task, with a question after it. */
export function around(...middle: readonly Json[]): Chat {
  const task = '{"role":"user","content":"Read the sources and say what they do."}'
  return { messages: ['{"role":"system","content":"You help with code."}', task, ...middle, ask] }
}

/** A short conversation behind something else that the body says. */
export const behind = (...members: readonly Json[]): Chat => ({ ...around(), before: members })

/** A short conversation before something else that the body says. */
export const before = (...members: readonly Json[]): Chat => ({ ...around(), after: members })

/** A text as often as it fits. */
export function times(text: string, bytes: number): Buffer {
  const one = Buffer.from(text)
  return Buffer.alloc(Math.max(1, Math.floor(bytes / one.length)) * one.length, one)
}

export const prose = (bytes: number): Buffer => times(PROSE, bytes)

/** An array of one item as often as it fits. */
export const listOf = (item: string, bytes: number): Buffer => json`[${times(`${item},`, bytes)}${item}]`

/** So many of something, one after the other. */
export const many = <One>(count: number, one: (index: number) => One): One[] =>
  Array.from({ length: count }, (_, index) => one(index))

/** One kind after the other, over and over. */
export const alternating =
  (...kinds: readonly ((index: number) => Json)[]): ((index: number) => Json) =>
  (index) =>
    kinds[index % kinds.length]?.(index) ?? ask

/** JSON with texts filled in as they are. */
export function json(parts: TemplateStringsArray, ...values: readonly Json[]): Buffer {
  const pieces = parts.flatMap((part, index) => [part, values[index] ?? ''])
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}

/** With commas between them. */
export function commas(items: readonly Json[]): Buffer {
  const pieces = items.flatMap((item, index) => (index === 0 ? [item] : [',', item]))
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
}

/** Arrays within arrays, as deep as so many bytes make them. */
export const nested = (bytes: number): Buffer => json`${times('[', bytes / 2)}${times(']', bytes / 2)}`

/** By its name in `content-encoding`. */
export type Coding = keyof typeof packers

/** As small as it gets, for what says the same again and again. */
export const packed = (bytes: Buffer, coding: Coding): Buffer => packers[coding](bytes)

const smallest = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 }

const packers = {
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 9 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: smallest }),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
} as const
