import { lruCache } from '../../caches.ts'
import type { Chat, Form, ReadRequest, RecallOffer } from '../request.ts'
import { isParsedAtOnce } from '../../json/body-scan.ts'
import { parseJson } from '../../json/json-value.ts'
import type { Dialect } from '../../formats/contract.ts'
import { recallTool } from '../../recall/recall-tool.ts'
import type { Failures } from '../../telemetry/failures.ts'
import { whyUntouched } from '../model-lessons.ts'
import type { Models } from '../../models/models.ts'
import { withEdits } from '../send/outgoing-body.ts'

export type RecallOffers = ReturnType<typeof createRecallOffers>

/**
 * Whether a request offers the tool: where its profile says so, it has tools itself that can be looked through, asks for one
 * answer, and is free to call what it likes. From a conversation's first request on, so that the list of tools, with which
 * every prompt begins, stays the same.
 */
export function createRecallOffers() {
  const offers = lruCache<RecallOffer | typeof NONE>(TOOL_LISTS_MAX)
  return function recallOffer({ profile, chat, place }: Offering): RecallOffer | null {
    const { tools, repliesWanted, isToolForced, canGoOn } = chat.body
    const isWanted = profile.recall.enabled && !profile.observe
    if (!isWanted || tools === null || repliesWanted !== 1 || isToolForced || !canGoOn) return null
    if (!isParsedAtOnce(tools)) return null
    const key = `${place.scope} ${chat.dialect.name} ${chat.source.hash(tools.start, tools.end)}`
    const known = offers.get(key)
    if (known !== undefined) return known === NONE ? null : known
    const offer = offerBeside(parseJson(chat.source, tools), chat.dialect)
    offers.set(key, offer ?? NONE)
    return offer
  }
}

/** The request with the tool that it offers, but where its upstream has refused that, or is sent nothing of Foldgate's. */
export function withOffer(request: ReadRequest, { recallOffer, models, failures }: OfferParts): ReadRequest {
  const { profile, chat, modelKey } = request
  if (!profile.recall.enabled || whyUntouched(request, models) !== null) return request
  const refused = models.get(modelKey, 'recall')
  if (refused === 'any' || refused === kindOf(chat)) return request
  return { ...request, recall: failures.attempt('recall', null, recallOffer, request) }
}

/** The request with the tool as the last of its list. */
export function withTool(form: Form, offer: RecallOffer): Form {
  const { tools } = form.chat.body
  if (tools === null) return form
  const at = tools.end - 1
  return withEdits(form, { at: { start: at, end: at }, text: `,${JSON.stringify(offer.tool)}` })
}

/** A request was refused with the tool, and accepted without it. */
export function noteRecallRefused(models: Models, { modelKey: key, chat }: ReadRequest): void {
  const known = models.get(key, 'recall')
  const kind = kindOf(chat)
  models.set(key, 'recall', known === null || known === kind ? kind : 'any', 'refusal')
}

// --- internal ---

/** Lists of tools whose names are remembered: an agent has one. */
const TOOL_LISTS_MAX = 1_000

const NONE = 'none'

/** What of a request decides whether it offers the tool. */
type Offering = Pick<ReadRequest, 'profile' | 'chat'> & { readonly place: { readonly scope: string } }

type OfferParts = {
  readonly recallOffer: RecallOffers
  readonly models: Pick<Models, 'get'>
  readonly failures: Pick<Failures, 'attempt'>
}

function offerBeside(tools: unknown, { recall }: Dialect): RecallOffer | null {
  if (!Array.isArray(tools) || tools.length === 0) return null
  const tool = recallTool(new Set(recall.namesIn(tools)))
  return { name: tool.name, tool: recall.tool(tool) }
}

/** Some servers refuse the tool always, some where the answer has to keep to a schema: they take tools or that, not both. */
function kindOf({ body }: Chat): 'plain' | 'with-schema' {
  return body.schema === null ? 'plain' : 'with-schema'
}
