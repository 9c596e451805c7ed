import { clipArguments, clipText } from '../compaction/passes/clip.ts'
import { renderTerminal } from '../compaction/terminal/render-terminal.ts'
import { endsOf, readMessage } from '../compaction/history/read-message.ts'
import { harmless, labels, speakerLabel } from '../compaction/recap/headings.ts'
import type { History } from '../compaction/history/history.ts'
import { mediaMarks, type Message, type ParsedMessage, type Role } from '../conversation/message.ts'
import type { Pausable } from '../json/source.ts'
import { redactedSteps } from './secrets.ts'

/** One message of a transcript, as it stands in the prompt. */
export type TranscriptMessage = { readonly text: string; readonly tokens: number }

/**
 * These messages as they are shown to the model that summarises them: the speaker, the calls with their arguments, and
 * the results, long ones clipped around the middle. Without thoughts, secrets, and tags of ours.
 */
export function* transcriptOf(
  history: History,
  indexes: readonly number[],
): Pausable<readonly TranscriptMessage[]> {
  const shown: TranscriptMessage[] = []
  for (const index of indexes) {
    const message = history.messages[index]
    if (message === undefined) continue
    const parsed = yield* readMessage(history, message)
    const said = yield* saidIn(history, message, index, parsed.text)
    const text = [...said, ...(yield* callsIn(history, parsed))].join('\n')
    if (text !== '') shown.push({ text, tokens: yield* history.countSteps(text) })
    yield
  }
  return shown
}

/**
 * A text without the thoughts that a model wrote before it: in `<think>` tags and the like, closed or not. Some
 * templates open the tag in the prompt, so that only its end is in the answer.
 */
export function withoutThoughts(text: string): string {
  let start = 0
  for (;;) {
    opening.lastIndex = start
    const opened = opening.exec(text)
    if (opened === null) break
    // Only behind its opening: with thousands of tags the whole text would be searched for each.
    const closing = new RegExp(`</${opened[1] ?? ''}>`, 'gi')
    closing.lastIndex = opening.lastIndex
    if (!closing.test(text)) return ''
    start = closing.lastIndex
  }
  const left = text.slice(start).trimStart()
  const end = left.indexOf(LONE_END)
  // A summary may speak of the tag: then headings stand before it.
  const isLone =
    end !== -1 && !/^#{1,4} /m.test(left.slice(0, end)) && !left.slice(0, end).includes('<think>')
  return isLone ? left.slice(end + LONE_END.length).trimStart() : left
}

// --- internal ---

/**
 * How much of one message a summary is made from, in tokens. Goals and decisions stand in what the user and the assistant say; what
 * tools print has its facts at the beginning and the end. With these, the transcript of the recorded coding runs takes
 * 59 to 70 % of the tokens that it stands for, so that a second call for the same messages stays within 1.5 times.
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

/**
 * Of a longer text only so much at each end is drawn as a terminal would show it, and of that only so much is
 * searched for secrets and counted: far more than is kept, so that no cut can split a secret that stays.
 */
const DRAWN_CHARS = 65_536
const SEARCHED_CHARS = 32_768

function* saidIn(history: History, message: Message, index: number, text: string): Pausable<string[]> {
  const { facts } = message
  const near = endsOf(text, DRAWN_CHARS)
  const shown = facts.role === 'tool' ? yield* renderTerminal(near) : withoutThoughts(near)
  const marks = mediaMarks(facts.media)
  const lengthening = text.length / Math.max(1, near.length)
  const said = yield* clipped(history, shown, shown.length * lengthening, textTokensMax[facts.role])
  const content = [said, marks].filter((piece) => piece.trim() !== '').join('\n')
  return content === '' ? [] : [`${harmless(speakerLabel(history, index))}\n${content}`]
}

function* callsIn({ countSteps }: History, { calls }: ParsedMessage): Pausable<string[]> {
  const lines: string[] = []
  for (const { name, argumentsText } of calls) {
    const text = yield* clean(endsOf(argumentsText, SEARCHED_CHARS))
    const tokens = yield* countSteps(text)
    const shown = yield* clipArguments(text, tokens, ARGUMENTS_TOKENS_MAX, countSteps)
    lines.push(`${harmless(labels.call(name))} ${shown}`)
    yield
  }
  return lines
}

/** `wholeChars`: how long the text was before its middle was left out, which its mark states in tokens. */
function* clipped(
  { countSteps }: History,
  text: string,
  wholeChars: number,
  tokensMax: number,
): Pausable<string> {
  const near = endsOf(text, SEARCHED_CHARS)
  const searched = yield* clean(near)
  const tokens = yield* countSteps(searched)
  const wholeTokens = Math.round(tokens * Math.max(1, wholeChars / Math.max(1, near.length)))
  const shown = yield* clipText(searched, tokens, tokensMax, countSteps, { wholeTokens })
  return unlabelled(harmless(shown))
}

function clean(text: string): Pausable<string> {
  return redactedSteps(harmless(text))
}

/** A line of content that looks like a label is marked as none. */
function unlabelled(text: string): string {
  return text.replace(/^(?=[ \t]*\[(?:user|assistant|system|developer|other|to |from ))/gim, '\\')
}

/** An opening tag, behind blanks, at the place where the search stands. */
const opening = /\s*<(think|thinking|thought|reasoning)>/iy

const LONE_END = '</think>'
