import type { Message, MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Slot } from '../formats/contract.ts'
import { restored } from '../formats/shortened-message.ts'
import type { Pausable } from '../json/source.ts'
import { sum, waterLevel } from '../conversation/sizes.ts'
import { callTokens, frameTokens, uncutTokens } from '../tokens/message-tokens.ts'
import { clipArguments, clipText } from './passes/clip.ts'
import { hiddenTokens, isSampled, skippedTokens } from '../tokens/skipped-tokens.ts'
import { clearedText, unguessableNames } from './passes/clear.ts'
import { isLossless, type TextTreatment, textPasses } from './passes/passes.ts'
import { messageNumber } from './history/message-numbers.ts'
import type { Made, MadeCache, MadeHow } from './made-cache.ts'
import type { Profile } from '../profiles/schema.ts'
import { resolvedText } from './history/calls/find-references.ts'
import { type MessageForm, readForm, textOfForm, wholeText } from './history/read-message.ts'
import { readableTokens, type History, toolNameOf } from './history/history.ts'

/** What is done to one message that stays in the view. */
export type Edit = {
  /** What the passes leave of it. */
  readonly pass: 'kept' | TextTreatment | 'cleared'
  /** The earlier result that it only refers to, and whose text is sent in its place; null if it stands for itself. */
  readonly resolves: number | null
  /** Without thoughts in it that hold for no other conversation. */
  readonly isUnbound: boolean
  /** Cut down from what the passes leave to so many tokens, framing included; null if it is not. */
  readonly tokensMax: number | null
  /** Without its media, but for the last so many; null if they stay. */
  readonly mediaKept: number | null
}

/** The edit that changes nothing. */
export const AS_IT_CAME: Edit = {
  pass: 'kept',
  resolves: null,
  isUnbound: false,
  tokensMax: null,
  mediaKept: null,
}

/** Whether nothing is written anew but the text of the result that the message refers to, or thoughts in it go. */
export function isUncut({ pass, tokensMax, mediaKept }: Edit): boolean {
  return pass === 'kept' && tokensMax === null && mediaKept === null
}

/**
 * Edits the messages of one history and remembers what came of it, which depends on the message, the profile and, where
 * messages are named, its place. The tokens stated for a made message are those that its JSON would be counted with.
 */
export function messageEditor(history: History, profile: Profile, cache: MadeCache) {
  // Every setting that changes what an edit writes: edited messages are remembered under them.
  const settings = JSON.stringify(textPasses.map(({ name }) => ({ ...profile[name], at: null })))
  // Plans weigh a message many times before its view is built.
  const latestMade: ({ readonly how: string; readonly made: Made } | undefined)[] = []

  /** The message at this index under an edit; `text` null if the edit changes nothing. */
  return function* editMessage(index: number, edit: Edit): Pausable<Made> {
    const { pass, resolves, isUnbound, tokensMax, mediaKept } = edit
    const message = history.messages[index]
    const source = history.messages[resolves ?? -1]
    const growth = source === undefined ? 0 : (history.references.byIndex.get(index)?.growthTokens ?? 0)
    const size = (isUnbound ? readableTokens(history, index) : (history.sizes[index] ?? 0)) + growth
    const isAsItCame = isUncut(edit) && !isUnbound && source === undefined
    if (message === undefined || isAsItCame) return { text: null, tokens: size, how: null }
    const how = [pass, tokensMax, mediaKept, isUnbound, resolves !== null].join(' ')
    const latest = latestMade[index]
    if (latest?.how === how) return latest.made
    // A cleared result names its tool, which stands in another message.
    const tool = pass === 'cleared' ? toolNameOf(history, index) : ''
    const isMarked = tokensMax !== null || (pass !== 'kept' && !isLossless(pass))
    const number =
      profile.recall.enabled && isMarked ? messageNumber(index, history.structure.systemCount) : null
    // Equal bytes stand at several places, and each of them has a number of its own.
    const name = source === undefined ? message.facts.hash : `${message.facts.hash}<${source.facts.hash}`
    const key = `${name}:${history.memorySpace}:${how}:${tool}:${number ?? ''}:${settings}`
    let made = cache.get(key)
    if (made === undefined) {
      const mediaSizes = history.mediaSizes(index)
      const form = yield* readForm(history, message, isUnbound)
      const resolved = source === undefined ? null : yield* resolvedText(history, source, message)
      const one = { history, profile, message, form, resolved, size, mediaSizes, tool, number }
      const result = yield* edited(one, edit)
      // An edit that would save next to nothing leaves a message as it is.
      const savedMin = pass === 'cleared' ? CLEARED_SAVES_MIN : 1
      if (result !== null && (result.tokens <= size - savedMin || (isUncut(edit) && source !== undefined)))
        made = result
      else if (resolves !== null) made = yield* editMessage(index, { ...AS_IT_CAME, resolves })
      else if (!isUnbound) made = { text: null, tokens: size, how: null }
      else made = { text: yield* wholeText(history.source, message, form), tokens: size, how: 'unbound' }
      cache.set(key, made)
      yield
    }
    latestMade[index] = { how, made }
    return made
  }
}

