import { argumentSpans, type ArgumentsSpan } from '../conversation/calls.ts'
import type { Message } from '../conversation/message.ts'
import { parseMessage } from '../conversation/parse.ts'
import { plainThoughts } from '../conversation/plain-thoughts.ts'
import type { Steps } from '../conversation/source.ts'
import { frameTokens, uncutTokens } from '../pressure/message-tokens.ts'
import { clipArguments, clipText, waterLevel } from './passes/clip.ts'
import { clearedText } from './passes/clear.ts'
import { previewText } from './passes/preview.ts'
import { renderTerminal } from './passes/render.ts'
import { handleOf } from './handles.ts'
import { contentReplacement, mediaRemoval, messageWith, type Replacement } from './made-message.ts'
import type { Made, MadeCache, MadeHow } from './made-cache.ts'
import type { Policy } from './policy.ts'
import { sum } from './size-sums.ts'
import { toolNameOf, type Subject } from './subject.ts'

/** What is done to one message that stays in the view. */
export type Treatment =
  | { readonly kind: 'kept' }
  | { readonly kind: 'rendered' }
  | { readonly kind: 'previewed' }
  | { readonly kind: 'cleared' }
  /** Its media go, but for the last so many; its text stays. */
  | { readonly kind: 'unloaded'; readonly mediaKept: number }
  | { readonly kind: 'clipped'; readonly tokensMax: number; readonly of: 'kept' | 'rendered' | 'previewed' }

/**
 * Makes the treated messages of one subject and remembers them. What it makes depends on the message, the policy
 * and, where messages are named, its place. The tokens stated for a made message are those that its JSON would be
 * counted with.
 */
export type Treatments = {
  /** The message under this treatment; `text` null where the treatment changes nothing. */
  readonly make: (index: number, treatment: Treatment) => Steps<Made>
}

export function createTreatments(subject: Subject, policy: Policy, cache: MadeCache): Treatments {
  const latest = latestBySubject.get(subject)
  if (latest?.policy === policy && latest.cache === cache) return latest.treatments
  const treatments = newTreatments(subject, policy, cache)
  latestBySubject.set(subject, { policy, cache, treatments })
  return treatments
}

// --- internal ---

/** The stride and the view of one request are made of the same. */
const latestBySubject = new WeakMap<
  Subject,
  { readonly policy: Policy; readonly cache: MadeCache; readonly treatments: Treatments }
>()

function newTreatments(subject: Subject, policy: Policy, cache: MadeCache): Treatments {
  const settings = [
    policy.render.enabled,
    policy.preview.threshold_tokens,
    policy.preview.max_chars,
    policy.preview.max_lines,
  ].join(',')

  const latestMade: ({ readonly how: string; readonly made: Made } | undefined)[] = []

  return {
    make: function* makeTreated(index, treatment) {
      const message = subject.messages[index]
      const size = subject.sizes[index] ?? 0
      if (message === undefined || treatment.kind === 'kept') return unchanged(size)
      const how = nameOf(treatment)
      // Plans weigh a message many times before its view is built.
      const latest = latestMade[index]
      if (latest?.how === how) return latest.made
      // A cleared result names its tool, which stands in another message.
      const tool = treatment.kind === 'cleared' ? toolNameOf(subject, index) : ''
      // Equal bytes stand at several places, and each of them has a name of its own.
      const handle = handleIn(policy, subject, index, treatment.kind) ?? ''
      const key = `${message.facts.hash}:${subject.memorySpace}:${how}:${tool}:${handle}:${settings}`
      let made = cache.get(key)
      if (made === undefined) {
        const savedMin = treatment.kind === 'cleared' ? CLEARED_SAVES_MIN : 1
        made = smallerOf(size, makeOne(policy, subject, index, treatment), savedMin)
        cache.set(key, made)
        yield
      }
      latestMade[index] = { how, made }
      return made
    },
  }
}

function nameOf(treatment: Treatment): string {
  switch (treatment.kind) {
    case 'kept':
    case 'rendered':
    case 'previewed':
    case 'cleared':
      return treatment.kind
    case 'unloaded':
      return `unloaded ${treatment.mediaKept}`
    case 'clipped':
      return `clipped ${treatment.of} ${treatment.tokensMax}`
  }
}

