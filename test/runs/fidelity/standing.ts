import {
  callsOf,
  mediaIn,
  textOf,
  textsOf,
  type WireMessage,
} from '../../support/strict-upstream/wire-message.ts'
import { renderTerminal } from '../../support/at-once.ts'
import type { RawMessage } from '../harness/recordings.ts'

/** How one of the client's messages stands in a view. */
export type Standing = {
  /** Its place among the received messages. */
  readonly position: number
  readonly isByteIdentical: boolean
  /** All of its text, as it was or as a terminal would show it, and all of its media. */
  readonly isWhole: boolean
  /** Tokens of all of it, as it was or as a terminal would show it. */
  readonly sizeTokens: number
  /** Tokens of its text, and those of them that are there. */
  readonly textTokens: number
  readonly textTokensHeld: number
  /** Tokens of all that is there of it, its frame, calls and media included. */
  readonly tokensHeld: number
}

export type StandingOptions = {
  readonly count: (text: string) => number
  /** A message by the upstream's count, in tokens. */
  readonly sizeOf: (message: RawMessage) => number
}

export type Standings = {
  /**
   * Where the client's messages stand in a view, by their indexes. Received messages are taken from the last one
   * backwards, each for the newest of the client's before the one found last that it equals, else for the newest
   * that it was made from. What Foldgate wrote itself is found for none.
   */
  readonly of: (
    client: readonly RawMessage[],
    received: readonly RawMessage[],
  ) => ReadonlyMap<number, Standing>
  /** Whichever received message holds the most of one of the client's, for its own or inside a joined one of a user's. */
  readonly most: (message: RawMessage, received: readonly RawMessage[]) => Standing | null
}

export function openStandings({ count, sizeOf }: StandingOptions): Standings {
  const known = new Map<string, Standing | null>()
  const identities = new WeakMap<object, string>()

  function identityOf({ message }: RawMessage): string {
    const identity = identities.get(message) ?? identityIn(message)
    identities.set(message, identity)
    return identity
  }

  /** Null where the received message was not made from this one. */
  function standingAs(original: RawMessage, received: RawMessage, position: number): Standing | null {
    if (identityOf(original) !== identityOf(received)) return null
    const key = `${original.text}\n${received.text}`
    let standing = known.get(key)
    if (standing === undefined) {
      standing = compare(original, received)
      known.set(key, standing)
    }
    return standing && { ...standing, position }
  }

  function compare(original: RawMessage, received: RawMessage): Standing | null {
    const [text, receivedText] = [readText(original), readText(received)]
    const isByteIdentical = original.text === received.text
    const shown = renderTerminal(text)
    const [media, receivedMedia] = [original, received].map(({ message }) => mediaIn(message))
    const isAll = receivedText === text || receivedText === shown
    const kept = [...new Set([text, shown])].map((each) => ({ each, ...keptText(each, receivedText) }))
    const best = kept.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one))
    const isLike = text === '' ? receivedMedia !== 0 : isAll || isClip(text, best)
    if (!isByteIdentical && !hasName(original.message) && !isLike) return null
    const textTokens = count(isAll ? receivedText : best.each)
    const textTokensHeld = isAll ? textTokens : tokensOf(best)
    return {
      position: 0,
      isByteIdentical,
      isWhole: isByteIdentical || (isAll && media === receivedMedia),
      sizeTokens: sizeOf(original) - count(text) + textTokens,
      textTokens,
      textTokensHeld,
      tokensHeld: sizeOf(received) - count(receivedText) + textTokensHeld,
    }
  }

  function standingInside(original: RawMessage, received: RawMessage, position: number): Standing | null {
    if (original.message['role'] !== 'user' || received.message['role'] !== 'user') return null
    const text = readText(original)
    const kept = keptInside(text, readText(received))
    if (text === '' || !isClip(text, kept)) return null
    const textTokens = count(text)
    const isWhole = lengthOf(kept) === text.length
    const textTokensHeld = isWhole ? textTokens : tokensOf(kept)
    const sizeTokens = sizeOf(original)
    const tokensHeld = sizeTokens - textTokens + textTokensHeld
    return { position, isByteIdentical: false, isWhole, sizeTokens, textTokens, textTokensHeld, tokensHeld }
  }

  function tokensOf({ pieces }: KeptText): number {
    return pieces.reduce((sum, piece) => sum + count(piece), 0)
  }

  return {
    of: (client, received) => {
      const standings = new Map<number, Standing>()
      let before = client.length
      for (let position = received.length - 1; position >= 0; position -= 1) {
        const message = received[position]
        if (message === undefined) continue
        const found =
          newest(client, before, (each) =>
            each.text === message.text ? standingAs(each, message, position) : null,
          ) ?? newest(client, before, (each) => standingAs(each, message, position))
        if (found === null) continue
        standings.set(found.index, found.standing)
        before = found.index
      }
      return standings
    },
    most: (message, received) => {
      let most: Standing | null = null
      for (const [position, each] of received.entries()) {
        const standing = standingAs(message, each, position) ?? standingInside(message, each, position)
        if (standing !== null && standing.textTokensHeld >= (most?.textTokensHeld ?? 0)) most = standing
      }
      return most
    },
  }
}

