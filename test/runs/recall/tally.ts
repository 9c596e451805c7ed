/** What became of the specific things that next messages name and their histories hold. */
export type Tally = {
  requests: number
  things: number
  /** Those that stand in the view. */
  inView: number
  /** The others, and of these: found on the first page of one search, by three calls, by any number, or by reading the message. */
  missing: number
  byOneCall: number
  byThree: number
  inTheEnd: number
  /** Those that were found by reading the newest message that names them. */
  byName: number
}

export function emptyTally(): Tally {
  return {
    requests: 0,
    things: 0,
    inView: 0,
    missing: 0,
    byOneCall: 0,
    byThree: 0,
    inTheEnd: 0,
    byName: 0,
  }
}

export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = emptyTally()
  for (const tally of tallies) {
    sum.requests += tally.requests
    sum.things += tally.things
    sum.inView += tally.inView
    sum.missing += tally.missing
    sum.byOneCall += tally.byOneCall
    sum.byThree += tally.byThree
    sum.inTheEnd += tally.inTheEnd
    sum.byName += tally.byName
  }
  return sum
}

/** Whether everything can be reached. */
export function isSound({ things, inView, missing, inTheEnd, byName }: Tally): boolean {
  return inView + inTheEnd === things && byName === missing
}
