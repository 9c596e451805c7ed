import * as fc from 'fast-check'
import { type Dice, openDice } from '../../src/commands/demo/dice.ts'
import { sampleHits, samplePath, sampleSource, sampleTestRun } from '../../src/commands/demo/tools.ts'

/** A message as a client sends it, valid or not. */
export type TestMessage = { role: string; [field: string]: unknown }

/** At most: user turns, tool rounds a turn, calls a round, characters of a long text; most are far shorter. */
const defaults = { turnsMax: 6, roundsMax: 5, callsMax: 3, textCharactersMax: 6000 }

/**
 * Conversations that OpenAI accepts: system messages or none, tool rounds with parallel calls answered in any
 * order, ids used again in later rounds, content as string, parts or null, long and foreign texts, images.
 */
export function validConversation(size: Partial<typeof defaults> = {}): fc.Arbitrary<TestMessage[]> {
  const { turnsMax, roundsMax, callsMax, textCharactersMax } = { ...defaults, ...size }
  const text = anyText(textCharactersMax)
  const turn = fc
    .tuple(
      fc.array(userMessage(text), { minLength: 1, maxLength: 2, size: 'max' }),
      fc.array(toolRound(text, callsMax), { maxLength: roundsMax, size: 'max' }),
      fc.option(plainAnswer(text), { freq: 4 }),
      fc.option(systemMessage(text), { freq: 12, nil: null }),
    )
    .map((pieces) => [pieces[0], pieces[1].flat(), pieces[2] ?? [], pieces[3] ?? []].flat())
  return fc
    .tuple(
      fc.array(systemMessage(text), { maxLength: 2 }),
      fc.array(turn, { minLength: 1, maxLength: turnsMax, size: 'max' }),
    )
    .map(([system, turns]) => system.concat(turns.flat()))
}

/**
 * Conversations with damage: calls unanswered, results orphaned, doubled or moved, ids repeated or missing,
 * content empty or null, system messages alone or in the middle, no leading user, users in a row, empty lists of
 * calls. Some come out valid all the same.
 */
export function brokenConversation(size: Partial<typeof defaults> = {}): fc.Arbitrary<TestMessage[]> {
  const text = anyText({ ...defaults, ...size }.textCharactersMax)
  const damages = fc.array(fc.tuple(fc.nat(), damage(text)), { minLength: 1, maxLength: 8 })
  const damaged = fc
    .tuple(validConversation(size), damages)
    .map(([messages, all]) =>
      all.reduce(
        (left, [place, wreck]) => (left.length > 0 ? wreck(left, place % left.length) : left),
        messages,
      ),
    )
    // Of a short one nothing may be left, which is another matter: no request to be rewritten.
    .filter((messages) => messages.length > 0)
  const unruly = fc.array(fc.oneof(systemMessage(text), userMessage(text), plainAnswer(text), orphan(text)), {
    minLength: 1,
    maxLength: 12,
  })
  const onlySystem = fc.array(systemMessage(text), { minLength: 1, maxLength: 4 })
  const usersOnly = fc.array(userMessage(text), { minLength: 1, maxLength: 12 })
  return fc.oneof(
    { arbitrary: damaged, weight: 6 },
    { arbitrary: unruly, weight: 2 },
    { arbitrary: onlySystem, weight: 1 },
    { arbitrary: usersOnly, weight: 1 },
  )
}

/**
 * The run of a coding agent, the same for the same seed: a system message, one user message, then tool rounds with
 * listings, sources, searches, edits and test runs with colours and progress bars. Ends with a result, at a request
 * point. `scale` makes the results longer; at 1 a round is some 200 to 1,500 tokens.
 */
export function longRun(rounds: number, seed: number, scale = 1): TestMessage[] {
  const dice = openDice(seed)
  const task = `The nightly run fails since build ${dice.hex(10)}. Start at ${samplePath(dice)} and repair it.`
  const messages: TestMessage[] = [
    { role: 'system', content: 'You repair programs. Use the tools.' },
    { role: 'user', content: task },
  ]
  for (let round = 1; round <= rounds; round += 1) {
    const calls = Array.from({ length: dice.below(6) === 0 ? 2 : 1 }, (_, index) => ({
      id: `call_${round}_${index}`,
      ...agentCall(dice, scale),
    }))
    messages.push({
      role: 'assistant',
      content: dice.below(3) === 0 ? null : `Next I look at ${samplePath(dice)}, for ${dice.hex(6)}.`,
      tool_calls: calls.map(({ id, name, input }) => wireCall(id, name, JSON.stringify(input))),
    })
    for (const { id, output } of calls) messages.push({ role: 'tool', tool_call_id: id, content: output })
  }
  return messages
}

