// Who gets how much of a view (promises P4 and P5): every share and cap of a compaction stands here. "The room" is what the
// budget leaves beside system messages and tools.

/** Shares of the room, if not said otherwise; those of the parts in their order of right. */
export const SHARE = {
  /** The newest assistant message and all that follows it. */
  newestRound: 1 / 2,
  /** A user message that is itself the newest. */
  newestUser: 3 / 4,
  /** The task, and the latest user message where it is older than the newest round. */
  pinned: 1 / 4,
  /** The newest messages as they were, the newest round among them, when a compaction ends. */
  recent: 1 / 3,
  /** What is kept word for word by request. */
  kept: 1 / 8,
  /** What stands for folded messages, recaps and summaries together, at the most … */
  recap: 1 / 3,
  /** … recaps without summaries: the agent's own words are worth more than names of them … */
  recapAlone: 1 / 8,
  /** … in the smallest form … */
  smallestRecap: 1 / 4,
  /** … and what is kept of that beside parts which take more than their share. */
  leastRecap: 1 / 8,
  /** What a recap keeps of its least share, if the parts before it in right would be cut else. */
  yieldingRecap: 1 / 2,
  /** Of two recaps the one of the latest turn takes at most this share of what both have. */
  latestTurnRecap: 1 / 2,
  /** Of what it replaces a recap takes no more: nearly as long as that, it is not worth a cache miss. */
  recapOfReplaced: 0.6,
  /** Of the target, for folded system messages that are quoted. */
  quotedSystem: 1 / 4,
  /** Of a clip that stands: one that keeps less than this of what there is room for is made anew. */
  standingClip: 0.7,
  /** What is left of the room is given to clipped parts where it is more than this share. */
  spare: 1 / 16,
  /** Of the budget: a compaction that nothing forces frees as much, or `FREED_TOKENS_MIN`. */
  freed: 0.1,
  /** Of the budget: a new view stays so far below, since a count of what was never sent may be off by as much. */
  countDoubt: 0.005,
} as const

/** A compaction that nothing forces frees no less; in tokens. */
export const FREED_TOKENS_MIN = 1024

/** The recap of the smallest form: enough for the names of what was done last. */
export const SMALLEST_RECAP_TOKENS = 128

/** How far messages are cut that have to give way, each framing included; in tokens. */
export const CUT_TO_TOKENS = {
  /** A mark, and a few lines of head and tail. */
  headAndTail: 64,
  /** A mark, and a few words of head and tail. */
  words: 24,
  /** The frame and one word: where nothing else fits. */
  oneWord: 1,
} as const

/** The mark that says that something was left out, in tokens. */
export const MARK_TOKENS = 12

/** How much quoted system messages may take, in tokens: they come on top of a recap. */
export function quotedSystemTokensMax(targetTokens: number): number {
  return Math.max(0, Math.floor(targetTokens * SHARE.quotedSystem))
}

/** What the parts take as they came, in tokens; 0 where there is no such part. */
export type PartSizes = {
  /** The newest round without its newest user message, task and latest user message. */
  readonly newestRound: number
  /** The user message that is the newest message of all. */
  readonly newestUser: number
  readonly task: number
  /** The latest user message, where it is neither the newest message nor the task. */
  readonly latestUser: number
}

/** What the parts of a view have a right to, in tokens. */
export type Shares = ReturnType<typeof sharesOf>

/** Divides the room: each part gets its share in the order of right, and what one does not need the others get. */
export function sharesOf(roomTokens: number, sizes: PartSizes) {
  const room = Math.max(0, roomTokens)
  const half = Math.floor(room * SHARE.newestRound)
  const pinned = Math.floor(room * SHARE.pinned)
  const newestUser = Math.min(sizes.newestUser, Math.floor(room * SHARE.newestUser))
  const newestRound = Math.min(sizes.newestRound, Math.max(0, half - newestUser))
  const task = Math.min(sizes.task, pinned)
  const latestUser = Math.min(sizes.latestUser, pinned)
  const newest = newestUser + newestRound
  const left = Math.max(0, room - newest - task - latestUser)
  const recapMin = Math.min(left, Math.floor(room * SHARE.leastRecap))
  const besideRecap = newest + left - recapMin
  const recentMin = Math.max(newest, Math.min(Math.floor(room * SHARE.recent), besideRecap))
  // Beside the newest messages, the least recap and one more round like the newest the task stays whole, then the latest user
  // message: without room for that round each request would be a compaction, and half of what is missing helps nobody.
  const spare = Math.max(0, left - (recentMin - newest) - recapMin - sizes.newestRound)
  const taskMore = sizes.task - task <= spare ? sizes.task - task : 0
  const latestMore = sizes.latestUser - latestUser <= spare - taskMore ? sizes.latestUser - latestUser : 0
  return {
    /** Whole, or cut down to this and no further while another part has more than its share. */
    sure: { newestUser, newestRound, task, latestUser },
    /** What task and latest user message may take while everything else has its share: the sure part, and what nobody needs. */
    task: task + taskMore,
    latestUser: latestUser + latestMore,
    /** How much of the newest messages a compaction leaves as they were, the newest round included … */
    recentMin,
    /** … where a further message would leave no room for what comes before it in right … */
    recentMax: Math.max(recentMin, Math.min(half, besideRecap)),
    /** … and how much of them a profile may keep by number: half of the room beside the newest round. */
    keptMax: Math.max(recentMin, Math.min(half + newest, besideRecap)),
    recapMin,
    recapMax: Math.floor(room * SHARE.recap),
  }
}

/** The shares of what there is beside task and latest user message: nobody needs their room while all of it fits. */
export function sharesBesidePins(roomTokens: number, sizes: PartSizes): Shares {
  const { task, latestUser } = sizes
  const others = sharesOf(roomTokens - task - latestUser, { ...sizes, task: 0, latestUser: 0 })
  return { ...others, task, latestUser, sure: { ...others.sure, task, latestUser } }
}
