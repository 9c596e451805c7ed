import type { JournalName } from './store.ts'

/** One of something for each journal. */
export function perJournal<Each>(make: (journal: JournalName) => Each): Readonly<Record<JournalName, Each>> {
  return { events: make('events'), usage: make('usage'), totals: make('totals'), wishes: make('wishes') }
}
