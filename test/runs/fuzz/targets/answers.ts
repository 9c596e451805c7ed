import * as fc from 'fast-check'
import { openStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { connectRaw, requestOf } from '../wire/raw-exchange.ts'
import { chatTexts, oddAnswer, rawAnswer, type AnswerTexts } from './odd-answer.ts'
import { messageTexts } from './odd-message.ts'
import { responseTexts } from './odd-response.ts'

/**
 * Answers of an upstream with anything in them, while usage, overflow, continuation and recall are read for in them. What
 * need not be rewritten reaches the client byte for byte; what breaks off never looks whole.
 */
export const answers: FuzzTarget = target('answers', chatTexts, 'chat/completions', 'messages')

/** The same of the Responses API. */
export const events: FuzzTarget = target('events', responseTexts, 'responses', 'input')

/** And of the Messages API. */
export const messageEvents: FuzzTarget = target('message-events', messageTexts, 'messages', 'messages')

// --- internal ---

function target(name: string, said: AnswerTexts, path: string, history: 'messages' | 'input'): FuzzTarget {
  return {
    name,
    share: 3,
    shows: ['the same bytes'],
    open: async () => {
      const stage = await openStage({
        settings: { limits: { idle_s: 5, first_byte_s: 5 } },
        profiles: {
          default: { window: { tokens: 100_000 } },
          all: {
            window: { tokens: 2_000, output_reserve: 256 },
            recall: { enabled: true },
            continuation: { max: 2 },
            overflow: { hold_ms: 50 },
          },
        },
      })
      return openTarget({
        arbitrary: fc.record({ answer: oddAnswer(said), isAll: fc.boolean(), isStreamed: fc.boolean() }),
        check: async ({ answer: odd, isAll, isStreamed }): Promise<Fate> => {
          await stage.begin()
          stage.upstream.answerWith(() => rawAnswer(odd))
          const body = JSON.stringify({
            model: 'm',
            stream: isStreamed,
            store: false,
            [history]: isAll ? LONG : SHORT,
          })
          const profile = `x-foldgate-profile: ${isAll ? 'all' : 'default'}`
          const connection = await connectRaw(stage.port())
          connection.write(requestOf(`/v1/${path}`, body, [profile, 'Connection: close']))
          const [answer] = await connection.wait(['POST'])
          connection.destroy()
          await stage.afterwards()
          const isWhole = odd.framing !== 'cut' && odd.framing !== 'bad chunks'
          if (answer === undefined) {
            if (isWhole) throw new Error('cut off, though the upstream was done')
            return 'cut'
          }
          if (answer.code !== null) {
            if (!answer.code.startsWith('upstream_'))
              throw new Error(`${answer.startLine} ${answer.body.toString()}`)
            if (isWhole && isWritable(odd.status))
              throw new Error(`${answer.code}, though the answer was in order`)
            return `${answer.status} ${answer.code}`
          }
          // Behind its last word a stream that is read for more has nothing that could be missing.
          const isComplete = isWhole || (isAll && lastWord.test(odd.body.toString('latin1')))
          if (!isComplete && !isWithoutBody(answer.status) && answer.header('x-foldgate-attempts') === '1')
            throw new Error('an answer that broke off looks whole')
          // An answer that may be an overflow is asked for again, with a rewritten request.
          if (isAll || answer.header('x-foldgate-attempts') !== '1') return 'read for more'
          if (!isWithoutBody(answer.status) && !answer.body.equals(odd.body))
            throw new Error(`other bytes came back: ${answer.body.toString('latin1').slice(0, 300)}`)
          return 'the same bytes'
        },
        close: stage.close,
      })
    },
  }
}

/** Behind it a stream that is read for more has nothing that could be missing. */
const lastWord = /data: ?\[DONE\]|response\.(?:completed|incomplete|failed)|message_stop/

const SHORT = [{ role: 'user', content: 'a' }]

const LONG = Array.from({ length: 120 }, (_, index) =>
  index % 2 === 0
    ? { role: 'user', content: `Why does src/queue/retry-${index}.ts fail?` }
    : {
        role: 'assistant',
        content: `Because of line ${index * 7}: the counter is read before it is written.`,
      },
)

/** Whether a server of Node can send it on: three digits from 100 on, but no interim answer. */
function isWritable(status: string): boolean {
  return Number(status.slice(0, 3)) >= 200
}

function isWithoutBody(status: number): boolean {
  return status === 204 || status === 304
}
