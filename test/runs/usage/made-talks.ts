import { openDice } from '../../../src/demo/dice.ts'
import {
  membersAfter,
  OUTPUT_TOKENS,
  rawMessage,
  requestPoints,
  type Recording,
} from '../replay/recordings.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { longConversation } from '../../support/long-conversation.ts'

/** What is walked where no folder is named: runs of coding agents, a talk about code, one in Chinese. */
export function madeTalks(): readonly Recording[] {
  return [
    talk('made-agent', longRun(60, 11)),
    talk('made-agent', longRun(40, 12, 2)),
    talk('made-talk', longConversation()),
    talk('made-chinese', chineseTalk()),
  ]
}

// --- internal ---

const TURNS = 60

const sentences = [
  '请帮我看一下昨天的订单，客户说包裹还没有送到。',
  '仓库的记录显示货物已经在星期三发出，但是物流公司没有更新状态。',
  '我们可以先联系司机，再决定是否给客户退款。',
  '如果今天下午五点之前没有消息，就按照规定重新发货。',
  '这位客户以前也遇到过类似的问题，所以请语气客气一些。',
  '新的地址是和平路一百二十三号，电话号码没有变化。',
]

function chineseTalk(): readonly TestMessage[] {
  const dice = openDice(13)
  const said = (count: number) =>
    Array.from({ length: count }, () => sentences[dice.below(sentences.length)]).join('')
  const turns = Array.from({ length: TURNS }, (): readonly TestMessage[] => [
    { role: 'user', content: `${dice.hex(4)}：${said(1 + dice.below(3))}` },
    { role: 'assistant', content: said(4 + dice.below(10)) },
  ])
  return [
    { role: 'system', content: '你是一家网店的客服。' },
    ...turns.flat(),
    { role: 'user', content: '谢谢。' },
  ]
}

function talk(
  file: string,
  conversation: readonly TestMessage[] | ReturnType<typeof longConversation>,
): Recording {
  const messages = conversation.map((message) => rawMessage(JSON.stringify(message)))
  return {
    file,
    id: `${file} of ${messages.length} messages`,
    messages,
    points: [...requestPoints(messages), messages.length],
    before: '"model":"gpt-4o-made"',
    after: membersAfter('', OUTPUT_TOKENS),
    tools: '',
  }
}
