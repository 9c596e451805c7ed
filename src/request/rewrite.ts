import type { Chat, RecordPlace, Counted, Prepared } from './request.ts'
import type { Advanced } from '../compaction/advance.ts'
import { compactionFor, tighten, viewUnder, type Compacted } from '../compaction/compact.ts'
import type { MadeCache } from '../compaction/made-cache.ts'
import type { PreparedFold } from '../compaction/plan/options.ts'
import type { Compaction } from '../compaction/compaction.ts'
import { withoutFile } from '../compaction/summary-note.ts'
import type { View } from '../compaction/view/view.ts'
import { violationSteps, type MessageShape } from '../dialects/chat-completions/rules.ts'
import type { Steps } from '../conversation/source.ts'
import { spliceMessages } from '../conversation/splice.ts'
import { InvariantError } from '../errors.ts'
import type { Profile } from '../profiles/schema.ts'
import type { KeepTaken } from '../proxy/archiving.ts'
import { breathe, drive } from '../scheduling/drive.ts'
import { filledView } from './compact/filled-view.ts'
import type { Records } from './records/records.ts'

export type Rewriter = {
  /** The request under the compaction that it stands in, one more if one is due. */
  readonly prepare: (request: RewriteRequest, counted: Counted, how: Preparing) => Promise<Prepared>
  /** What `prepare` would make: nothing is recorded, and recaps stand for what would be summarised. */
  readonly dryRun: (
    request: RewriteRequest,
    counted: Counted,
    how: Pick<Preparing, 'forced'>,
  ) => Promise<Prepared>
  /** The same compaction's view under another placement. */
  readonly placeAnew: (
    request: RewriteRequest,
    counted: Counted,
    strict: boolean,
    compaction: Compaction | null,
  ) => Promise<Prepared>
  /** A smaller view after a refusal; null where nothing more can be taken away. It is on record once it was accepted. */
  readonly tighten: (request: RewriteRequest, counted: Counted, how: Tightening) => Promise<Prepared | null>
}

export type Preparing = {
  /** A compaction now, whatever the pressure. */
  readonly forced: boolean
  /** The fold for a compaction that is due, with its summaries; null where a recap is to stand for what is folded. */
  readonly foldFor: (due: Advanced) => Promise<PreparedFold | null>
}

export type RewriteRequest = {
  readonly chat: Chat
  /** The conversation's id. */
  readonly conversation: string
  readonly profile: Profile
  readonly place: RecordPlace
  /** The newest compaction on record. */
  readonly newest: Compaction | null
  /** Up to which request point its past is on record, and up to which its end was not edited: see `advance.ts`. */
  readonly seenUntil: number | null
  readonly sharedUntil: number | null
  readonly strict: boolean
}

export type Tightening = {
  readonly previous: Compaction | null
  readonly budgetTokens: number
  /** Whether the view is to take all of the budget, rather than to leave room for the rounds to come. */
  readonly fills: boolean
  readonly keepRecent: number
  readonly smallest: boolean
  readonly strict: boolean
  /** Own count of what was refused. */
  readonly refusedTokens: number
}

export type RewriterOptions = {
  readonly cache: MadeCache
  readonly records: Records
  /** Keeps what a compaction takes away, before the compaction is recorded and anything is sent. */
  readonly keepTaken: KeepTaken
}

