import { callsOf, textOf, textsOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'

/** What of a message a piece of its text is: a frame is the rendering's own. */
export type Part = 'frame' | 'text' | 'name' | 'arguments'

export type Piece = { readonly part: Part; readonly text: string }

/**
 * A message as a model without a template of its own would read it, the same for every row. Each piece is cut into
 * tokens by itself, so that what is scored has the tokens that it has in a history.
 */
export function piecesOf(message: WireMessage): readonly Piece[] {
  const calls = callsOf(message).flatMap(({ name, argumentsText }): readonly Piece[] => [
    { part: 'frame', text: CALL_MARK },
    { part: 'name', text: name },
    { part: 'frame', text: ' ' },
    { part: 'arguments', text: argumentsText },
  ])
  const pieces: readonly Piece[] = [
    openingOf(textOf(message.role)),
    { part: 'text', text: textsOf(message.content).join('\n') },
    ...calls,
    { part: 'frame', text: '\n\n' },
  ]
  return pieces.filter(({ text }) => text !== '')
}

/** What stands before the text of a message. */
export const openingOf = (role: string): Piece => ({ part: 'frame', text: `### ${role}\n` })

/** What a model is to say after it is its turn: a message without its opening and its end. */
export const saidPieces = (message: WireMessage): readonly Piece[] => piecesOf(message).slice(1, -1)

/** A token of the recorded message, and whether it counts among those whose word only the history before the newest round has. */
export type Label = { readonly part: Part; readonly isDecided: boolean }

type LabelOptions = {
  readonly pieces: readonly Piece[]
  /** The texts of a piece's tokens. */
  readonly tokensOf: (piece: string) => readonly string[]
  readonly history: readonly WireMessage[]
  /** The last of the history. */
  readonly newestRound: readonly WireMessage[]
}

/** A label for each token of a recorded message. */
export function labelsOf({ pieces, tokensOf, history, newestRound }: LabelOptions): readonly Label[] {
  const older = wordsIn(history.slice(0, history.length - newestRound.length))
  const near = wordsIn(newestRound)
  const isDecided = (word: string) => older.has(word) && !near.has(word)
  return pieces.flatMap(({ part, text }) => {
    const spans = [...text.matchAll(wordLike)]
      .filter(([word]) => isDecided(word))
      .map(({ 0: word, index }) => ({ start: index, end: index + word.length }))
    let at = 0
    return tokensOf(text).map((token) => {
      const start = at
      at += token.length
      return {
        part,
        isDecided: part !== 'frame' && spans.some((span) => span.start < at && start < span.end),
      }
    })
  })
}

/** From the newest assistant message on. */
export function newestRoundOf<Message extends { readonly message: WireMessage }>(
  messages: readonly Message[],
): readonly Message[] {
  const newest = messages.findLastIndex(({ message }) => message.role === 'assistant')
  return messages.slice(newest === -1 ? messages.length - 1 : newest)
}

const CALL_MARK = '\n-> '

/** Shorter ones stand everywhere. */
const wordLike = /[\p{L}\p{N}_]{3,}/gu

const wordsIn = (messages: readonly WireMessage[]): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) =>
      piecesOf(message).flatMap(({ part, text }) => (part === 'frame' ? [] : (text.match(wordLike) ?? []))),
    ),
  )
