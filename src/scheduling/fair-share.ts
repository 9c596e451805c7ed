/** A request, as seen by what is shared out among all clients. */
export type Holder = {
  /** Whose it is: what the requests of one name hold is counted together. */
  readonly name: string
  /** Whether some of its answer is on its way: its client could not simply try again. */
  readonly isAnswered: () => boolean
  /** Ends the request: another client has a right to what it was lent. */
  readonly giveWay: () => void
}

/** `full`: nothing is left that this one has a right to. `half`: it has its half, and others wait for theirs. */
export type Taking = 'taken' | 'full' | 'half'

export type FairShare = ReturnType<typeof createFairShare>

/**
 * Shares something out so that nobody can take it from everybody else. Each has a right to half of it. The rest is lent
 * while nobody waits, so that one who is alone has all of it; and what was lent is called in as soon as it is missing for
 * somebody who has less than half: the borrower's newest requests give way, those first that have no answer yet. So at no
 * time one holds more than half while another waits for what it has a right to.
 */
export function createFairShare(options: {
  /** How much there is. */
  readonly max: number
  readonly nowMs?: () => number
  /** With so much taken it is crowded. */
  readonly crowdedFrom?: number
}) {
  const { max, crowdedFrom = Number.POSITIVE_INFINITY, nowMs = () => performance.now() } = options
  // Of one place there is no half.
  const half = Math.max(1, Math.floor(max / 2))
  const owners = new Map<string, Owner>()
  /** Owners that were refused or had something called in, with the time until which that counts; the oldest first. */
  const waiting = new Map<string, number>()
  /** How much all requests hold together. */
  let taken = 0
  /** There is never more than one who holds more than half. */
  let borrower: Owner | null = null

  function change(owner: Owner, amount: number): void {
    taken += amount
    owner.amount += amount
    if (owner.amount > half) borrower = owner
    else if (borrower === owner) borrower = null
  }

  function letWait(name: string): void {
    waiting.delete(name)
    waiting.set(name, nowMs() + WAITING_MS)
  }

  function isAnotherWaiting(name: string): boolean {
    for (const [oldest, untilMs] of waiting) {
      if (untilMs > nowMs()) break
      waiting.delete(oldest)
    }
    return waiting.size > (waiting.has(name) ? 1 : 0)
  }

  /** Has the borrower give back until so much is free, or what it has left is its own. */
  function callIn(amount: number, from: Owner): void {
    for (const part of inOrderOfHarm(from)) {
      if (taken + amount <= max || from.amount <= half) return
      part.release()
      part.holder.giveWay()
    }
  }

  /** One request's part. */
  function open(holder: Holder) {
    const { name } = holder
    let isReleased = false
    let owner: Owner | null = null
    const part: Part = { holder, amount: 0, release }

    /** Takes so much more, or nothing. */
    function take(amount: number): Taking {
      if (isReleased) return 'full'
      const own = (owners.get(name)?.amount ?? 0) + amount
      if (own > half && isAnotherWaiting(name)) return 'half'
      if (taken + amount > max && own <= half) {
        letWait(name)
        if (borrower !== null) callIn(amount, borrower)
      }
      if (taken + amount > max) return 'full'
      owner = owners.get(name) ?? { amount: 0, parts: new Set() }
      owners.set(name, owner)
      owner.parts.add(part)
      part.amount += amount
      change(owner, amount)
      return 'taken'
    }

    /** Gives back all of it; may be called more than once. */
    function release(): void {
      if (isReleased) return
      isReleased = true
      if (owner === null) return
      owner.parts.delete(part)
      if (owner.parts.size === 0) owners.delete(name)
      change(owner, -part.amount)
    }

    return { take, release }
  }

  return { open, max, taken: () => taken, isCrowded: () => taken >= crowdedFrom }
}

// --- internal ---

/** How long one counts as waiting after it was refused, in milliseconds: a little longer than it is told to wait. */
const WAITING_MS = 3_000

type Part = { readonly holder: Holder; amount: number; readonly release: () => void }

type Owner = { amount: number; readonly parts: Set<Part> }

/** The newest first, and behind them all those whose answer has begun. */
function inOrderOfHarm({ parts }: Owner): readonly Part[] {
  const newestFirst = [...parts].filter(({ amount }) => amount > 0).toReversed()
  const isBegun = newestFirst.map(({ holder }) => holder.isAnswered())
  return [...newestFirst.filter((_, at) => !isBegun[at]), ...newestFirst.filter((_, at) => isBegun[at])]
}