/** Rewrites conversations. What it makes is checked before it is sent: a broken rule throws an InvariantError. */
export function createRewriter(options: RewriterOptions): Rewriter {
  const { cache, records, keepTaken } = options
  const { compactionIn, under, dryRun } = createViews(cache)

  /** With the compaction that was made for it, unless another replica's took its place. */
  async function underMade(
    request: RewriteRequest,
    counted: Counted,
    { compaction, beforeTokens }: Advanced,
    beganMs: number,
  ): Promise<Prepared> {
    const { newest, strict } = request
    if (compaction === null || compaction === newest) return under(request, counted, compaction, strict)
    const { standing, isOurs } = await recorded(request, counted, compaction)
    const result = await under(request, counted, standing, strict)
    if (!isOurs) return result
    const tokensBefore = counted.aroundTokens + (beforeTokens ?? counted.conversationTokens)
    return { ...result, made: { compaction, tokensBefore, milliseconds: performance.now() - beganMs } }
  }

  /** Records a compaction that was just made: the one that stands, as the next request will find it. */
  async function recorded(request: RewriteRequest, counted: Counted, made: Compaction): Promise<Recorded> {
    if (made.point === request.newest?.point) {
      await records.replace(request, made)
      return { standing: made, isOurs: true }
    }
    const standing = await records.keep(request, made)
    if (standing === made || JSON.stringify(standing) === JSON.stringify(made))
      return { standing, isOurs: true }
    // Another replica was first: its compaction is followed, so that both send the same bytes.
    const { compaction } = await compactionIn(request, counted, standing, NOTHING_NEW)
    if (compaction !== null) await keepTaken(request, counted, compaction)
    if (compaction !== null && compaction !== standing) await records.replace(request, compaction)
    return { standing: compaction, isOurs: false }
  }

  return {
    prepare: async (request, counted, { forced, foldFor }) => {
      const beganMs = performance.now()
      const { newest } = request
      const dueWith = (fold: PreparedFold | null): Promise<Advanced> =>
        compactionIn(request, counted, newest, { forced, prepared: fold })
      let due = await dueWith(null)
      if (due.compaction !== null && due.compaction !== newest) {
        const fold = await foldFor(due)
        if (fold !== null) due = await dueWith(fold)
        const isKept = due.compaction === null || (await keepTaken(request, counted, due.compaction))
        if (fold !== null && !isKept) due = await dueWith(await bareFold(request, counted, fold))
      }
      return underMade(request, counted, due, beganMs)
    },

    dryRun,

    placeAnew: async (request, counted, strict, compaction) => {
      const { compaction: standing } = await compactionIn(
        { ...request, strict },
        counted,
        compaction,
        NOTHING_NEW,
      )
      if (standing !== null && standing !== compaction) await keepTaken(request, counted, standing)
      return under(request, counted, standing, strict)
    },

    tighten: async (request, counted, how) => {
      const beganMs = performance.now()
      const fills = how.fills && !how.smallest
      const viewWithin = async (budgetTokens: number): Promise<Tightened | null> => {
        const room = { budgetTokens, aroundTokens: counted.room.aroundTokens }
        const policy = fills ? { ...request.profile, target: budgetTokens } : request.profile
        const made = await drive(tighten(counted.subject, cache, { ...how, policy, room }))
        if (made === null || made.compaction === null) return null
        const sent = await drive(prepared(request, counted, made, how.strict))
        return { ...sent, compaction: made.compaction }
      }
      const tightened = await (fills
        ? filledView(how.budgetTokens, viewWithin)
        : viewWithin(how.budgetTokens))
      if (tightened === null) return null
      const { compaction, ...result } = tightened
      await keepTaken(request, counted, compaction)
      const milliseconds = performance.now() - beganMs
      return { ...result, made: { compaction, tokensBefore: how.refusedTokens, milliseconds } }
    },
  }
}

/** A conversation with all of its messages: the client's own bytes, or the repaired ones. */
export function asItCame(chat: Chat, sentTokens: number): Prepared {
  return {
    chat,
    pieces: [{ start: 0, end: chat.bytes.length }],
    compacted: null,
    isRewritten: chat.repairs !== null,
    strict: false,
    clampedOutputTokens: null,
    sentTokens,
    made: null,
  }
}

/** What a rewriter would make, for whoever records nothing. */
export function createDryRun(cache: MadeCache): Rewriter['dryRun'] {
  return createViews(cache).dryRun
}

// --- internal ---

type Tightened = Prepared & { readonly compaction: Compaction }

