/** A good answer of the summary model, which it gives when the test likes. */
export function withheld() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { give: () => resolve(), quality: () => promise.then(() => 'good' as const) }
}
