import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../src/json/source.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import { arbitraryMessages } from '../support/arbitrary-conversation.ts'
import { assistant, calling, messagesOf, result, system, user } from '../support/chat-completions.ts'
import { forAll } from '../support/property-runs.ts'

const structure = (...messages: readonly object[]) => runAtOnce(structureOf(messagesOf(messages)))

function frontiersOf(messages: readonly object[]): readonly number[] {
  const { isFrontier } = structure(...messages)
  return Array.from({ length: messages.length + 1 }, (_, index) => index).filter(isFrontier)
}

describe('head, turns and request points', () => {
  test('a usual conversation', () => {
    const found = structure(system, user, calling('a'), result('a'), assistant, user, assistant)
    expect(found.systemCount).toBe(1)
    expect(found.task).toBe(1)
    expect(found.turns).toEqual([1, 5])
    expect(found.requestPoints).toEqual([2, 4, 6, 7])
    expect([0, 1, 2, 5, 6, 7].map(found.latestUserBefore)).toEqual([-1, -1, 1, 1, 5, 5])
  })

  test('an empty conversation has one request point and one frontier', () => {
    const found = structure()
    expect(found).toMatchObject({ systemCount: 0, task: -1, turns: [], requestPoints: [0] })
    expect(found.isFrontier(0)).toBe(true)
    expect(found.lastUnitStart(0)).toBe(0)
    expect(found.latestUserBefore(0)).toBe(-1)
  })

  test('only system messages, and no leading user message', () => {
    expect(structure(system, { role: 'developer' })).toMatchObject({ systemCount: 2, task: -1, turns: [] })
    expect(structure(assistant, system, user)).toMatchObject({ systemCount: 0, task: 2, requestPoints: [3] })
  })
})

describe('units', () => {
  test('a call stays with its answers', () => {
    expect(frontiersOf([user, calling('a', 'b'), result('b'), result('a'), assistant])).toEqual([0, 1, 4, 5])
  })

  test('an orphan result belongs to what stands before it', () => {
    expect(frontiersOf([user, result('x'), assistant, result('y'), user])).toEqual([0, 2, 4, 5])
    expect(frontiersOf([result('x'), result('y'), user])).toEqual([0, 2, 3])
  })

  // A fold could end between the call and its result, and the view was thrown away as one that breaks a rule.
  test('what the model says behind the call of a program of its is one reply with it', () => {
    // A call of a program goes on with what stands before it.
    const goesOn = { opensReply: false, joinsPrevious: true }
    for (const behind of [assistant, calling('b')]) {
      const [said, called, ...others] = messagesOf([
        user,
        calling('a'),
        behind,
        result('a'),
        result('b'),
        user,
      ])
      if (said === undefined || called === undefined) throw new Error('There are messages.')
      const ofProgram = { ...called, facts: { ...called.facts, ...goesOn } }
      const { isFrontier } = runAtOnce(structureOf([said, ofProgram, ...others]))
      expect([1, 2, 3, 4, 5].filter(isFrontier)).toEqual([5])
    }
  })

  test('a call that is never answered binds nothing', () => {
    expect(frontiersOf([calling('a'), user, assistant, user])).toEqual([0, 1, 2, 3, 4])
  })

  test('a round interrupted by the user is one unit up to its last answer', () => {
    const messages = [calling('a', 'b'), result('a'), user, system, result('b'), result('x'), user, assistant]
    expect(frontiersOf(messages)).toEqual([0, 6, 7, 8])
    const found = structure(...messages)
    expect([0, 3, 5, 6].map(found.unitStart)).toEqual([0, 0, 0, 6])
  })

  test('an id that was answered does not bind what comes after', () => {
    expect(frontiersOf([calling('a'), result('a'), user, result('a'), user])).toEqual([0, 2, 4, 5])
  })

  test('an id means the last assistant message only: ids repeat', () => {
    expect(frontiersOf([calling('a'), user, assistant, result('a'), user])).toEqual([0, 1, 2, 4, 5])
    expect(frontiersOf([calling('a'), assistant, user, result('a'), user])).toEqual([0, 1, 2, 4, 5])
    const rounds = [calling('a'), result('a'), calling('a'), result('a')]
    expect(frontiersOf([user, ...rounds])).toEqual([0, 1, 3, 5])
  })

  test('missing ids are matched by count', () => {
    expect(frontiersOf([calling(undefined, undefined), result(), user, result(), user])).toEqual([0, 4, 5])
    expect(frontiersOf([calling(undefined), result(), user, result(), user])).toEqual([0, 2, 4, 5])
  })

  test('the last unit of a prefix is seen without what follows', () => {
    const { lastUnitStart } = structure(user, calling('a', 'b'), result('a'), user, result('b'), assistant)
    expect([0, 1, 2, 3, 4, 5, 6].map(lastUnitStart)).toEqual([0, 0, 1, 1, 3, 1, 5])
  })
})

