import type { Message, MessageFacts } from '../conversation/message.ts'
import type { Slot } from '../dialects/contract.ts'
import { readable, restored } from '../dialects/readable.ts'
import type { Steps } from '../conversation/source.ts'
import { waterLevel } from '../conversation/water-level.ts'
import { callTokens, frameTokens, uncutTokens } from '../tokens/message-tokens.ts'
import { clipArguments, clipText, type ClipMark } from './passes/clip.ts'
import { hiddenTokens, isSampled, unreadTokens } from '../tokens/unread-tokens.ts'
import { clearedText } from './passes/clear.ts'
import { previewText } from './passes/preview.ts'
import { renderTerminal } from './passes/render.ts'
import { messageNumber } from './message-numbers.ts'
import type { Made, MadeCache, MadeHow } from './made-cache.ts'
import type { Policy } from './policy.ts'
import { readMessage } from './read-message.ts'
import { sum } from './size-sums.ts'
import { toolNameOf, type Subject } from './subject.ts'

/** What is done to one message that stays in the view. */
export type Edit =
  | { readonly kind: 'kept' }
  | { readonly kind: 'rendered' }
  | { readonly kind: 'previewed' }
  | { readonly kind: 'cleared' }
  /** Its media go, but for the last so many; its text stays. */
  | { readonly kind: 'unloaded'; readonly mediaKept: number }
  | { readonly kind: 'clipped'; readonly tokensMax: number; readonly of: 'kept' | 'rendered' | 'previewed' }

/** The message at this index under an edit; `text` null if the edit changes nothing. */
export type EditMessage = (index: number, edit: Edit) => Steps<Made>

/**
 * Edits the messages of one subject and remembers what came of it, which depends on the message, the policy and, where
 * messages are named, its place. The tokens stated for a made message are those that its JSON would be counted with.
 */
export function messageEditor(subject: Subject, policy: Policy, cache: MadeCache): EditMessage {
  const { enabled } = policy.render
  const { threshold_tokens, max_chars, max_lines } = policy.preview
  // Every setting that changes what an edit writes: edited messages are remembered under them.
  const settings = [enabled, threshold_tokens, max_chars, max_lines].join(',')
  // Plans weigh a message many times before its view is built.
  const latestMade: ({ readonly how: string; readonly made: Made } | undefined)[] = []

  return function* editMessage(index, edit) {
    const message = subject.messages[index]
    const size = subject.sizes[index] ?? 0
    if (message === undefined || edit.kind === 'kept') return unchanged(size)
    const how = nameOf(edit)
    const latest = latestMade[index]
    if (latest?.how === how) return latest.made
    // A cleared result names its tool, which stands in another message.
    const tool = edit.kind === 'cleared' ? toolNameOf(subject, index) : ''
    // Equal bytes stand at several places, and each of them has a number of its own.
    const number = numberIn(policy, subject, index, edit.kind) ?? ''
    const key = `${message.facts.hash}:${subject.memorySpace}:${how}:${tool}:${number}:${settings}`
    let made = cache.get(key)
    if (made === undefined) {
      made = yield* makeOne(policy, subject, index, edit)
      // An edit that would save next to nothing leaves a message as it is.
      const savedMin = edit.kind === 'cleared' ? CLEARED_SAVES_MIN : 1
      if (made.text === null || made.tokens > size - savedMin) made = unchanged(size)
      cache.set(key, made)
      yield
    }
    latestMade[index] = { how, made }
    return made
  }
}

// --- internal ---

function nameOf(edit: Edit): string {
  switch (edit.kind) {
    case 'kept':
    case 'rendered':
    case 'previewed':
    case 'cleared':
      return edit.kind
    case 'unloaded':
      return `unloaded ${edit.mediaKept}`
    case 'clipped':
      return `clipped ${edit.of} ${edit.tokensMax}`
  }
}

/** The number that the mark of an edited message states; null if it has no mark, or messages have no numbers. */
function numberIn(policy: Policy, subject: Subject, index: number, kind: Edit['kind']): string | null {
  const isMarked = kind === 'previewed' || kind === 'cleared' || kind === 'clipped'
  return policy.recall.enabled && isMarked ? messageNumber(index, subject.structure.systemCount) : null
}

/** A placeholder says that something was there and no more: for fewer tokens than this it is not worth it. */
const CLEARED_SAVES_MIN = 32

/** A message that stays as it is. */
function unchanged(tokens: number): Made {
  return { text: null, tokens, how: null }
}

