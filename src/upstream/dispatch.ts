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
  const { promise, resolve, reject } = Promise.withResolvers<DispatchedAnswer>()
  let running: Dispatcher.DispatchController | null = null
  let body: AnswerBody | null = null
  /** Why it is not wanted any more. */
  let given: Error | null = null

  function abort(reason: Error): void {
    given ??= reason
    running?.abort(given)
  }
  function cancel(): void {
    const reason: unknown = signal?.reason
    abort(reason instanceof Error ? reason : new GivenUpError())
  }
  if (signal?.aborted === true) cancel()
  else signal?.addEventListener('abort', cancel)
  // undici's own `request` makes a stream of every answer, which costs more than the rest of the request.
  dispatcher.dispatch(options, {
    onRequestStart: (controller) => {
      running = controller
      if (given !== null) controller.abort(given)
    },
    onResponseStart: (controller, status, _headers, statusText = '') => {
      if (status < 200) return
      body = new AnswerBody({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        abort: () => abort(new GivenUpError()),
      })
      resolve({ status, statusText, rawHeaders: textsOf(controller.rawHeaders), body })
    },
    onResponseData: (_controller, piece) => body?.feed(piece),
    onResponseEnd: () => {
      signal?.removeEventListener('abort', cancel)
      body?.finish()
    },
    onResponseError: (_controller, error) => {
      signal?.removeEventListener('abort', cancel)
      if (body === null) reject(error)
      else body.fail(error)
    },
  })
  return promise
}

// --- internal ---

/** Proxy agents give headers as a record, pools as a flat list. */
function textsOf(headers: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (headers === null || headers === undefined) return []
  if (Array.isArray(headers)) {
    const texts: string[] = []
    for (const text of headers) texts.push(typeof text === 'string' ? text : text.toString('latin1'))
    return texts
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).flatMap((each) => [name, each]),
  )
}