// --- internal ---

/** A placeholder says that something was there and no more: for fewer tokens than this it is not worth it. */
const CLEARED_SAVES_MIN = 32

/** A message that is edited, and what its marks say. */
type Edited = {
  readonly history: History
  readonly profile: Profile
  readonly message: Message
  /** What is read of it, and edited. */
  readonly form: MessageForm
  /** What stands in the place of its own text, if it refers to another; else null. */
  readonly resolved: string | null
  /** As the client sent it, in tokens, and what each of its media takes of that. */
  readonly size: number
  readonly mediaSizes: readonly number[]
  /** The tool whose result is cleared; '' of any other. */
  readonly tool: string
  /** By which it is read back; null if it has no mark, or messages have no numbers. */
  readonly number: string | null
}

/** The message edited; null if the edit does not change it. */
function* edited(one: Edited, { pass, tokensMax, mediaKept }: Edit): Pausable<Made | null> {
  if (pass === 'cleared') {
    const { tool, size, number, resolved, form } = one
    const names = yield* unguessableNames(resolved ?? form.parsed.text, size)
    return yield* withText(one, { text: clearedText(tool, size, number, names), how: 'cleared' }, 'drop')
  }
  if (mediaKept !== null) return yield* unloaded(one, mediaKept)
  const text = yield* editedText(one, pass)
  return tokensMax === null ? yield* withText(one, text, 'keep') : yield* clipped(one, text, tokensMax)
}

type SkippedText = NonNullable<MessageFacts['skipped']>[number]

/** A message's text, and what it came out as: a pass that would not make it shorter does nothing. */
type EditedText = { readonly text: string; readonly how: MadeHow | null }

function* editedText(
  { history, profile, form, resolved, size, number }: Edited,
  pass: 'kept' | TextTreatment,
): Pausable<EditedText> {
  let text = resolved ?? form.parsed.text
  let how: MadeHow | null = resolved === null ? null : 'resolved'
  let sizeTokens: number | null = size
  const last = textPasses.findIndex(({ treatment }) => treatment === pass)
  for (const [place, each] of textPasses.entries()) {
    if (place > last || (place < last && each.losesText)) continue
    sizeTokens ??= yield* history.countSteps(text)
    if (!each.treats(profile, sizeTokens)) continue
    const made = yield* each.edited(text, { profile, sizeTokens: size, number })
    if (made === text) continue
    how = each.losesText ? each.treatment : (how ?? each.treatment)
    text = made
    sizeTokens = null
  }
  return { text, how }
}

/** The message with this text in the place of its own. */
function* withText(one: Edited, { text, how }: EditedText, media: 'keep' | 'drop'): Pausable<Made | null> {
  const { history, message, form } = one
  const { countSteps } = history
  const drops = media === 'drop' && hasDroppableMedia(message)
  const { parsed } = form
  if (parsed.text === text && !drops) return null
  const { entries } = history.dialect
  const slot = (yield* entries.slots(form.source, form.message, parsed)).find(isText)
  if (slot === undefined) return null
  const argumentTokens = sum(yield* callTokens(parsed.calls, countSteps))
  const frame = (yield* frameTokens(message.facts, countSteps)) + (yield* uncutTokens(parsed, countSteps))
  const mediaTokens = drops ? 0 : sum(one.mediaSizes)
  const tokens = frame + argumentTokens + mediaTokens + (yield* countSteps(text))
  const texts = new Map([[slot, text]])
  const json = yield* entries.edited(form.source, form.message, texts, drops ? 0 : one.mediaSizes.length)
  // What was not read of a text is lost, even if the pass lost nothing.
  const made = { text: json, tokens, how: isLossless(how) && isSampled(message) ? ('clipped' as const) : how }
  return yield* withUnread(history, message, made, () => true)
}

/** A message that keeps only its last so many media. A mark stands where the first of the others stood. */
function* unloaded(
  { history, message, form, size, mediaSizes }: Edited,
  mediaKept: number,
): Pausable<Made | null> {
  if (!hasDroppableMedia(message)) return null
  const { countSteps, source } = history
  const { withoutMedia } = history.dialect.entries
  const removal = yield* withoutMedia(form.source, form.message, mediaKept, MEDIA_DROPPED)
  if (removal === null) return null
  const droppedTokens = sum(mediaSizes.slice(0, Math.max(0, mediaSizes.length - mediaKept)))
  const textTokens = yield* countSteps(form.parsed.text)
  const skipped = hiddenTokens(message, yield* skippedTokens(source, message, countSteps), textOfForm(form))
  const tokens = size - droppedTokens - skipped - textTokens + (yield* countSteps(removal.text))
  return yield* withUnread(history, message, { text: removal.json, tokens, how: 'unloaded' }, () => true)
}