type Recorded = { readonly standing: Compaction | null; readonly isOurs: boolean }

/** Compactions and views as they are made; recording them is left to others. */
function createViews(cache: MadeCache) {
  async function compactionIn(
    request: RewriteRequest,
    { subject, room, compaction, differenceTokens }: Counted,
    newest: Compaction | null,
    now: { readonly forced: boolean; readonly prepared: PreparedFold | null },
  ): Promise<Advanced> {
    const { profile, seenUntil, sharedUntil, strict } = request
    return drive(
      compactionFor(subject, cache, {
        policy: profile,
        newest,
        seenUntil,
        sharedUntil,
        room,
        // The provider's count is known of the view of this very compaction, and of no other.
        differenceTokens: newest === compaction ? differenceTokens : 0,
        strict,
        ...now,
      }),
    )
  }

  async function under(
    request: RewriteRequest,
    counted: Counted,
    compaction: Compaction | null,
    strict: boolean,
  ): Promise<Prepared> {
    const { profile } = request
    const view = await drive(viewUnder(counted.subject, cache, { policy: profile, compaction, strict }))
    await breathe()
    const made = await drive(prepared(request, counted, { compaction, view }, strict))
    await breathe()
    return made
  }

  async function dryRun(
    request: RewriteRequest,
    counted: Counted,
    { forced }: Pick<Preparing, 'forced'>,
  ): Promise<Prepared> {
    const { newest, strict } = request
    const { compaction } = await compactionIn(request, counted, newest, { forced, prepared: null })
    return under(request, counted, compaction, strict)
  }

  return { compactionIn, under, dryRun }
}

/** A fold whose new summaries name no file: what they stand for could not be kept in one. */
function bareFold(
  { newest, profile }: RewriteRequest,
  { subject }: Counted,
  fold: PreparedFold,
): Promise<PreparedFold> {
  const standing = newest?.fold?.summaries ?? []
  return drive(withoutFile(subject, fold, { standing, namesMessages: profile.recall.enabled }))
}

const NOTHING_NEW = { forced: false, prepared: null } as const

function* prepared(
  request: RewriteRequest,
  counted: Counted,
  compacted: Compacted,
  strict: boolean,
): Steps<Prepared> {
  const { chat } = request
  const { view } = compacted
  const isWhole =
    view.messages.length === chat.messages.length && view.messages.every(({ item }) => item.kind === 'kept')
  const { systemCount } = chat.structure
  const leading = view.messages.slice(0, systemCount)
  const systemTokens = leading.reduce((sum, message) => sum + message.tokens, 0)
  const sentTokens = view.tokens - systemTokens + counted.aroundTokens
  if (isWhole) return { ...asItCame(chat, sentTokens), compacted }
  yield* checkView(chat, view)
  const items = view.messages.map(({ item }) => item)
  const pieces = spliceMessages(chat.messages, items, chat.completion.messages, chat.bytes.length)
  return {
    chat,
    pieces,
    compacted,
    isRewritten: true,
    strict,
    clampedOutputTokens: null,
    sentTokens,
    made: null,
  }
}

/** A view never breaks a rule more often than its conversation does (P3). */
function* checkView(chat: Chat, view: View): Steps<void> {
  if (view.messages.length === 0) throw new InvariantError('the view has no messages')
  const shapes = view.messages.map(({ index }): MessageShape =>
    index === null ? RECAP_SHAPE : (chat.messages[index]?.facts ?? RECAP_SHAPE),
  )
  yield
  const after = yield* violationSteps(shapes, 'lenient')
  if (after.length === 0) return
  const before = yield* violationSteps(
    chat.messages.map(({ facts }) => facts),
    'lenient',
  )
  if (after.length > before.length) {
    const [first] = after
    throw new InvariantError(`the view breaks the rule ${first?.rule} at message ${first?.index}`)
  }
}

const RECAP_SHAPE: MessageShape = { role: 'user', callIds: [], answersId: null }
