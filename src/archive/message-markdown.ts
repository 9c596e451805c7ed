import { messageNumber } from '../subject/message-numbers.ts'
import { readMessage } from '../subject/read-message.ts'
import { toolNameOf, type Subject } from '../subject/subject.ts'
import type { Media } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'

/**
 * A message under a heading that names it: its text and its calls word for word, its media as marks. One whose role is
 * unknown as it came: what else its fields mean is not known, either.
 */
export function* messageMarkdown(subject: Subject, index: number): Steps<string> {
  const message = subject.messages[index]
  if (message === undefined) return ''
  const pieces = [`## ${messageNumber(index, subject.structure.systemCount)} ${whoseOf(subject, index)}\n`]
  if (message.facts.role === 'other') {
    pieces.push('As it came:\n', fenced(subject.source.text(message.start, message.end)))
    return pieces.join('\n')
  }
  const { text, calls, uncut } = yield* readMessage(subject, message)
  if (text !== '') pieces.push(fenced(text))
  yield
  for (const media of message.facts.media) pieces.push(`${markOf(media)}\n`)
  // Thoughts, a refusal, a content of an unknown shape: nobody shortens them, but a fold leaves them out.
  if (uncut !== '') pieces.push('Besides its text:\n', fenced(uncut))
  for (const { name, argumentsText } of calls) {
    pieces.push(`Call of ${oneLine(name)}:\n`, fenced(argumentsText))
    yield
  }
  return pieces.join('\n')
}

/** A text as a Markdown code fence, word for word: the fence is longer than any run of its own character within. */
export function fenced(text: string): string {
  const [backticks, tildes] = [longestRun(text, /`{3,}/g), longestRun(text, /~{3,}/g)]
  const fence = backticks <= tildes ? fenceOf('`', backticks) : fenceOf('~', tildes)
  return `${fence}\n${text}\n${fence}\n`
}

// --- internal ---

function whoseOf(subject: Subject, index: number): string {
  const role = subject.messages[index]?.facts.role ?? 'other'
  if (role !== 'tool') return role
  const tool = oneLine(toolNameOf(subject, index))
  return tool === '' ? 'result' : `result of ${tool}`
}

function markOf({ kind, place, dataBytes, widthPixels, heightPixels }: Media): string {
  const size = widthPixels > 0 ? `, ${widthPixels} × ${heightPixels} pixels` : ''
  const what = kind === 'other' ? 'a part of another kind' : kind
  switch (place) {
    case 'inline':
      return `[${what}, ${dataBytes} bytes${size}]`
    case 'remote':
      return `[${what} at an address]`
    case 'reference':
    case 'beside':
      return `[${what} kept by the upstream]`
  }
}

const NAME_CHARS_MAX = 200

/** A name that a client wrote, as it may stand in a heading: a reader's program must not load what it names. */
function oneLine(name: string): string {
  return name
    .slice(0, NAME_CHARS_MAX)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*[\]<>]/g, String.raw`\$&`)
    .trim()
}

/** A shorter run of them is no fence in Markdown. */
const FENCE_CHARS_MIN = 3

function fenceOf(character: string, longest: number): string {
  return character.repeat(Math.max(FENCE_CHARS_MIN, longest + 1))
}

/** Characters of the longest match; 0 if there is none. */
function longestRun(text: string, run: RegExp): number {
  let longest = 0
  for (const [found] of text.matchAll(run)) longest = Math.max(longest, found.length)
  return longest
}
