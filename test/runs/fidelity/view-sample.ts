import { hash } from 'node:crypto'
import type { Recording } from '../replay/recordings.ts'
import type { Room } from './policy-sender.ts'
import { printedView } from './printed-view.ts'
import type { Row } from './rows.ts'
import type { SeenView } from './walk-conversation.ts'

export type ViewsWanted = {
  readonly count: number
  /** The same seed chooses the same requests, by however many processes they are made. */
  readonly seed: number
}

/** A view as a person reads it. */
export type PrintedView = {
  /** Those with the lowest are chosen. */
  readonly lot: string
  readonly text: string
}

type Source = { readonly recording: Recording; readonly row: Row; readonly room: Room }

/** Keeps so many of the views that it is shown, each as likely as any other. */
export function openViewSample({ count, seed }: ViewsWanted, { recording, row, room }: Source) {
  let kept: readonly { readonly lot: string; readonly view: SeenView }[] = []
  return {
    add: (view: SeenView): void => {
      const lot = hash('sha1', `${seed} ${row.name} ${recording.file} ${recording.id} ${view.point}`)
      kept = lowest([...kept, { lot, view }], count)
    },
    views: (): readonly PrintedView[] =>
      kept.map(({ lot, view }) => ({ lot, text: printedView(view, { recording, row: row.name, room }) })),
  }
}

/** So many of them with the lowest lots. */
export function lowest<Drawn extends { readonly lot: string }>(
  drawn: readonly Drawn[],
  count: number,
): readonly Drawn[] {
  return drawn.toSorted((one, other) => (one.lot < other.lot ? -1 : 1)).slice(0, count)
}
