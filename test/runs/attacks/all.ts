import type { Attack } from './attack.ts'
import { answers, chatAnswers, messageAnswers } from './lists/answers.ts'
import { blockContents, blocks } from './lists/blocks.ts'
import { contents, counts, depth, limits, longTexts, names } from './lists/chats.ts'
import { itemContents, items } from './lists/items.ts'

/** Every body that is tried, in the order of the table. */
export const attacks: readonly Attack[] = [
  ...[counts, limits, depth, longTexts, names, contents].flat(),
  ...[items, itemContents, answers, blocks, blockContents, messageAnswers, chatAnswers].flat(),
]
