/** Takes what a body gives, in order. */
export type BodyReader = {
  readonly piece: (piece: Buffer) => void
  /** All of it was given. */
  readonly end: () => void
  /** It broke off, here or at its source; nothing more comes. */
  readonly broken: (error: unknown) => void
}

/** Where a body comes from. */
export type BodySource = {
  /** Asks for no more. Pieces that are on their way still come. */
  readonly pause: () => void
  readonly resume: () => void
  /** Gives up what has not come. */
  readonly abort: () => void
}

/** How much waits for a reader before the source is paused, in bytes. */
const WAITING_BYTES_MAX = 64 * 1024

/** How much is given before everybody else has a turn, in bytes: a connection brings megabytes at a time where they are there. */
const TURN_BYTES_MAX = 128 * 1024

/** A body that was given up here. */
export class GivenUpError extends Error {
  override readonly name = 'GivenUpError'

  constructor() {
    super('The answer was given up.')
  }
}

/**
 * The bytes of an answer as they come. One reader at a time takes them; without one, or while it is paused, they
 * wait. What came before a body broke off is given first, and nothing is thrown where nobody listens.
 *
 * It is no stream of Node's: those queue, tick and copy state for each answer, and an answer is mostly one piece that
 * is passed on where it stands.
 */
export class AnswerBody {
  readonly #source: BodySource
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #reader: BodyReader | null = null
  #isPaused = false
  /** What was given since it last rested; while it rests, others have their turn. */
  #turnBytes = 0
  #isResting = false
  #isSourcePaused: boolean
  /** `whole` and `failed`: the source has no more, but pieces may wait; `ended` and `broken`: nothing is left. */
  #state: 'open' | 'whole' | 'failed' | 'ended' | 'broken' = 'open'
  #error: unknown = null
  #onOver: (() => void)[] = []

  /** `isSourcePaused`: it gives nothing before it is resumed. */
  constructor(source: BodySource, isSourcePaused = false) {
    this.#source = source
    this.#isSourcePaused = isSourcePaused
  }

  /** Whether all of it was taken. */
  get isEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Gives what waits at once, within this call, and then what comes. */
  read(reader: BodyReader): void {
    this.#reader = reader
    this.#flow()
  }

  /** Takes the reader away: what comes waits for the next one. */
  stopReading(): void {
    this.#reader = null
  }

  pause(): void {
    this.#isPaused = true
    this.#pauseSource()
  }

  resume(): void {
    this.#isPaused = false
    this.#flow()
  }

  /** Gives up what was not taken: the source is told, and the reader that it broke off. */
  destroy(): void {
    if (this.#state === 'ended' || this.#state === 'broken') return
    const isRunning = this.#state === 'open'
    this.#waiting.length = 0
    this.#state = 'broken'
    this.#error = new GivenUpError()
    if (isRunning) this.#source.abort()
    const reader = this.#reader
    this.#reader = null
    this.#tellOver()
    reader?.broken(this.#error)
  }

  /** Calls back once, as soon as it was taken to its end or its source broke off; everybody who asks, in order. */
  onceOver(over: () => void): void {
    if (this.#state !== 'open' && this.#state !== 'whole') {
      over()
      return
    }
    this.#onOver.push(over)
  }

  /** For the source: a piece has come. */
  feed(piece: Buffer): void {
    if (this.#state !== 'open' || piece.length === 0) return
    if (this.#reader !== null && this.#isFlowing && this.#waiting.length === 0) {
      this.#give(this.#reader, piece)
      return
    }
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    if (this.#waitingBytes >= WAITING_BYTES_MAX) this.#pauseSource()
  }

  /** For the source: that was all. */
  finish(): void {
    if (this.#state !== 'open') return
    this.#state = 'whole'
    this.#flow()
  }

  /** For the source: it broke off. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'failed'
    this.#error = error
    this.#tellOver()
    this.#flow()
  }

  /** Its pieces. Stopping before its end gives it up. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    try {
      for (;;) {
        const piece = await this.#next()
        if (piece === null) return
        yield piece
      }
    } finally {
      this.destroy()
    }
  }

  #next(): Promise<Buffer | null> {
    return new Promise((resolve, reject) => {
      this.read({
        piece: (piece) => {
          this.stopReading()
          resolve(piece)
        },
        end: () => resolve(null),
        broken: reject,
      })
    })
  }

  #flow(): void {
    while (this.#reader !== null && this.#isFlowing) {
      const piece = this.#waiting.shift()
      if (piece !== undefined) {
        this.#waitingBytes -= piece.length
        this.#give(this.#reader, piece)
      } else if (this.#state === 'open') {
        this.#resumeSource()
        return
      } else {
        const reader = this.#reader
        const isWhole = this.#state === 'whole' || this.#state === 'ended'
        this.#reader = null
        this.#state = isWhole ? 'ended' : 'broken'
        this.#tellOver()
        if (isWhole) reader.end()
        else reader.broken(this.#error)
      }
    }
  }

  get #isFlowing(): boolean {
    return !this.#isPaused && !this.#isResting
  }

  #give(reader: BodyReader, piece: Buffer): void {
    this.#turnBytes += piece.length
    if (this.#turnBytes >= TURN_BYTES_MAX) this.#rest()
    reader.piece(piece)
  }

  #rest(): void {
    this.#turnBytes = 0
    this.#isResting = true
    this.#pauseSource()
    setImmediate(() => {
      this.#isResting = false
      this.#flow()
    })
  }

  #tellOver(): void {
    const told = this.#onOver
    this.#onOver = []
    for (const over of told) over()
  }

  #pauseSource(): void {
    if (this.#state !== 'open' || this.#isSourcePaused) return
    this.#isSourcePaused = true
    this.#source.pause()
  }

  #resumeSource(): void {
    if (!this.#isSourcePaused) return
    this.#isSourcePaused = false
    this.#source.resume()
  }
}

/** A body made here, piece by piece as it is read. `abort` ends what the pieces wait for. */
export function madeBody(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  abort: () => void = () => {},
): AnswerBody {
  let goesOn = Promise.withResolvers<void>()
  let isOver = false
  const body = new AnswerBody(
    {
      pause: () => {
        goesOn = Promise.withResolvers()
      },
      resume: () => goesOn.resolve(),
      abort: () => {
        isOver = true
        abort()
        goesOn.resolve()
      },
    },
    true,
  )
  async function give(): Promise<void> {
    try {
      await goesOn.promise
      if (isOver) return
      for await (const piece of pieces) {
        body.feed(piece)
        await goesOn.promise
        if (isOver) return
      }
      body.finish()
    } catch (error) {
      body.fail(error)
    }
  }
  void give()
  return body
}

/** What a server answered to a question of ours. Null where it is too large. Rejects where it breaks off. */
export async function answerText({ body }: { readonly body: AnswerBody }): Promise<string | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) return null
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

// --- internal ---

/** OpenRouter's list, the largest known, is about 1 MB. Reading 4 MB as JSON takes some tens of milliseconds. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
