import type { Store } from './store.ts'

/** What is said where there was nothing. */
export function nothingOf(conversation: string, store: Pick<Store, 'name'>): string {
  return `Nothing to delete: ${store.name} has no records of the conversation ${conversation}.`
}

/** A store that failed in the middle may have deleted a part. `again` is what to do then. */
export function failedInTheMiddle(store: Pick<Store, 'name'>, again: string): string {
  return `${store.name} failed in the middle of it: ${again}`
}