/** The name that the mark of a treated message states; null where it has no mark or messages have no names. */
function handleIn(policy: Policy, subject: Subject, index: number, kind: Treatment['kind']): string | null {
  const isMarked = kind === 'previewed' || kind === 'cleared' || kind === 'clipped'
  return policy.recall.enabled && isMarked ? handleOf(index, subject.structure.systemCount) : null
}

/** A placeholder says that something was there and no more: for fewer tokens than this it is not worth it. */
const CLEARED_SAVES_MIN = 32

/** A treatment that would save next to nothing leaves a message as it is. */
function smallerOf(size: number, made: Made, savedMin: number): Made {
  return made.text !== null && made.tokens <= size - savedMin ? made : unchanged(size)
}

/** A message that stays as it is. */
function unchanged(tokens: number): Made {
  return { text: null, tokens, how: null }
}

function makeOne(policy: Policy, subject: Subject, index: number, treatment: Treatment): Made {
  switch (treatment.kind) {
    case 'kept':
      return unchanged(subject.sizes[index] ?? 0)
    case 'cleared': {
      const handle = handleIn(policy, subject, index, treatment.kind)
      const text = clearedText(toolNameOf(subject, index), subject.sizes[index] ?? 0, handle)
      return withText(subject, index, { text, how: 'cleared' }, 'drop')
    }
    case 'rendered':
    case 'previewed':
      return withText(subject, index, treatedText(policy, subject, index, treatment.kind), 'keep')
    case 'unloaded':
      return unloadMessage(subject, index, treatment.mediaKept)
    case 'clipped':
      return clipMessage(policy, subject, index, treatment)
  }
}

/** A message's text, and what it came out as: a preview that would not be shorter is none. */
type TreatedText = { readonly text: string; readonly how: MadeHow | null }

function treatedText(
  policy: Policy,
  subject: Subject,
  index: number,
  kind: 'kept' | 'rendered' | 'previewed',
): TreatedText {
  const message = subject.messages[index]
  if (message === undefined) return { text: '', how: null }
  const { text } = parseMessage(subject.source, message)
  if (kind === 'kept') return { text, how: null }
  const shown = policy.render.enabled ? renderTerminal(text) : text
  const rendered: TreatedText = { text: shown, how: shown === text ? null : 'rendered' }
  if (kind === 'rendered') return rendered
  const size = shown === text ? (subject.sizes[index] ?? 0) : subject.count(shown)
  if (size < policy.preview.threshold_tokens) return rendered
  const bounds = { maxChars: policy.preview.max_chars, maxLines: policy.preview.max_lines }
  const handle = handleIn(policy, subject, index, kind)
  const preview = previewText(shown, subject.sizes[index] ?? 0, bounds, handle)
  return preview === shown ? rendered : { text: preview, how: 'previewed' }
}

/** The message with this text in the place of its own. */
function withText(subject: Subject, index: number, { text, how }: TreatedText, media: 'keep' | 'drop'): Made {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined) return unchanged(size)
  const drops = media === 'drop' && hasDroppableMedia(message)
  const parsed = parseMessage(subject.source, message)
  if (parsed.text === text && !drops) return unchanged(size)
  const replacement = contentReplacement(subject.source, message, text, drops ? 'drop' : 'keep')
  if (replacement === null) return unchanged(size)
  const argumentTokens = sum(parsed.calls.map((call) => subject.count(call.argumentsText)))
  const frame = frameTokens(message.facts, subject.count) + uncutTokens(parsed, subject.count)
  const mediaTokens = drops ? 0 : sum(subject.mediaSizes(index))
  return {
    text: messageWith(subject.source, message, [replacement]),
    tokens: frame + argumentTokens + mediaTokens + subject.count(text),
    how,
  }
}

