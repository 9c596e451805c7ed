/**
 * The library: what Foldgate does to a conversation, without the proxy around it. Nothing here touches a
 * file, a socket or a clock; what is needed of the outside comes in as an argument.
 */
export type { BodyLimits, EntrySpan } from './conversation/body-scan.ts'
export { createFactsReader, type FactsReader } from './dialects/chat-completions/facts.ts'
export { meaningKeys } from './conversation/keys.ts'
export type { Media, Message, MessageFacts, ParsedMessage, Role } from './conversation/message.ts'
export { readMessages } from './dialects/chat-completions/messages.ts'
export { repairConversation, type Repaired, type Repairs } from './dialects/chat-completions/repair/repair.ts'
export { parseMessage } from './dialects/chat-completions/parse.ts'
export {
  violationsOf,
  type MessageShape,
  type Template,
  type Violation,
} from './dialects/chat-completions/rules.ts'
export { finish, type Digest, type Source, type Span, type Steps } from './conversation/source.ts'
export { spliceMessages, type BodyPiece, type ViewItem } from './conversation/splice.ts'
export { structureOf, type Structure } from './conversation/structure.ts'
export {
  readChatCompletion,
  type ChatCompletion,
  type NotReadReason,
} from './dialects/chat-completions/read.ts'
export { matchProfile, type MatchRequest, type ProfileMatch } from './profiles/match.ts'
export { resolveProfiles } from './profiles/resolve.ts'
export { profileSchema, type Profile } from './profiles/schema.ts'
export { encodingFor, loadCounter, type EncodingName } from './pressure/encodings.ts'
export { messageTokens } from './pressure/message-tokens.ts'
export { budgetOf, pressureOf, reserveFor, thresholdTokens } from './pressure/pressure.ts'
export { startingRatio } from './pressure/ratio.ts'
export { schemaTokens, toolsTokens } from './pressure/tools-tokens.ts'
export {
  compact,
  tighten,
  type Compacted,
  type CompactOptions,
  type TightenOptions,
} from './compaction/compact.ts'
export { foldAhead, type AheadOptions, type FoldAhead } from './compaction/ahead.ts'
export { createMadeCache, type MadeCache } from './compaction/made-cache.ts'
export type { PreparedFold } from './compaction/plan/options.ts'
export type { Policy, Room } from './compaction/policy.ts'
export {
  FOLD_VERSION,
  readCompaction,
  writeCompaction,
  type StandingSummary,
  type Compaction,
} from './compaction/compaction.ts'
export { standingSummary } from './compaction/summary-message.ts'
export type { Subject } from './compaction/subject.ts'
export type { View } from './compaction/view/view.ts'
export type { ViewMessage } from './compaction/view/view-message.ts'
export { watchJson, watchStream, type AnswerWatch, type WatchDecision } from './overflow/answer-watch.ts'
export { classifyAnswer } from './overflow/classify.ts'
export type { Classification } from './overflow/classification.ts'
export { nextAttempt, type NextAttempt } from './overflow/tighten.ts'
export { answerRecall, type Held } from './recall/answer-recall.ts'
export { recallTool, recallToolName } from './dialects/chat-completions/recall-tool.ts'
export { nextStep, type Step, type StepLimits } from './request/reply/next-step.ts'
export { createPlainReply, type PlainReply } from './dialects/chat-completions/reply/plain-reply.ts'
export { createReplyStream, type ReplyStream } from './dialects/chat-completions/reply/reply-stream.ts'
