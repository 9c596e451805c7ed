import { AsyncLocalStorage } from 'node:async_hooks'
import { runAtOnce, type Pausable } from '../json/source.ts'

/**
 * How long paused work may keep the event loop before others get their turn, in milliseconds. A request needs some five
 * turns, and waits one slice for each: with a whole millisecond a small one took three times as long beside a long one.
 */
const SLICE_MS = 0.4

/** Whose work this is. */
const clients = new AsyncLocalStorage<string>()

/** The work that waits for a slice, by whose it is: the client first whose turn it is, its oldest first. */
const waiting = new Map<string, (() => void)[]>()

/** When the slice began that all work shares; null where none was done since the event loop last looked for other work. */
let sliceBeganMs: number | null = null

/** Does all that paused work comes to in the name of a client: it shares the time with others, however much of it there is. */
export function workFor<Result>(client: string, work: () => Promise<Result>): Promise<Result> {
  return clients.run(client, work)
}

/**
 * Runs paused work to its end, letting other requests in between. All work shares one slice of each turn of the event
 * loop, and clients take turns: so a small request waits no longer beside several long ones, nor beside many of another
 * client, nor where one kind of work follows another.
 */
export async function runInSlices<Result>(steps: Pausable<Result>): Promise<Result> {
  sliceStartMs()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (isPauseDue()) await nextSlice()
  }
}

/** The same of what is made of so many bytes: what is little is done at once, waits for nothing, and gives no promise. */
export function runBySize<Result>(bytes: number, steps: Pausable<Result>): Eventual<Result> {
  return bytes <= AT_ONCE_BYTES_MAX ? runAtOnce(steps) : runInSlices(steps)
}

/**
 * Between two pieces of work that cannot be paused: lets others in, where the slice is used up. Not for what is done for
 * every request: a small one would wait beside a long one for each.
 */
export async function pauseIfDue(): Promise<void> {
  if (isPauseDue()) await nextSlice()
}

/** Whether the slice of this turn is used up, for whoever has something to pass on before it waits for the next one. */
export function isPauseDue(): boolean {
  return performance.now() - sliceStartMs() > SLICE_MS
}

/** Waits for a slice of its own, whatever is left of this one: before work that takes as long and cannot be paused. */
export function nextSlice(): Promise<void> {
  sliceStartMs()
  return new Promise((resolve) => {
    const client = clients.getStore() ?? NOBODY
    const own = waiting.get(client)
    if (own === undefined) waiting.set(client, [resolve])
    else own.push(resolve)
  })
}

/** A value that is there already, or will be: what need not be waited for costs no promise. */
export type Eventual<Value> = Value | Promise<Value>

/** Goes on with a value once it is there: now, if it is. */
export function onceThere<Value, Result>(
  value: Eventual<Value>,
  goOn: (value: Value) => Eventual<Result>,
): Eventual<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}

// --- internal ---

/** Up to so many bytes of a body are worked on without a pause: a fraction of a millisecond. */
const AT_ONCE_BYTES_MAX = 16_384

/** Whose the work is that no client waits for. */
const NOBODY = ''

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
  const next = takeNext()
  if (next === null) return
  sliceStartMs()
  next()
}

/** Takes out the work whose turn it is; what its client has besides comes behind everybody else's. */
function takeNext(): (() => void) | null {
  for (const [client, own] of waiting) {
    const next = own.shift()
    waiting.delete(client)
    if (own.length > 0) waiting.set(client, own)
    if (next !== undefined) return next
  }
  return null
}