function* makeOne(policy: Policy, subject: Subject, index: number, edit: Edit): Steps<Made> {
  switch (edit.kind) {
    case 'kept':
      return unchanged(subject.sizes[index] ?? 0)
    case 'cleared': {
      const number = numberIn(policy, subject, index, edit.kind)
      const text = clearedText(toolNameOf(subject, index), subject.sizes[index] ?? 0, number)
      return yield* withText(subject, index, { text, how: 'cleared' }, 'drop')
    }
    case 'rendered':
    case 'previewed':
      return yield* withText(subject, index, yield* editedText(policy, subject, index, edit.kind), 'keep')
    case 'unloaded':
      return yield* unloadMessage(subject, index, edit.mediaKept)
    case 'clipped':
      return yield* clipMessage(policy, subject, index, edit)
  }
}

type Unread = NonNullable<MessageFacts['unread']>[number]

/** A message's text, and what it came out as: a preview that would not be shorter is none. */
type EditedText = { readonly text: string; readonly how: MadeHow | null }

function* editedText(
  policy: Policy,
  subject: Subject,
  index: number,
  kind: 'kept' | 'rendered' | 'previewed',
): Steps<EditedText> {
  const message = subject.messages[index]
  if (message === undefined) return { text: '', how: null }
  const { text } = yield* readMessage(subject, message)
  if (kind === 'kept') return { text, how: null }
  const shown = policy.render.enabled ? yield* renderTerminal(text) : text
  const rendered: EditedText = { text: shown, how: shown === text ? null : 'rendered' }
  if (kind === 'rendered') return rendered
  const size = shown === text ? (subject.sizes[index] ?? 0) : yield* subject.countSteps(shown)
  if (size < policy.preview.threshold_tokens) return rendered
  const bounds = { maxChars: policy.preview.max_chars, maxLines: policy.preview.max_lines }
  const number = numberIn(policy, subject, index, kind)
  const preview = previewText(shown, subject.sizes[index] ?? 0, bounds, number)
  return preview === shown ? rendered : { text: preview, how: 'previewed' }
}

/** The message with this text in the place of its own. */
function* withText(
  subject: Subject,
  index: number,
  { text, how }: EditedText,
  media: 'keep' | 'drop',
): Steps<Made> {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined) return unchanged(size)
  const drops = media === 'drop' && hasDroppableMedia(message)
  const parsed = yield* readMessage(subject, message)
  if (parsed.text === text && !drops) return unchanged(size)
  const form = readable(subject.source, message)
  const { entries } = subject.dialect
  const slot = (yield* entries.slots(form.source, form.message, parsed)).find(isText)
  if (slot === undefined) return unchanged(size)
  const { countSteps } = subject
  const argumentTokens = sum(yield* callTokens(parsed.calls, countSteps))
  const frame = (yield* frameTokens(message.facts, countSteps)) + (yield* uncutTokens(parsed, countSteps))
  const mediaTokens = drops ? 0 : sum(subject.mediaSizes(index))
  const tokens = frame + argumentTokens + mediaTokens + (yield* countSteps(text))
  const texts = new Map([[slot, text]])
  const json = yield* entries.edited(form.source, form.message, texts, drops ? 'drop' : 'keep')
  // What was not read of a text that was only rendered is lost.
  const made = { json, tokens, how: how === 'rendered' && isSampled(message) ? 'clipped' : how }
  return yield* withUnread(subject, message, made, () => true)
}

/** A message that keeps only its last so many media. A mark stands where the first of the others stood. */
function* unloadMessage(subject: Subject, index: number, mediaKept: number): Steps<Made> {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined || !hasDroppableMedia(message)) return unchanged(size)
  const form = readable(subject.source, message)
  const { withoutMedia } = subject.dialect.entries
  const removal = yield* withoutMedia(form.source, form.message, mediaKept, MEDIA_DROPPED)
  if (removal === null) return unchanged(size)
  const sizes = subject.mediaSizes(index)
  const droppedTokens = sum(sizes.slice(0, Math.max(0, sizes.length - mediaKept)))
  const textTokens = yield* subject.countSteps((yield* readMessage(subject, message)).text)
  const unread = sum(yield* unreadTokens(subject.source, message, subject.countSteps))
  const tokens = size - droppedTokens - unread - textTokens + (yield* subject.countSteps(removal.text))
  return yield* withUnread(subject, message, { json: removal.json, tokens, how: 'unloaded' }, () => true)
}

