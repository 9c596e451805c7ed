/** Traces that are wanted and cannot be sent. Its message says why and what to do, without the values of variables. */
export class TracingError extends Error {
  override readonly name = 'TracingError'
}