/** The messages of every request that led to a conversation: before each assistant message, and at the end. */
export function* growing<Message extends { readonly role?: unknown }>(
  conversation: readonly Message[],
): Generator<Message[]> {
  for (const [index, message] of conversation.entries()) {
    if (message.role === 'assistant' && index > 0) yield conversation.slice(0, index)
  }
  if (conversation.length > 0) yield [...conversation]
}

/** One call out of five kinds, with what the tool returns; `scale` makes that longer. */
function agentCall(dice: Dice, scale: number): { name: string; input: object; output: string } {
  const lines = (from: number, spread: number) => Math.max(1, Math.round((from + dice.below(spread)) * scale))
  const path = samplePath(dice)
  switch (dice.below(5)) {
    case 0:
      return { name: 'list_files', input: { path }, output: sampleListing(dice, lines(8, 30)) }
    case 1:
      return { name: 'read_file', input: { path }, output: sampleSource(dice, lines(20, 80)) }
    case 2: {
      const input = { pattern: dice.hex(6) }
      return { name: 'search', input, output: sampleHits(dice, dice.hex(6), lines(6, 20)) }
    }
    case 3: {
      const input = { path, old: sampleSource(dice, lines(4, 8)), new: sampleSource(dice, lines(4, 12)) }
      return { name: 'edit_file', input, output: `${path} was changed.` }
    }
    default:
      return { name: 'run_tests', input: { path }, output: sampleTestRun(dice, path, lines(12, 30)) }
  }
}

/** The listing of a folder. */
const sampleListing = (dice: Dice, files: number): string =>
  Array.from({ length: files }, () => {
    const size = String(dice.below(90_000)).padStart(6)
    return `-rw-r--r-- 1 build build ${size} Mar ${dice.below(28) + 1} ${samplePath(dice)}`
  }).join('\n')

export type AiderChatOptions = {
  readonly requests: number
  /** Where the reminder stands: in a system message of its own, or at the end of the user's newest message. */
  readonly reminder: 'message' | 'inside'
  /** Lines of the file that is being edited. */
  readonly fileLines: number
  /** Lines of each answer. */
  readonly answerLines: number
  /** What stands between the system message and the history: examples, or a map of the repository. */
  readonly before?: readonly TestMessage[]
  /** What the user's messages begin with. */
  readonly subject?: string
}

/**
 * The requests of a chat with a client that puts its files and a reminder behind the history: what was asked and answered
 * comes before them at the next request, and the file has been edited meanwhile.
 */
export function aiderChat(options: AiderChatOptions): readonly (readonly TestMessage[])[] {
  const { requests, reminder, fileLines, answerLines, before = [], subject = 'Step' } = options
  const dice = openDice(5)
  const file = sampleSource(dice, fileLines)
  const rules = 'Answer with search/replace blocks only.'
  const history: TestMessage[] = []
  return Array.from({ length: requests }, (_, turn) => {
    const asked = `${subject} ${turn}: make the settlement retry at most ${turn} times.`
    const sent = [
      { role: 'system', content: 'You are an expert programmer. Edit the files you are given.' },
      ...before,
      ...history,
      { role: 'user', content: `These are the files, as they are now:\n// edited ${turn} times\n${file}` },
      { role: 'assistant', content: 'Ok, any changes I propose are to these files.' },
      { role: 'user', content: reminder === 'inside' ? `${asked}\n\n${rules}` : asked },
      ...(reminder === 'message' ? [{ role: 'system', content: rules }] : []),
    ]
    history.push(
      { role: 'user', content: asked },
      { role: 'assistant', content: sampleSource(dice, answerLines) },
    )
    return sent
  })
}

// A picture of one pixel.
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const oddTexts = [
  '',
  ' ',
  '\n',
  '你好，世界。',
  '<|endoftext|>',
  '"}],"messages":[',
  '\u0000\u001B[31m',
  '😀',
]

function anyText(charactersMax: number): fc.Arbitrary<string> {
  const anyLength = fc.integer({ min: 1, max: charactersMax })
  const repeated = fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), anyLength)
    .map(([unit, length]) => unit.repeat(Math.max(1, Math.floor(length / unit.length))))
  const written = fc
    .tuple(fc.nat({ max: 1_000_000 }), anyLength)
    .map(([seed, length]) => sampleSource(openDice(seed), Math.ceil(length / 40)).slice(0, length))
  return fc.oneof(
    { arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }), weight: 4 },
    { arbitrary: fc.lorem({ maxCount: 40 }), weight: 4 },
    { arbitrary: fc.constantFrom(...oddTexts), weight: 2 },
    { arbitrary: written, weight: 2 },
    { arbitrary: repeated, weight: 1 },
  )
}