/**
 * A message shortened to at most `tokensMax`, framing included, as far as its frame and what is never cut
 * allow: media go first, then text, plain thoughts and call arguments share what is left, the largest cut first.
 */
function* clipMessage(
  policy: Policy,
  subject: Subject,
  index: number,
  edit: Extract<Edit, { kind: 'clipped' }>,
): Steps<Made> {
  const message = subject.messages[index]
  const size = subject.sizes[index] ?? 0
  if (message === undefined || size <= edit.tokensMax) return unchanged(size)
  const { countSteps } = subject
  const { source, message: form } = readable(subject.source, message)
  const unread = yield* unreadTokens(subject.source, message, countSteps)
  const parsed = yield* readMessage(subject, message)
  const drops = hasDroppableMedia(message)
  const { text, how } = yield* editedText(policy, subject, index, edit.of)
  const markTokens = drops ? subject.count(`\n${MEDIA_DROPPED}`) : 0
  const mediaTokens = drops ? 0 : sum(subject.mediaSizes(index))
  const { entries } = subject.dialect
  const slots = yield* entries.slots(source, form, parsed)
  yield
  const sizes: number[] = []
  for (const slot of slots) {
    sizes.push(yield* countSteps(isText(slot) ? text : slot.text))
    if (sizes.length % SLOTS_PER_STEP === 0) yield
  }
  const thoughtTokens = sum(sizes.filter((_, position) => slots[position]?.kind === 'thought'))
  const uncut = yield* uncutTokens(parsed, countSteps)
  const staying = (yield* frameTokens(message.facts, countSteps)) + uncut - thoughtTokens + mediaTokens
  const level = waterLevel(sizes, edit.tokensMax - staying - markTokens, 0)

  const texts = new Map<Slot, string>()
  const number = numberIn(policy, subject, index, edit.kind)
  const markOf = (part: string, partTokens: number): ClipMark => ({
    number,
    wholeTokens: partTokens + hiddenTokens(message, unread, part),
  })
  let isCut = isSampled(message)
  let tokens = staying
  for (const [position, slot] of slots.entries()) {
    if (position % SLOTS_PER_STEP === SLOTS_PER_STEP - 1) yield
    const slotTokens = sizes[position] ?? 0
    const whole = isText(slot) ? text : slot.text
    let shown = whole
    if (isText(slot)) {
      const clipped = yield* clipText(whole, slotTokens, level, countSteps, markOf(whole, slotTokens))
      shown = drops ? [clipped, MEDIA_DROPPED].filter((line) => line !== '').join('\n') : clipped
    } else if (slotTokens > level) {
      const clip = slot.isJson ? clipArguments : clipText
      shown = yield* clip(whole, slotTokens, level, countSteps, markOf(whole, slotTokens))
    }
    tokens += shown === whole ? slotTokens : yield* countSteps(shown)
    isCut ||= shown !== whole
    if (shown !== slot.text || (isText(slot) && drops)) texts.set(slot, shown)
  }
  const json = yield* entries.edited(source, form, texts, drops ? 'drop' : 'keep')
  // Texts stay without what was not read of them: nothing else would bring them down.
  const made = { json, tokens, how: isCut ? ('clipped' as const) : how }
  return yield* withUnread(subject, message, made, ({ isText: isRead }) => !isRead)
}

/** A message that was made of what is read of a very long one, with those of its strings whole that stand in it as they were. */
function* withUnread(
  { source, countSteps }: Subject,
  message: Message,
  { json, tokens, how }: { readonly json: string; readonly tokens: number; readonly how: MadeHow | null },
  isKept: (each: Unread) => boolean,
): Steps<Made> {
  const { unread } = message.facts
  if (unread === undefined) return { text: json, tokens, how }
  const sizes = yield* unreadTokens(source, message, countSteps)
  const whole = yield* restored(source, message, json, isKept)
  const added = sum(whole.positions.map((position) => sizes[position] ?? 0))
  return { text: whole.json, tokens: tokens + added, how }
}

function isText({ kind }: Slot): boolean {
  return kind === 'text' || kind === 'result'
}

/**
 * Whether new texts leave media out. Audio beside the content stays, and what it weighs is known only
 * together with the rest: then all of them stay.
 */
function hasDroppableMedia({ facts }: Message): boolean {
  return facts.media.length > 0 && facts.media.every(({ place }) => place !== 'beside')
}

/** Slots of one message between two pauses: well under a millisecond, if they stay as they are. */
const SLOTS_PER_STEP = 1_024

/** What stands in the place of a message's images or files. */
const MEDIA_DROPPED = '[media left out]'
