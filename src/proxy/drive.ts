import type { Steps } from '../conversation/source.ts'

/** How long paused work may keep the event loop before others get their turn, in milliseconds. */
const SLICE_MS = 2

/** Whose work waits for a slice, the one that has waited for longest first. */
const waiting: (() => void)[] = []

/** When the slice began that all work shares; null where none was done since the event loop last looked for other work. */
let sliceBeganMs: number | null = null

/**
 * Runs paused work to its end, letting other requests in between. All work shares one slice of each turn of the event
 * loop, and takes turns: so a small request waits no longer beside several long ones, nor where one kind of work
 * follows another.
 */
export async function drive<Result>(steps: Steps<Result>): Promise<Result> {
  sliceStartMs()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (isSliceOver()) await nextSlice()
  }
}

/**
 * Between two pieces of work that cannot be paused: lets others in, where the slice is used up. Not for what is done for
 * every request: a small one would wait beside a long one for each.
 */
export async function breathe(): Promise<void> {
  if (isSliceOver()) await nextSlice()
}

/** Waits for a slice of its own, whatever is left of this one: before work that takes as long and cannot be paused. */
export function nextSlice(): Promise<void> {
  sliceStartMs()
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}

// --- internal ---

function isSliceOver(): boolean {
  return performance.now() - sliceStartMs() > SLICE_MS
}

/** When the slice of this turn began: with this call, where nobody has worked in it yet. */
function sliceStartMs(): number {
  if (sliceBeganMs === null) {
    sliceBeganMs = performance.now()
    setImmediate(endSlice)
  }
  return sliceBeganMs
}

/** Called once in each turn in which somebody worked or waits. */
function endSlice(): void {
  sliceBeganMs = null
  const next = waiting.shift()
  if (next === undefined) return
  sliceStartMs()
  next()
}
