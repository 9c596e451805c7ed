import { inspect } from 'node:util'

/** A key or token that shows itself only by `reveal`: not in logs, JSON or an inspected object. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The credential itself: for the header it goes into, or for comparing. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}

// --- internal ---

const hidden = '[secret]'
