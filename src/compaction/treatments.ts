import { parseMessage } from '../conversation/parse.ts'
import type { Steps } from '../conversation/source.ts'
import { frameTokens } from '../pressure/message-tokens.ts'
import { clipArguments, clipText, waterLevel } from './passes/clip.ts'
import { clearedText } from './passes/clear.ts'
import { previewText } from './passes/preview.ts'
import { renderTerminal } from './passes/render.ts'
import { argumentSpans, contentReplacement, messageWith, type Replacement } from './made-message.ts'
import type { Made, MadeCache } from './made-cache.ts'
import type { Policy } from './policy.ts'
import { toolNameOf, type Subject } from './subject.ts'

/** What is done to one message that stays in the view. */
export type Treatment =
  | { readonly kind: 'kept' }
  | { readonly kind: 'rendered' }
  | { readonly kind: 'previewed' }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'clipped'; readonly tokensMax: number; readonly of: 'kept' | 'rendered' | 'previewed' }

/**
 * Makes the treated messages of one subject and remembers them. What it makes depends on the message and the
 * policy only.
 */
export type Treatments = {
  /** The message under this treatment; `json` null where the treatment changes nothing. */
  readonly make: (index: number, treatment: Treatment) => Steps<Made>
}

export function createTreatments(subject: Subject, policy: Policy, cache: MadeCache): Treatments {
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
      if (message === undefined || treatment.kind === 'kept') return { json: null, tokens: size }
      const how =
        treatment.kind === 'clipped' ? `clipped ${treatment.of} ${treatment.tokensMax}` : treatment.kind
      // Plans weigh a message many times before its view is built.
      const latest = latestMade[index]
      if (latest?.how === how) return latest.made
      // A cleared result names its tool, which stands in another message.
      const tool = treatment.kind === 'cleared' ? toolNameOf(subject, index) : ''
      const key = `${message.facts.hash}:${subject.memorySpace}:${how}:${tool}:${settings}`
      let made = cache.get(key)
      if (made === undefined) {
        made = smallerOf(size, makeOne(policy, subject, index, treatment))
        cache.set(key, made)
        yield
      }
      latestMade[index] = { how, made }
      return made
    },
  }
}

// --- internal ---

/** A treatment that would make a message larger leaves it as it is. */
function smallerOf(size: number, made: Made): Made {
  return made.json !== null && made.tokens < size ? made : { json: null, tokens: size }
}

function makeOne(policy: Policy, subject: Subject, index: number, treatment: Treatment): Made {
  switch (treatment.kind) {
    case 'kept':
      return { json: null, tokens: subject.sizes[index] ?? 0 }
    case 'cleared':
      return withText(
        subject,
        index,
        clearedText(toolNameOf(subject, index), subject.sizes[index] ?? 0),
        'drop',
      )
    case 'rendered':
    case 'previewed':
      return withText(subject, index, treatedText(policy, subject, index, treatment.kind), 'keep')
    case 'clipped':
      return clipMessage(policy, subject, index, treatment)
  }
}

function treatedText(
  policy: Policy,
  subject: Subject,
  index: number,
  kind: 'kept' | 'rendered' | 'previewed',
): string {
  const message = subject.messages[index]
  if (message === undefined) return ''
  const { text } = parseMessage(subject.source, message)
  if (kind === 'kept') return text
  const rendered = policy.render.enabled ? renderTerminal(text) : text
  if (kind === 'rendered') return rendered
  const size = rendered === text ? (subject.sizes[index] ?? 0) : subject.count(rendered)
  if (size < policy.preview.threshold_tokens) return rendered
  return previewText(rendered, subject.sizes[index] ?? 0, {
    maxChars: policy.preview.max_chars,
    maxLines: policy.preview.max_lines,
  })
}

/** The message with this text in the place of its own; media parts stay unless they are dropped. */
function withText(subject: Subject, index: number, text: string, media: 'keep' | 'drop'): Made {
  const message = subject.messages[index]
  const unchanged = { json: null, tokens: subject.sizes[index] ?? 0 }
  if (message === undefined) return unchanged
  const parsed = parseMessage(subject.source, message)
  const keepsAllMedia = media === 'keep' || message.facts.media.length === 0
  if (parsed.text === text && keepsAllMedia) return unchanged
  const replacement = contentReplacement(subject.source, message, text, media)
  if (replacement === null) return unchanged
  const argumentTokens = parsed.calls.reduce((sum, call) => sum + subject.count(call.argumentsText), 0)
  const frame = frameTokens(message.facts, subject.count)
  const mediaTokens = media === 'drop' ? 0 : subject.mediaTokens(index)
  return {
    json: messageWith(subject.source, message, [replacement]),
    tokens: frame + argumentTokens + mediaTokens + subject.count(text),
  }
}

/**
 * A message shortened to at most `tokensMax`, framing included, as far as its frame allows: media go first,
 * then text and call arguments share what is left, the largest cut first.
 */
function clipMessage(
  policy: Policy,
  subject: Subject,
  index: number,
  treatment: Extract<Treatment, { kind: 'clipped' }>,
): Made {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined || size <= treatment.tokensMax) return { json: null, tokens: size }
  const text = treatedText(policy, subject, index, treatment.of)
  const { calls } = parseMessage(subject.source, message)
  const frame = frameTokens(message.facts, subject.count)
  const pieces = [text, ...calls.map((call) => call.argumentsText)]
  const pieceTokens = pieces.map((piece) => subject.count(piece))
  const level = waterLevel(pieceTokens, treatment.tokensMax - frame, 0)

  const shownText =
    text === '' && message.facts.media.length > 0
      ? MEDIA_DROPPED
      : clipText(text, pieceTokens[0] ?? 0, level, subject.count)
  const replacements: Replacement[] = []
  const content = contentReplacement(subject.source, message, shownText, 'drop')
  const drops = message.facts.media.length > 0
  if (content !== null && (drops || shownText !== text || treatment.of !== 'kept')) replacements.push(content)
  let tokens = frame + (content === null ? 0 : subject.count(shownText))
  for (const [position, span] of argumentSpans(subject.source, message).entries()) {
    const argumentsText = calls[position]?.argumentsText ?? ''
    const shown = clipArguments(argumentsText, pieceTokens[position + 1] ?? 0, level, subject.count)
    tokens += subject.count(shown)
    if (span !== null && shown !== argumentsText) replacements.push({ ...span, json: JSON.stringify(shown) })
  }
  return { json: messageWith(subject.source, message, replacements), tokens }
}

/** What stands in the place of a message's images or files when nothing else was in it. */
const MEDIA_DROPPED = '[media left out]'
