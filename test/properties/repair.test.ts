import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ruleBreaks } from '../support/strict-upstream/message-rules.ts'
import { arbitraryMessages, conversation } from '../support/arbitrary-conversation.ts'
import { brokenConversation, validConversation } from '../support/conversations.ts'
import { send } from '../compaction/sending.ts'
import { repairedOf, subjectFrom } from '../support/subject.ts'
import { forAll } from '../support/property-runs.ts'

const broken: fc.Arbitrary<readonly object[]> = fc.oneof(
  arbitraryMessages,
  conversation,
  brokenConversation({ textCharactersMax: 400 }),
)
/** Nothing but users, assistants and results: what else strict templates refuse plays no part. */
const spoken = arbitraryMessages.map((messages) =>
  messages.filter((message) => isResult(message) || ['user', 'assistant'].includes(String(roleOf(message)))),
)
const parsed = (texts: readonly string[]): object[] => texts.map((text) => JSON.parse(text))

function roleOf(message: object | undefined): unknown {
  return message !== undefined && 'role' in message ? message.role : undefined
}

function isResult(message: object | undefined): boolean {
  return roleOf(message) === 'tool' || roleOf(message) === 'function'
}

/** Where the last assistant message stands, if nothing but results follows it. */
function lastRound(messages: readonly object[]): number {
  const last = messages.findLastIndex((message) => !isResult(message))
  return roleOf(messages[last]) === 'assistant' ? last : -1
}

/** The rules of tool calls that a conversation breaks, but for calls of the last round that wait. */
function brokenCalls(messages: readonly object[]): readonly string[] {
  const open = lastRound(messages)
  return ruleBreaks(messages, 'lenient')
    .filter(({ rule }) => rule !== 'message-shape' && rule !== 'content-missing')
    .filter(({ rule, index }) => rule !== 'calls-unanswered' || index !== open)
    .filter(({ rule, index }) => rule !== 'calls-empty' || roleOf(messages[index]) === 'assistant')
    .map(({ rule }) => rule)
}

/** How often it is not the turn of who speaks, tool rounds aside: the user begins, and they alternate. */
function turnBreaks(messages: readonly object[]): number {
  const rules = ruleBreaks(messages, 'strict').map(({ rule }) => rule)
  return rules.filter((rule) => rule === 'roles-not-alternating' || rule === 'first-not-user').length
}

test('a repaired conversation obeys the rules, is sound, keeps what was not broken and grows at its end', () => {
  forAll(250, broken, (messages) => {
    const { texts, kept, standIns } = repairedOf(messages)
    // Whatever it was, but for calls that wait at its end.
    expect(brokenCalls(parsed(texts)), 'rules of tool calls').toEqual([])
    expect(repairedOf(parsed(texts)).repairs, 'repaired again').toBeNull()

    // The order and every byte of what was not broken (P1).
    const places = [...kept.values()]
    expect(places).toEqual([...places].sort((one, other) => one - other))
    for (const [index, place] of kept) expect(texts[place]).toBe(JSON.stringify(messages[index]))
    // Whatever is no result stays, and an assistant message loses an empty list of calls at most.
    const said = messages.filter((message) => !isResult(message)).map(roleOf)
    const left = parsed(texts).filter((message, place) => !isResult(message) && !standIns.has(place))
    expect(left.map(roleOf)).toEqual(said)
    const lost = messages.filter((message) => {
      const content = isResult(message) && 'content' in message ? message.content : ''
      return typeof content === 'string' && !texts.join('\n').includes(JSON.stringify(content).slice(1, -1))
    })
    expect(lost, 'texts of results').toEqual([])

    // One that grew begins with what was sent of it before (P5).
    for (const [point, message] of messages.entries()) {
      if (roleOf(message) !== 'assistant' || point === 0) continue
      const before = repairedOf(messages.slice(0, point)).texts
      expect(texts.slice(0, before.length)).toEqual(before)
    }
  })
})

test('its turns are in no worse order than without the results, once user messages are joined', () => {
  forAll(250, spoken, (messages) => {
    const { texts, standIns } = repairedOf(messages)
    // Behind an answer it is the user's turn. A result that stands there takes it, whoever speaks next.
    const sent = parsed(texts)
    fc.pre([...standIns].every((place) => standIns.has(place - 1) || roleOf(sent[place - 1]) !== 'assistant'))
    const history = subjectFrom(`[${texts.join(',')}]`, undefined, standIns)
    const placed = send(history, { budgetTokens: 1_000_000, strict: true }).messages
    const rest = messages.filter((message) => !isResult(message))
    expect(turnBreaks(placed)).toBeLessThanOrEqual(turnBreaks(rest))
    // Behind a round nobody but an assistant may speak, which templates of open models check.
    for (const place of standIns) expect(isResult(sent[place - 1])).toBe(false)
  })
})

test('a conversation that obeys the rules is not touched', () => {
  forAll(150, validConversation({ textCharactersMax: 400 }), (messages) => {
    expect(repairedOf(messages).repairs).toBeNull()
  })
})
