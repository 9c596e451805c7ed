import { outlineOf, uncountedOutline, type MessageTreatment } from '../../compaction/report.ts'
import type { Counted } from '../measure/measure.ts'
import type { Prepared } from '../rewrite.ts'
import type { HeldMessages } from './request-report.ts'

/** The messages of a request as they came and as they were sent, for whoever may show them. */
export function heldMessages(prepared: Prepared, counted: Counted | null): HeldMessages {
  const { compacted, chat } = prepared
  let made: readonly MessageTreatment[] | null = null

  function outline(): readonly MessageTreatment[] {
    made ??= counted === null ? uncountedOutline(chat.messages) : outlineOf(counted.subject, compacted)
    return made
  }

  return {
    outline,
    texts: () => {
      const cameAs = (index: number): string | null => {
        const message = chat.messages[index]
        return message === undefined ? null : chat.source.text(message.start, message.end)
      }
      const views = compacted?.view.messages ?? null
      const sentByIndex = new Map(views?.flatMap((view) => (view.index === null ? [] : [[view.index, view]])))
      const standIns = (views ?? []).filter(({ index }) => index === null)
      let standIn = 0
      return outline().map(({ index, treatment }) => {
        if (index === null) {
          const view = standIns[standIn]
          standIn += 1
          return { received: null, sent: view?.item.kind === 'made' ? view.item.json : null }
        }
        const came = cameAs(index)
        if (views === null) return { received: came, sent: came }
        if (treatment === 'folded' || treatment === 'dropped' || treatment === 'joined')
          return { received: came, sent: null }
        const item = sentByIndex.get(index)?.item
        return { received: came, sent: item?.kind === 'made' ? item.json : came }
      })
    },
    // The bytes, their characters for reading, and what was made of them.
    bytes: 2 * chat.bytes.length,
  }
}
