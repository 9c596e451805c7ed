import type { ViewMessage } from '../../compaction/view/view-message.ts'
import type { CacheTtl } from '../../conversation/message.ts'
import type { ViewItem } from '../../json/splice.ts'
import type { Chat } from '../request.ts'

/**
 * The items of a view, with a mark for the provider's prompt cache at the end of what stands for folded messages: the client's
 * own marks stand at its newest messages, and a provider does not look back from them as far as that. Where a second one is
 * free it goes to the beginning of it: what stands before is the same after the next compaction, and what is read is only what
 * was written up to a mark. Only where the client marks anything, since what is marked costs more to be kept.
 */
export function withCacheMark(
  { dialect: { cacheMarks }, source, body, messages: received }: Chat,
  messages: readonly ViewMessage[],
): readonly ViewItem[] {
  const items = messages.map(({ item }) => item)
  const end = cacheMarks === undefined ? -1 : messages.findLastIndex(isFold)
  const fold = items[end]
  if (cacheMarks === undefined || fold?.kind !== 'made') return items
  const marksOf = (index: number | null): readonly CacheTtl[] =>
    (index === null ? undefined : received[index]?.facts.cacheMarks) ?? []
  const inView = (view: readonly ViewMessage[]): readonly CacheTtl[] =>
    view.flatMap(({ index, joined }) => (joined.length > 0 ? inView(joined) : marksOf(index)))
  const around = cacheMarks.around(source, body.history)
  const behind = inView(messages.slice(end + 1))
  const count = around.length + inView(messages).length
  if (count === 0 || count >= cacheMarks.countMax) return items
  // A provider wants what is kept for longer first. A mark for all of the history stands behind it.
  const isLong = behind.length === 0 ? around.length > 0 && !around.includes('5m') : behind.includes('1h')
  const ttl = isLong ? '1h' : '5m'
  const free = cacheMarks.countMax - count
  const json = cacheMarks.marked(fold.json, ttl, 'end')
  if (json === null) return items
  const both = free > 1 ? cacheMarks.marked(json, ttl, 'beginning') : null
  return items.with(end, { ...fold, json: both ?? json })
}

// --- internal ---

function isFold({ how, joined }: ViewMessage): boolean {
  return how === 'summary' || how === 'recap' || joined.some(isFold)
}