/** What a shortened text still holds of its original. */
export type KeptText = {
  /** Its head, its tail, and whole lines between them, each as it stands in the original. */
  readonly pieces: readonly string[]
  /** How many characters it says of its own: a mark. */
  readonly ownCharacters: number
}

/**
 * Compares by where texts begin and end, and knows no wording of marks. What stands between head and tail is taken line
 * by line, since a preview that was clipped has two marks.
 */
export function keptText(original: string, shortened: string): KeptText {
  const head = commonHead(original, shortened)
  const tail = commonTail(original.slice(head.length), shortened.slice(head.length))
  const between = shortened.slice(head.length, shortened.length - tail.length)
  const lines = linesIn(original.slice(head.length, original.length - tail.length), between)
  const ownCharacters = between.length - lines.reduce((sum, line) => sum + line.length, 0)
  return { pieces: [head, ...lines, tail].filter((piece) => piece !== ''), ownCharacters }
}

/**
 * The same for a text that stands inside a longer one, where messages were joined: its longest beginning that stands
 * there, and its longest end behind that.
 */
function keptInside(original: string, longer: string): KeptText {
  const head = original.slice(
    0,
    longest(original.length, (length) => longer.includes(original.slice(0, length))),
  )
  const headEnd = longer.indexOf(head) + head.length
  const rest = original.slice(head.length)
  const tail = lastOf(
    rest,
    longest(rest.length, (length) => longer.includes(lastOf(rest, length), headEnd)),
  )
  return { pieces: [head, tail].filter((piece) => piece !== ''), ownCharacters: 0 }
}

// A clipped text of a message without ids is known by what it has in common with its original, and by having little
// else: Foldgate's marks are shorter. What many messages begin and end with (`Observation:`, a prompt) is not enough.
const COMMON_CHARACTERS = 16
const MARK_CHARACTERS_MAX = 300

/** What shortening a message never changes. */
function identityIn(message: WireMessage): string {
  const calls = callsOf(message).map(({ id, name }) => id ?? name)
  return JSON.stringify([message.role, textOf(message.tool_call_id), textOf(message.tool_name), calls])
}

/** Whether a message is known by what it answers or calls, so that none of its text has to be there. */
const hasName = (message: WireMessage): boolean =>
  message.role === 'tool' || message.role === 'function' || callsOf(message).length > 0

const isClip = (original: string, kept: KeptText): boolean =>
  lengthOf(kept) >= Math.min(COMMON_CHARACTERS, original.length) && kept.ownCharacters <= MARK_CHARACTERS_MAX

const readText = ({ message }: RawMessage): string => textsOf(message['content']).join('\n')

const lengthOf = ({ pieces }: KeptText): number => pieces.reduce((sum, piece) => sum + piece.length, 0)

function newest(
  client: readonly RawMessage[],
  before: number,
  standingOf: (message: RawMessage) => Standing | null,
): { readonly index: number; readonly standing: Standing } | null {
  for (let index = before - 1; index >= 0; index -= 1) {
    const message = client[index]
    const standing = message === undefined ? null : standingOf(message)
    if (standing !== null) return { index, standing }
  }
  return null
}

function commonHead(one: string, other: string): string {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1
  return one.slice(0, length)
}

function commonTail(one: string, other: string): string {
  let length = 0
  const most = Math.min(one.length, other.length)
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length += 1
  return lastOf(one, length)
}

/** The lines of a text that stand in the original, each behind the one before it. */
function linesIn(original: string, text: string): readonly string[] {
  let from = 0
  return text.split('\n').filter((line) => {
    if (line.trim() === '') return false
    const at = original.indexOf(line, from)
    if (at === -1) return false
    from = at + line.length
    return true
  })
}

/** The greatest length up to a limit for which it holds, where it holds for all lengths below one that it holds for. */
function longest(limit: number, holds: (length: number) => boolean): number {
  let [known, beyond] = [0, limit + 1]
  while (beyond - known > 1) {
    const length = Math.floor((known + beyond) / 2)
    if (holds(length)) known = length
    else beyond = length
  }
  return known
}

const lastOf = (text: string, length: number): string => text.slice(text.length - length)
