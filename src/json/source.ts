/**
 * The bytes of a request body as the pure folders see them. The rim builds one from a Buffer
 * (`src/pipeline/read/body-source.ts`); tests build one from a string.
 */
export type Source = {
  /** How many bytes there are. */
  readonly length: number
  /** All of them. */
  readonly bytes: Uint8Array
  /**
   * The bytes from `start` up to `end`, one character a byte, so that an index in it counts bytes from `start`. For
   * scanning, and never kept: it may keep the whole body.
   */
  readonly latin1: (start: number, end: number) => string
  /** The bytes from `start` up to `end`, decoded as UTF-8, as a text of its own. The body is known to be valid UTF-8. */
  readonly text: (start: number, end: number) => string
  /** A collision-resistant digest of the raw bytes from `start` up to `end`, as a short string. */
  readonly hash: (start: number, end: number) => string
  /** The same in steps, for a range that may be long. */
  readonly hashSteps: (start: number, end: number) => Pausable<string>
  /** A source over these pieces of it and texts between them, which it does not share its bytes with. */
  readonly joined: (pieces: readonly (Span | string)[]) => Source
}

/** A collision-resistant digest of a text, as a short string. */
export type Digest = (text: string) => string

/** A range of bytes, `end` exclusive. */
export type Span = { readonly start: number; readonly end: number }

/**
 * Work that can be paused. It yields between pieces of bounded size, so that whoever drives it can let
 * other requests run; the result is the same however it is driven.
 */
export type Pausable<Result> = Generator<void, Result, void>

/** Runs paused work to its end without a pause. */
export function runAtOnce<Result>(steps: Pausable<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