/** A message that keeps only its last so many media. A mark stands where the first of the others stood. */
function unloadMessage(subject: Subject, index: number, mediaKept: number): Made {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined || !hasDroppableMedia(message)) return unchanged(size)
  const removal = mediaRemoval(subject.source, message, mediaKept, MEDIA_DROPPED)
  if (removal === null) return unchanged(size)
  const sizes = subject.mediaSizes(index)
  const droppedTokens = sum(sizes.slice(0, Math.max(0, sizes.length - mediaKept)))
  const textTokens = subject.count(parseMessage(subject.source, message).text)
  return {
    text: messageWith(subject.source, message, [removal]),
    tokens: size - droppedTokens - textTokens + subject.count(removal.text),
    how: 'unloaded',
  }
}

/**
 * A message shortened to at most `tokensMax`, framing included, as far as its frame and what is never cut
 * allow: media go first, then text, plain thoughts and call arguments share what is left, the largest cut first.
 */
function clipMessage(
  policy: Policy,
  subject: Subject,
  index: number,
  treatment: Extract<Treatment, { kind: 'clipped' }>,
): Made {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined || size <= treatment.tokensMax) return unchanged(size)
  const { source, count } = subject
  const parsed = parseMessage(source, message)
  const drops = hasDroppableMedia(message)
  const { text, how } = treatedText(policy, subject, index, treatment.of)
  const markTokens = drops ? count(`\n${MEDIA_DROPPED}`) : 0
  const mediaTokens = drops ? 0 : sum(subject.mediaSizes(index))
  const thoughts = plainThoughts(source, message, parsed)
  const thoughtTokens = thoughts === null ? 0 : count(thoughts.text)
  const staying = frameTokens(message.facts, count) + uncutTokens(parsed, count) - thoughtTokens + mediaTokens
  const textTokens = count(text)
  const argumentTokens = parsed.calls.map((call) => count(call.argumentsText))
  const level = waterLevel(
    [textTokens, thoughtTokens, ...argumentTokens],
    treatment.tokensMax - staying - markTokens,
    0,
  )

  const replacements: Replacement[] = []
  const mark = { handle: handleIn(policy, subject, index, treatment.kind) }
  const clipped = clipText(text, textTokens, level, count, mark)
  const shownText = drops ? [clipped, MEDIA_DROPPED].filter((line) => line !== '').join('\n') : clipped
  if (shownText !== parsed.text || drops) {
    const content = contentReplacement(source, message, shownText, drops ? 'drop' : 'keep')
    if (content !== null) replacements.push(content)
  }
  let isCut = shownText !== text
  let tokens = staying + count(shownText) + Math.min(thoughtTokens, level)
  if (thoughts !== null && thoughtTokens > level) {
    const shown = clipText(thoughts.text, thoughtTokens, level, count, mark)
    tokens += count(shown) - level
    isCut = true
    for (const span of thoughts.spans) replacements.push({ ...span, json: JSON.stringify(shown) })
  }
  for (const [position, span] of argumentSpans(source, message, parsed.calls).entries()) {
    const argumentsText = parsed.calls[position]?.argumentsText ?? ''
    const sizeTokens = argumentTokens[position] ?? 0
    if (span === null || sizeTokens <= level) {
      tokens += sizeTokens
      continue
    }
    const shown = clippedArguments(span.kind, argumentsText, sizeTokens, level, count, mark)
    tokens += count(shown)
    isCut ||= shown !== argumentsText
    replacements.push({ ...span, json: span.kind === 'value' ? shown : JSON.stringify(shown) })
  }
  return { text: messageWith(source, message, replacements), tokens, how: isCut ? 'clipped' : how }
}

function clippedArguments(kind: ArgumentsSpan['kind'], ...text: Parameters<typeof clipArguments>): string {
  return kind === 'text' ? clipText(...text) : clipArguments(...text)
}

/**
 * Whether a new content leaves media out. Audio beside the content stays, and what it weighs is known only
 * together with the rest: then all of them stay.
 */
function hasDroppableMedia({ facts }: Message): boolean {
  return facts.media.length > 0 && facts.media.every(({ place }) => place !== 'beside')
}

/** What stands in the place of a message's images or files. */
const MEDIA_DROPPED = '[media left out]'
