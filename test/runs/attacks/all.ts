import type { Attack } from './attack.ts'
import { answers } from './lists/answers.ts'
import { blockContents } from './lists/block-contents.ts'
import { blocks } from './lists/blocks.ts'
import { contents } from './lists/contents.ts'
import { counts } from './lists/counts.ts'
import { depth } from './lists/depth.ts'
import { itemContents } from './lists/item-contents.ts'
import { items } from './lists/items.ts'
import { limits } from './lists/limits.ts'
import { messageAnswers } from './lists/message-answers.ts'
import { longTexts } from './lists/texts.ts'
import { names } from './lists/names.ts'

/** Every body that is tried, in the order of the table. */
export const attacks: readonly Attack[] = [
  ...counts,
  ...limits,
  ...depth,
  ...longTexts,
  ...names,
  ...contents,
  ...items,
  ...itemContents,
  ...answers,
  ...blocks,
  ...blockContents,
  ...messageAnswers,
]