/**
 * A message with this text shortened to at most `tokensMax`, framing included, as far as its frame and what is never cut allow:
 * the last media that fit into half of it stay, or into what its texts leave; texts, plain thoughts and call arguments share the
 * rest, the largest cut first.
 */
function* clipped(one: Edited, { text, how }: EditedText, tokensMax: number): Pausable<Made | null> {
  const { history, message, number } = one
  if (one.size <= tokensMax) return null
  const { countSteps } = history
  const { source, message: form, parsed } = one.form
  const skipped = yield* skippedTokens(history.source, message, countSteps)
  const { entries } = history.dialect
  const slots = yield* entries.slots(source, form, parsed)
  const sizes: number[] = []
  for (const slot of slots) {
    yield
    sizes.push(yield* countSteps(isText(slot) ? text : slot.text))
  }
  const thoughtTokens = sum(sizes.filter((_, position) => slots[position]?.kind === 'thought'))
  const uncut = yield* uncutTokens(parsed, countSteps)
  const frame =
    (yield* frameTokens(message.facts, countSteps)) + (yield* fixedTokens(parsed, slots, countSteps))
  const bare = frame + uncut - thoughtTokens
  const markTokens = hasDroppableMedia(message) ? history.count(`\n${MEDIA_DROPPED}`) : 0
  const roomTokens = tokensMax - bare - markTokens
  const mediaKept = mediaThatFit(one, Math.max(roomTokens / 2, roomTokens - sum(sizes)))
  const drops = mediaKept < one.mediaSizes.length
  const staying = bare + sum(one.mediaSizes.slice(one.mediaSizes.length - mediaKept))
  const level = waterLevel(sizes, tokensMax - staying - (drops ? markTokens : 0), 0)

  const texts = new Map<Slot, string>()
  let isCut = isSampled(message)
  let tokens = staying
  for (const [position, slot] of slots.entries()) {
    yield
    const slotTokens = sizes[position] ?? 0
    const whole = isText(slot) ? text : slot.text
    let shown = whole
    if (slotTokens > level) {
      const clip = slot.isJson ? clipArguments : clipText
      const mark = { number, wholeTokens: slotTokens + hiddenTokens(message, skipped, whole) }
      shown = yield* clip(whole, slotTokens, level, countSteps, mark)
    }
    if (isText(slot) && drops) shown = [shown, MEDIA_DROPPED].filter((line) => line !== '').join('\n')
    tokens += shown === whole ? slotTokens : yield* countSteps(shown)
    isCut ||= shown !== whole
    if (shown !== slot.text || (isText(slot) && drops)) texts.set(slot, shown)
  }
  const json = yield* entries.edited(source, form, texts, mediaKept)
  // Texts stay without what was not read of them: nothing else would bring them down.
  const made = { text: json, tokens, how: isCut ? ('clipped' as const) : how }
  return yield* withUnread(history, message, made, ({ isText: isRead }) => !isRead)
}

/** How many of a message's last media fit together; all that it has if none may go. */
function mediaThatFit({ message, mediaSizes }: Edited, tokensMax: number): number {
  if (!hasDroppableMedia(message)) return mediaSizes.length
  // A document of which not all was read could not be written whole.
  if (isSampled(message)) return 0
  let left = tokensMax
  const firstTooMany = mediaSizes.findLastIndex((size) => {
    left -= size
    return left < 0
  })
  return mediaSizes.length - 1 - firstTooMany
}

/** What of the calls' arguments stands in no slot. */
function* fixedTokens(
  { calls }: ParsedMessage,
  slots: readonly Slot[],
  countSteps: History['countSteps'],
): Pausable<number> {
  const texts = slots.filter(({ kind }) => kind === 'arguments').map(({ text }) => text)
  if (calls.every(({ argumentsText }, position) => texts[position] === argumentsText)) return 0
  let tokens = sum(yield* callTokens(calls, countSteps))
  for (const text of texts) tokens -= yield* countSteps(text)
  return Math.max(0, tokens)
}

/** A message that was made of what is read of a very long one, with those of its strings whole that stand in it as they were. */
function* withUnread(
  { source, countSteps }: History,
  message: Message,
  made: Made & { readonly text: string },
  isKept: (each: SkippedText) => boolean,
): Pausable<Made> {
  if (message.facts.skipped === undefined) return made
  const sizes = yield* skippedTokens(source, message, countSteps)
  const whole = yield* restored(source, message, made.text, isKept)
  const added = sum(whole.positions.map((position) => sizes[position] ?? 0))
  return { ...made, text: whole.json, tokens: made.tokens + added }
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

/** What stands in the place of a message's images or files. */
const MEDIA_DROPPED = '[media left out]'