function content(text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const textPart = text.map((value) => ({ type: 'text', text: value }))
  const image = fc.constant({ type: 'image_url', image_url: { url: PIXEL } })
  const part = fc.oneof({ arbitrary: textPart, weight: 4 }, { arbitrary: image, weight: 1 })
  const parts = fc.array(part, { minLength: 1, maxLength: 3 })
  return fc.oneof({ arbitrary: text, weight: 5 }, { arbitrary: parts, weight: 1 })
}

const systemMessage = (text: fc.Arbitrary<string>): fc.Arbitrary<TestMessage> =>
  fc.record({ role: fc.constantFrom('system', 'developer'), content: text })

const userMessage = (text: fc.Arbitrary<string>): fc.Arbitrary<TestMessage> =>
  fc.record(
    { role: fc.constant('user'), content: content(text), name: fc.constantFrom('ann', 'ben') },
    { requiredKeys: ['role', 'content'] },
  )

const plainAnswer = (text: fc.Arbitrary<string>): fc.Arbitrary<TestMessage> =>
  fc.record(
    { role: fc.constant('assistant'), content: text, reasoning_content: text },
    { requiredKeys: ['role', 'content'] },
  )

const orphan = (text: fc.Arbitrary<string>): fc.Arbitrary<TestMessage> =>
  fc.record({ role: fc.constant('tool'), tool_call_id: callId, content: text })

// Few ids, so that they come again in later rounds.
const callId = fc.oneof(
  fc.integer({ min: 0, max: 9 }).map((number) => `call_${number}`),
  fc.uuid().map((id) => `call_${id}`),
)

/** An assistant message with calls, and the results to all of them. */
function toolRound(text: fc.Arbitrary<string>, callsMax: number): fc.Arbitrary<TestMessage[]> {
  const call = fc.record({
    id: callId,
    name: fc.constantFrom('read_file', 'search', 'run_tests'),
    argumentsText: fc.oneof(
      text.map((value) => JSON.stringify({ value })),
      fc.constantFrom('', '{}', '{"path":'),
    ),
    result: content(text),
    order: fc.nat({ max: 1000 }),
  })
  return fc
    .tuple(
      fc.uniqueArray(call, { minLength: 1, maxLength: callsMax, selector: ({ id }) => id }),
      fc.oneof(text, fc.constant(null)),
      fc.boolean(),
    )
    .map(([calls, said, hasContent]) => {
      const assistant: TestMessage = {
        role: 'assistant',
        ...((hasContent || said !== null) && { content: said }),
        tool_calls: calls.map(({ id, name, argumentsText }) => wireCall(id, name, argumentsText)),
      }
      const results = calls
        .toSorted((left, right) => left.order - right.order)
        .map(({ id, result }): TestMessage => ({ role: 'tool', tool_call_id: id, content: result }))
      return [assistant].concat(results)
    })
}

const wireCall = (id: string, name: string, argumentsText: string) => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText },
})

type Damage = (messages: TestMessage[], at: number) => TestMessage[]

function damage(text: fc.Arbitrary<string>): fc.Arbitrary<Damage> {
  const inserted = fc.oneof(systemMessage(text), userMessage(text), plainAnswer(text), orphan(text))
  return fc.oneof(
    inserted.map(
      (message): Damage =>
        (messages, at) =>
          messages.toSpliced(at, 0, message),
    ),
    fc.constantFrom<Damage>(
      (messages, at) => messages.toSpliced(at, 1),
      (messages, at) => messages.toSpliced(at, 0, ...messages.slice(at, at + 1)),
      (messages, at) => [...messages.toSpliced(at, 1), ...messages.slice(at, at + 1)],
      (messages, at) => messages.slice(at),
      (messages, at) => messages.slice(0, at + 1),
      ...[null, '', [], 17].map((value) => changed((message) => ({ ...message, content: value }))),
      ...[[], null].map((calls) => changed((message) => ({ ...message, tool_calls: calls }))),
      changed((message) => ({ ...message, role: 'wizard' })),
      changed((message) => ({ ...message, tool_call_id: 'call_0' })),
      changed(withoutCallIds),
      ...['content', 'tool_call_id', 'tool_calls'].map(without),
    ),
  )
}

const changed =
  (change: (message: TestMessage) => TestMessage): Damage =>
  (messages, at) =>
    messages.map((message, index) => (index === at ? change(message) : message))

const without = (field: string): Damage =>
  changed((message) => {
    const rest = Object.entries(message).filter(([key]) => key !== field)
    return { role: message.role, ...Object.fromEntries(rest) }
  })

function withoutCallIds(message: TestMessage): TestMessage {
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return message
  const nameless = calls.map((call: object) => Object.assign({}, call, { id: undefined }))
  return { ...message, tool_calls: nameless }
}
