import { clipArguments, clipText } from '../compaction/passes/clip.ts'
import { renderTerminal } from '../compaction/passes/render.ts'
import { harmless } from '../compaction/recap/harmless.ts'
import { labels } from '../compaction/recap/headings.ts'
import { toolNameOf, type Subject } from '../compaction/subject.ts'
import type { Media, Message, Role } from '../conversation/message.ts'
import { parseMessage } from '../conversation/parse.ts'
import type { Steps } from '../conversation/source.ts'
import { redacted } from './secrets.ts'
import { withoutThoughts } from './thoughts.ts'

/** One message of the transcript, ready to be put into the prompt. */
export type Entry = { readonly text: string; readonly tokens: number }

/**
 * These messages as a model reads them that is to summarise them: who speaks, what was called with what, and what
 * came back, the long clipped around the middle. Without thoughts, secrets, and tags of ours.
 */
export function* transcriptOf(subject: Subject, indexes: readonly number[]): Steps<readonly Entry[]> {
  const entries: Entry[] = []
  for (const index of indexes) {
    const message = subject.messages[index]
    if (message === undefined) continue
    const text = [...saidIn(subject, message, index), ...callsIn(subject, message)].join('\n')
    if (text !== '') entries.push({ text, tokens: subject.count(text) })
    yield
  }
  return entries
}

// --- internal ---

/**
 * How much of one message a summary is made from, in tokens: docs/decisions are made in the user's words and the assistant's,
 * facts stand at the beginning and the end of what tools print. Measured over the recorded conversations, see the test.
 */
const textTokensMax = {
  user: 1500,
  assistant: 1000,
  tool: 600,
  system: 600,
  developer: 600,
  other: 600,
} as const satisfies Record<Role, number>

/** Of the arguments of one call. A file that is written stands there whole; its name is one of the short ones, which stay. */
const ARGUMENTS_TOKENS_MAX = 300

/** Of a longer text only so much at each end is looked at: far more than is kept, so that no cut can split a secret that stays. */
const ENDS_CHARS = 32_768

const MEDIA_MARKS_MAX = 8

function saidIn(subject: Subject, message: Message, index: number): string[] {
  const { facts } = message
  const { text } = parseMessage(subject.source, message)
  const shown = facts.role === 'tool' ? renderTerminal(text) : withoutThoughts(text)
  const marks = mediaMarks(facts.media)
  const said = clipped(subject, shown, textTokensMax[facts.role])
  const content = [said, marks].filter((piece) => piece.trim() !== '').join('\n')
  return content === '' ? [] : [`${labelOf(subject, message, index)}\n${content}`]
}

function labelOf(subject: Subject, { facts }: Message, index: number): string {
  switch (facts.role) {
    case 'user':
    case 'assistant':
      return labels[facts.role]
    case 'tool':
      return harmless(labels.result(toolNameOf(subject, index)))
    case 'system':
    case 'developer':
    case 'other':
      return `[${facts.role}]`
  }
}

function callsIn(subject: Subject, message: Message): string[] {
  const { count } = subject
  return parseMessage(subject.source, message).calls.map(({ name, argumentsText }) => {
    const text = clean(ends(argumentsText))
    return `${harmless(labels.call(name))} ${clipArguments(text, count(text), ARGUMENTS_TOKENS_MAX, count)}`
  })
}

function clipped({ count }: Subject, text: string, tokensMax: number): string {
  const near = clean(ends(text))
  const tokens = count(near)
  // The size that the mark states is that of all of it, as far as it is known.
  const whole = text.length <= 2 * ENDS_CHARS ? tokens : Math.round((tokens * text.length) / near.length)
  return unlabelled(harmless(clipText(near, tokens, tokensMax, count, whole)))
}

function clean(text: string): string {
  return redacted(harmless(text))
}

function ends(text: string): string {
  if (text.length <= 2 * ENDS_CHARS) return text
  return `${text.slice(0, ENDS_CHARS)}\n…\n${text.slice(-ENDS_CHARS)}`
}

/** A line of content that looks like a label is marked as none. */
function unlabelled(text: string): string {
  return text.replace(/^(?=[ \t]*\[(?:user|assistant|system|developer|other|to |from ))/gim, '\\')
}

function mediaMarks(media: readonly Media[]): string {
  const marks = media.slice(0, MEDIA_MARKS_MAX).map(mediaMark)
  if (media.length > MEDIA_MARKS_MAX) marks.push(`[and ${media.length - MEDIA_MARKS_MAX} more]`)
  return marks.join(' ')
}

function mediaMark({ kind, widthPixels, heightPixels, seconds }: Media): string {
  const isSized = widthPixels > 0 && heightPixels > 0
  if (isSized) return `[${kind} ${widthPixels}x${heightPixels}]`
  return seconds === undefined
    ? `[${kind === 'other' ? 'other content' : kind}]`
    : `[${kind} ${Math.round(seconds)}s]`
}
