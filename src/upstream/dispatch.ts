import type { Dispatcher } from 'undici'
import type { Cancellation } from './cancellation.ts'
import { AnswerBody, GivenUpError } from './answer-body.ts'

/** An answer as it came off the wire. */
export type DispatchedAnswer = {
  readonly status: number
  readonly statusText: string
  /** Name and value by turns, as they came (latin1). */
  readonly rawHeaders: string[]
  readonly body: AnswerBody
}

/**
 * Sends a request and resolves with the head of its answer. Rejects with undici's error, or with the signal's reason:
 * aborted before the answer is complete, the request is cancelled and its body breaks off.
 */
export function dispatchRequest(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: Cancellation | null,
): Promise<DispatchedAnswer> {
  return new Promise((resolve, reject) => {
    const handler = new AnswerHandler(resolve, reject)
    if (signal !== null) handler.obey(signal)
    dispatcher.dispatch(options, handler)
  })
}

// --- internal ---

/** undici's own `request` makes a stream of every answer, which costs more than the rest of the request. */
class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: DispatchedAnswer) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | null = null
  #body: AnswerBody | null = null
  /** Why it is not wanted any more. */
  #reason: Error | null = null
  #signal: Cancellation | null = null
  readonly #cancel = (): void => {
    const reason: unknown = this.#signal?.reason
    this.#abort(reason instanceof Error ? reason : new GivenUpError())
  }

  constructor(resolve: (answer: DispatchedAnswer) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  obey(signal: Cancellation): void {
    this.#signal = signal
    if (signal.aborted) this.#cancel()
    else signal.addEventListener('abort', this.#cancel)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#reason !== null) controller.abort(this.#reason)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusText = '',
  ): void {
    if (status < 200) return
    this.#body = new AnswerBody({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      abort: () => this.#abort(new GivenUpError()),
    })
    this.#resolve({ status, statusText, rawHeaders: textsOf(controller.rawHeaders), body: this.#body })
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body?.feed(piece)
  }

  onResponseEnd(): void {
    this.#disobey()
    this.#body?.finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#disobey()
    if (this.#body === null) this.#reject(error)
    else this.#body.fail(error)
  }

  #abort(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(this.#reason)
  }

  #disobey(): void {
    this.#signal?.removeEventListener('abort', this.#cancel)
    this.#signal = null
  }
}

/** Proxy agents give headers as a record, pools as a flat list. */
function textsOf(headers: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (headers === null || headers === undefined) return []
  if (Array.isArray(headers)) {
    return headers.map((text) => (typeof text === 'string' ? text : text.toString('latin1')))
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).flatMap((each) => [name, each]),
  )
}
