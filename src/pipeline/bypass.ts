import { spliceMessages, type ViewItem } from '../json/splice.ts'
import type { ClientAnswer, ClientRequest } from './client-request.ts'
import { runInSlices, type Eventual } from '../scheduling/drive.ts'
import type { RequestParts } from './request-parts.ts'
import { readRequest } from './read-request.ts'
import type { ArrivedRequest, Chat } from './request.ts'
import { bytesIn, bytesInSteps } from './send/outgoing-body.ts'
import { sendUntouched } from './pass-on.ts'
import type { Answer } from '../upstream/upstreams.ts'
import type { Pausable } from '../json/source.ts'
import { readForm, wholeText } from '../compaction/history/read-message.ts'

// A request that its client wants left alone goes by unread. But where a conversation was compacted, what the model thought
// behind that, signed, holds nowhere else: in the whole conversation its server would refuse it.

/** Whether a request has to be looked at though its client wants it left alone. */
export function isLookedAt(
  { body, scope }: ClientRequest,
  { records }: Pick<RequestParts, 'records'>,
): Eventual<boolean> {
  return body.isWithinLimits && records.holdsThoughts(scope.scope)
}

/**
 * Sends the client's bytes; of a conversation that was compacted without the thoughts that are bound to what stood before them,
 * of which all may go.
 */
export async function sendBypassed(arrived: ArrivedRequest, parts: RequestParts): Promise<ClientAnswer> {
  const { exchange: request, body, turn, arrival } = arrived
  const unbound = await parts.failures.around('reading', null, () => unboundBody(arrived, parts))
  turn.end()
  async function send(): Promise<Answer> {
    const asItCame = { ...request, upstream: request.upstreamName, body: body.raw }
    if (unbound === null) return parts.upstreams.send(asItCame)
    const headerOverrides = { 'content-encoding': null }
    const answer = await parts.upstreams.send({ ...asItCame, body: unbound.bytes, headerOverrides })
    // What is thought in reply holds in this form alone.
    if (answer.status < 400) parts.records.sendElsewhere(unbound.of, unbound.compaction)
    return answer
  }
  const told = { action: 'bypassed', reason: unbound === null ? null : 'thoughts' } as const
  return sendUntouched({ request, arrival, ...told, send, release: body.release }, parts)
}

// --- internal ---

/** With the conversation, and the compaction that it stands in; null if nothing in it is dead, or nothing is to be changed. */
async function unboundBody(arrived: ArrivedRequest, parts: RequestParts) {
  const { options, body } = arrived
  if (options.profile !== null && !parts.profiles().has(options.profile)) return null
  const read = await readRequest(arrived, parts)
  if (typeof read === 'string' || read.profile.observe) return null
  const { chat, place } = read
  const bounds = new Set(chat.messages.map(({ facts }) => facts.bound))
  // What a server demands together with thoughts it does not refuse without: it leaves out what does not hold.
  if (bounds.has('follows') || bounds.has('demands') || !(bounds.has('whole') || bounds.has('part')))
    return null
  const remembered = await parts.records.find(chat, place)
  if (remembered.compaction === null) return null
  const items = await runInSlices(thoughtlessItems(chat))
  if (items.length === 0) return null
  const pieces = spliceMessages(chat.messages, items, chat.body.history, chat.bytes.length)
  body.charge(bytesIn(pieces))
  const bytes = await runInSlices(bytesInSteps(chat.bytes, pieces))
  return { bytes, of: { chat, place, remembered }, compaction: remembered.compaction }
}

/** A conversation without all thoughts in it that are bound to what stood before them, and otherwise as it came. */
function* thoughtlessItems(chat: Chat): Pausable<readonly ViewItem[]> {
  const items: ViewItem[] = []
  for (const [index, message] of chat.messages.entries()) {
    if (index % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    const { bound } = message.facts
    if (bound === 'whole') continue
    if (bound !== 'part') {
      items.push({ kind: 'kept', index })
      continue
    }
    const form = yield* readForm(chat, message, true)
    items.push({ kind: 'made', json: yield* wholeText(chat.source, message, form), place: index })
  }
  return items
}

/** Messages between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 512
