import { lruCache } from '../../lru-cache.ts'
import type { Chat, Form, ReadRequest, RecallOffer } from '../request.ts'
import { isParsedAtOnce } from '../../json/body-scan.ts'
import { parseJson } from '../../json/json-value.ts'
import type { Dialect } from '../../formats/contract.ts'
import { recallTool } from '../../recall/recall-query.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { Failures } from '../../telemetry/failures.ts'
import { whyUntouched } from '../model-lessons.ts'
import type { Models } from '../../models/models.ts'
import { withReplaced } from '../send/outgoing-body.ts'
import type { ModelKey } from '../../models/model-record.ts'

/** What of a request decides whether it offers the tool. */
export type Offering = { readonly profile: Profile; readonly chat: Chat; readonly scope: string }

export type RecallOffers = (offering: Offering) => RecallOffer | null

/**
 * Whether a request offers the tool: where its profile says so, it has tools itself, asks for one answer, and is free to
 * call what it likes, and has tools that can be looked through. From a conversation's first request on, so that the list of tools, with which every prompt
 * begins, stays the same.
 */
export function createRecallOffers(): RecallOffers {
  const offers = lruCache<RecallOffer | typeof NONE>(TOOL_LISTS_MAX)
  return function recallOffer({ profile, chat, scope }) {
    const { tools, repliesWanted, isToolForced, canGoOn } = chat.body
    const isWanted = profile.recall.enabled && !profile.observe
    if (!isWanted || tools === null || repliesWanted !== 1 || isToolForced || !canGoOn) return null
    if (!isParsedAtOnce(tools)) return null
    const key = `${scope} ${chat.dialect.name} ${chat.source.hash(tools.start, tools.end)}`
    const known = offers.get(key)
    if (known !== undefined) return known === NONE ? null : known
    const offer = offerBeside(parseJson(chat.source, tools), chat.dialect)
    offers.set(key, offer ?? NONE)
    return offer
  }
}

/** The request with the tool that it offers, but where its upstream has refused that, or is sent nothing of Foldgate's. */
export function withOffer(request: ReadRequest, parts: OfferParts): ReadRequest {
  const { profile, chat, modelKey, place } = request
  const { models } = parts
  if (!profile.recall.enabled || chat.body.tools === null || whyUntouched(request, models) !== null)
    return request
  if (!mayOfferRecall(models, modelKey, hasSchema(chat))) return request
  const { scope } = place
  const recall = parts.failures.attempt('recall', null, () => parts.recallOffer({ profile, chat, scope }))
  return { ...request, recall }
}

export type OfferParts = {
  readonly recallOffer: RecallOffers
  readonly models: Pick<Models, 'get'>
  readonly failures: Pick<Failures, 'attempt'>
}

/** Whether the answer has to keep to a schema: some servers take tools or that, not both. */
export function hasSchema({ body }: Pick<Chat, 'body'>): boolean {
  return body.schema !== null
}

/** The request with the tool as the last of its list. */
export function withTool(form: Form, offer: RecallOffer): Form {
  const { tools } = form.chat.body
  if (tools === null) return form
  const at = tools.end - 1
  const pieces = withReplaced(form.pieces, { start: at, end: at }, `,${JSON.stringify(offer.tool)}`)
  return { ...form, pieces }
}

/** Whether a model may be offered the tool of `recall`: some refuse it always, some beside a schema for the answer. */
function mayOfferRecall(models: Pick<Models, 'get'>, key: ModelKey, besideSchema: boolean): boolean {
  const refused = models.get(key, 'recall')
  return refused !== 'any' && refused !== kindOf(besideSchema)
}

/** A request was refused with the tool, and accepted without it. */
export function noteRecallRefused(models: Models, key: ModelKey, besideSchema: boolean): void {
  const known = models.get(key, 'recall')
  const kind = kindOf(besideSchema)
  models.set(key, 'recall', known === null || known === kind ? kind : 'any', 'refusal')
}

// --- internal ---

/** Lists of tools whose names are remembered: an agent has one. */
const TOOL_LISTS_MAX = 1_000

const NONE = 'none'

function offerBeside(tools: unknown, { recall }: Dialect): RecallOffer | null {
  if (!Array.isArray(tools) || tools.length === 0) return null
  const tool = recallTool(new Set(recall.namesIn(tools)))
  return { name: tool.name, tool: recall.tool(tool) }
}

function kindOf(besideSchema: boolean): 'plain' | 'with-schema' {
  return besideSchema ? 'with-schema' : 'plain'
}