describe('in any conversation, broken or not', () => {
  test('below a request point the frontiers are those of the prefix that was sent there', () => {
    forAll(200, arbitraryMessages, (messages) => {
      const whole = frontiersOf(messages)
      for (const point of structure(...messages).requestPoints) {
        const prefix = frontiersOf(messages.slice(0, point))
        expect(whole.filter((index) => index <= point)).toEqual(prefix)
      }
    })
  })

  test('the last unit of every prefix is that of the prefix taken by itself', () => {
    forAll(200, arbitraryMessages, (messages) => {
      const whole = structure(...messages)
      for (let point = 1; point <= messages.length; point += 1) {
        const prefix = structure(...messages.slice(0, point))
        expect(whole.lastUnitStart(point)).toBe(prefix.unitStart(point - 1))
      }
    })
  })

  test('no frontier stands before a tool message, and units lie between frontiers', () => {
    forAll(200, arbitraryMessages, (messages) => {
      const facts = messagesOf(messages)
      const { unitStart, isFrontier } = runAtOnce(structureOf(facts))
      expect(isFrontier(0) && isFrontier(messages.length)).toBe(true)
      for (let index = 1; index < messages.length; index += 1) {
        expect(isFrontier(index) && facts[index]?.facts.role === 'tool').toBe(false)
        expect(unitStart(index)).toBe(isFrontier(index) ? index : unitStart(index - 1))
      }
    })
  })
})

/** A message that shares these ids. */
const sharingOf = (message: object, ...sharedIds: readonly string[]) =>
  messagesOf([message]).map((each) => ({ ...each, facts: { ...each.facts, sharedIds } }))[0]

/** A reply that has ids of its own, and names others. */
const owning = (sharedIds: readonly string[], namedIds: readonly string[]) =>
  messagesOf([assistant]).map((each) => ({ ...each, facts: { ...each.facts, sharedIds, namedIds } }))

// The story: the call of a server's own tool stood in one reply and its result at the start of the next; a cut fell between.
describe('what shares an id', () => {
  const kinds = [
    user,
    assistant,
    calling('a'),
    result('a'),
    { ...assistant, sharedIds: ['x'] },
    { ...assistant, sharedIds: ['y'] },
    { ...calling('b'), sharedIds: ['x'] },
    { ...user, sharedIds: ['y'], joinsPrevious: true },
    { ...assistant, namedIds: ['x'] },
    { ...calling('b'), namedIds: ['y', 'nobody'] },
  ]
  const sharing = fc.array(fc.constantFrom(...kinds), { maxLength: 14 }).map((drawn) =>
    messagesOf(drawn).map((message, index) => {
      type Drawn = { sharedIds?: readonly string[]; namedIds?: readonly string[]; joinsPrevious?: boolean }
      const { sharedIds, namedIds, joinsPrevious }: Drawn = drawn[index] ?? {}
      const more = {
        ...(sharedIds === undefined ? {} : { sharedIds }),
        ...(namedIds === undefined ? {} : { namedIds }),
        ...(joinsPrevious === undefined ? {} : { joinsPrevious }),
      }
      return { ...message, facts: { ...message.facts, ...more } }
    }),
  )

  test('is never apart, and what a conversation grew from changes nothing', () => {
    const grownFrom = fc.tuple(sharing, fc.nat())
    forAll(2_000, grownFrom, ([messages, drawn]) => {
      const whole = runAtOnce(structureOf(messages))
      const last = new Map<string, { index: number; isNamed: boolean }>()
      const expectTied = (from: number, to: number) => {
        for (let at = from + 1; at <= to; at += 1) expect(whole.isFrontier(at)).toBe(false)
      }
      for (const [index, { facts }] of messages.entries()) {
        for (const id of facts.sharedIds ?? []) {
          const before = last.get(id)
          // What was named has come to its end: the same id again is another's.
          if (before?.isNamed === false) expectTied(before.index, index)
          last.set(id, { index, isNamed: false })
        }
        for (const id of facts.namedIds ?? []) {
          const before = last.get(id)
          if (before === undefined) continue
          expectTied(before.index, index)
          last.set(id, { index, isNamed: true })
        }
      }
      const shared = drawn % (messages.length + 1)
      const structureBefore = runAtOnce(structureOf(messages.slice(0, shared)))
      const grown = runAtOnce(structureOf(messages, undefined, { structure: structureBefore, shared }))
      expect(grown.units).toEqual(whole.units)
    })
  })

  // The story: every search of a conversation named its container, and all of the history became one unit.
  test('an id that nobody has ties nothing, and one that begins anew ties no more than its own', () => {
    const using = owning(['s'], ['container'])
    const found = owning([], ['s', 'container'])
    const list = [...messagesOf([user]), ...using, ...found, ...messagesOf([user]), ...using, ...found]
    const { isFrontier } = runAtOnce(structureOf(list))
    expect(list.map((_, at) => isFrontier(at))).toEqual([true, true, false, true, true, false])
  })

  test('a result that opens a reply ends the unit before, and a call joins its program', () => {
    const [asked, called] = messagesOf([user, calling('a')])
    const reply = messagesOf([result('a'), assistant])
    const using = sharingOf(assistant, 's')
    const found = sharingOf(assistant, 's')
    const byProgram = sharingOf(calling('b'), 's')
    const list = (...all: readonly (typeof asked)[]) => all.filter((each) => each !== undefined)
    const ending = list(asked, using, called, reply[0], found, reply[1])
    expect(ending.map((_, at) => runAtOnce(structureOf(ending)).isFrontier(at))).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ])
    const joining = list(asked, using, called, reply[0], byProgram, ...messagesOf([result('b'), assistant]))
    expect(joining.map((_, at) => runAtOnce(structureOf(joining)).isFrontier(at))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      true,
    ])
  })
})
