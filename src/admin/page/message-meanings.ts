import type { MessageTreatment } from '../../compaction/report.ts'

/** What words of size mean that stand all over the pages. */
export const sizeMeanings = {
  budget: 'what a prompt may take: the window less what is kept free for the reply',
  pressure: 'tokens of a prompt as a share of the budget; at 100% it is full',
  trigger: 'the pressure at which a compaction begins; the profile sets it',
} as const

/** What each treatment means, for the list below the messages. */
export const treatmentMeanings = {
  kept: 'sent as it came, byte for byte',
  resolved: 'only refers to an earlier result that is no longer above: sent with the text of that one',
  rendered: 'terminal output, reduced to what a terminal would show in the end',
  previewed: 'a large result, of which only the beginning and the end were sent',
  cleared: 'an old result, replaced by a line that names the tool and the size',
  unloaded: 'an image or a file, replaced by a line that names it',
  clipped: 'cut to its share: shortened in the middle, since it would not have fit otherwise',
  folded: 'not sent; a summary or a recap stands for it',
  dropped: 'not sent, and nothing stands for it: there was no room',
  outdated:
    'reasoning that only held for what stood before it, which is compacted: its server would leave it out itself. What it led to is sent without the id that demands it',
  unbound:
    'sent without the reasoning in it, which only held for what stood before it: that is compacted, and its server would refuse it',
  joined: 'its text was sent within the user message before it',
  summary: 'written by a model, stands for what was folded',
  recap: 'made without a model, stands for what was folded',
} as const satisfies Record<MessageTreatment['treatment'], string>

/** Why a message stays word for word. */
export const pinnedWords = {
  system: 'system',
  'history-start': 'start of the history',
  'before-start': "before the server's compaction",
  task: 'the task',
  'latest-user': 'latest question',
  'kept-turn': 'kept turn',
  recent: 'recent',
} as const satisfies Record<NonNullable<MessageTreatment['pinned']>, string>
