import { messageNumber } from '../compaction/message-numbers.ts'
import { readMessage } from '../compaction/read-message.ts'
import { toolNameOf, type Subject } from '../compaction/subject.ts'
import type { Media } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import { fenced } from './fenced.ts'

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
