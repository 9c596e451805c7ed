import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import type { Form, Outcome } from '../../../src/request/request.ts'
import { createFactsReader } from '../../../src/dialects/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { FoldgateError } from '../../../src/errors.ts'
import { digest } from '../../../src/request/read/body-source.ts'
import { readBytes } from '../../../src/request/read/read-chat.ts'
import { originalForm } from '../../../src/request/compact/forms.ts'
import type { AnswerBody } from '../../../src/upstream/answer-body.ts'

/** A small request as it came. */
export async function preparedRequest(): Promise<Form> {
  const bytes = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')
  const readFacts = createFactsReader(digest, { entriesMax: 10 })
  const chat = await readBytes(chatCompletions, bytes, 'scope', { readFacts, limits: bodyLimits })
  if (typeof chat === 'string') throw new Error(`it cannot be read: ${chat}`)
  return originalForm(chat, 10)
}

/** A good answer to it; `held` was taken from its body before. */
export function outcomeOf(form: Form, body: AnswerBody, held: readonly Buffer[] = []): Outcome {
  const answer = {
    status: 200,
    statusText: 'OK',
    rawHeaders: [],
    body,
    address: 'http://upstream',
    failure: () => new FoldgateError('upstream_broken', 'It broke off.'),
    hint: null,
  }
  const timing = { attempts: 2, firstSentAtMs: 0, firstByteMs: 0 }
  const how = { remedy: 'none', offersRecall: false, asksUsage: false } as const
  return { answer, held, verdict: 'good', classification: null, form, ...timing, ...how }
}
