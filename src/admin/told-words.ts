import type { MessageTreatment } from '../compaction/outline.ts'
import { textPasses, type TextTreatment } from '../compaction/passes/passes.ts'
import type { HeldOutline, Treated } from '../telemetry/request-report.ts'
import { figure, foreign, html, type HtmlEscapedString, plural } from './page/markup.ts'
import { dialects } from '../formats/formats.ts'
import type { UsageRow } from '../telemetry/journal/rows.ts'

/** What is said of a treatment. */
type TreatmentWords = {
  /** What it means. */
  readonly meaning: string
  /** How `explain` colours it; null: not at all. */
  readonly tone: 'dim' | 'red' | 'green' | 'yellow' | null
  /** What a compaction did that treated so many messages; without it nothing is said of them. */
  readonly done?: (count: number, entry: HeldOutline['entryName'], treated: Treated) => string
}

const otherTreatments = {
  kept: { meaning: 'sent as it came, byte for byte', tone: null },
  resolved: {
    meaning: 'only refers to an earlier result that is no longer above: sent with the text of that one',
    tone: 'green',
    done: (count) => `${plural(count, 'earlier result')} sent again where it was referred to`,
  },
  cleared: {
    meaning: 'an old result, replaced by a line that names the tool and the size',
    tone: 'yellow',
    done: (count) => `${plural(count, 'old result')} cleared`,
  },
  unloaded: {
    meaning: 'an image or a file, replaced by a line that names it',
    tone: 'yellow',
    done: (count, entry) => `images or files of ${plural(count, entry)} unloaded`,
  },
  clipped: {
    meaning: 'cut to its share: shortened in the middle, since it would not have fit otherwise',
    tone: 'yellow',
    done: (count, entry) => `${plural(count, entry)} clipped`,
  },
  folded: {
    meaning: 'not sent; a summary or a recap stands for it',
    tone: 'dim',
    done: (count, entry, treated) => `${plural(count, entry)} folded${intoWords(treated)}`,
  },
  dropped: {
    meaning: 'not sent, and nothing stands for it: there was no room',
    tone: 'red',
    done: (count, entry) => `${plural(count, entry)} dropped for want of room`,
  },
  outdated: {
    meaning:
      'reasoning that only held for what stood before it, which is compacted: its server would leave it out itself. What it led to is sent without the id that demands it',
    tone: 'dim',
    done: (count, entry) => `${plural(count, entry)} of outdated reasoning left out`,
  },
  unbound: {
    meaning:
      'sent without the reasoning in it, which only held for what stood before it: that is compacted, and its server would refuse it',
    tone: 'dim',
    done: (count, entry) => `${plural(count, entry)} sent without old reasoning`,
  },
  joined: {
    meaning: 'its text was sent within the user message before it',
    tone: null,
    done: (count, entry) => `${plural(count, entry)} joined to the one before`,
  },
  summary: { meaning: 'written by a model, stands for what was folded', tone: 'green' },
  recap: { meaning: 'made without a model, stands for what was folded', tone: 'green' },
} as const satisfies Record<Exclude<MessageTreatment['treatment'], TextTreatment>, TreatmentWords>

/** What can become of a message, in words, in the order in which it is said: that of the passes. */
export const treatments: Readonly<Record<string, TreatmentWords>> = {
  ...textTreatments(),
  ...otherTreatments,
}

/**
 * What a compaction did: `18 old results cleared, 31 messages folded into a recap of 1,900 tokens; the newest 14 stand as
 * they were`. Null if it changed nothing.
 */
export function compactionWords(treated: Treated, entry: HeldOutline['entryName']): string | null {
  const counts: Readonly<Record<string, number | undefined>> = treated
  const done = Object.entries(treatments).flatMap(([treatment, words]) => {
    const count = counts[treatment] ?? 0
    return count === 0 ? [] : (words.done?.(count, entry, treated) ?? [])
  })
  if (done.length === 0) return null
  const newest = treated.newest_kept ?? 0
  const left = newest === 1 ? 'one stands as it was' : `${figure(newest)} stand as they were`
  return done.join(', ') + (newest === 0 ? '' : `; the newest ${left}`)
}

/** The names under which the journal has these numbers. */
export const treatedNames: ReadonlySet<string> = new Set<string>([
  ...Object.entries(treatments).flatMap(([treatment, { done }]) => (done === undefined ? [] : treatment)),
  ...(['summary_tokens', 'recap_tokens', 'newest_kept'] satisfies (keyof Treated)[]),
])

/** The numbers of an event of the journal, which another version may have written otherwise. */
export function treatedInDetails(details: Readonly<Record<string, unknown>>): Treated {
  const numbers = Object.entries(details).flatMap(([name, value]) =>
    treatedNames.has(name) && typeof value === 'number' ? [[name, value] as const] : [],
  )
  return Object.fromEntries(numbers)
}

/** Why a compaction was made, in plain words if the reason is one of our own. */
export function compactionReason(reason: string): string {
  return reasons[reason] ?? reason
}

/** Why a message stays word for word. */
export const pinWords = {
  system: 'system message',
  'history-start': 'start of the history',
  'before-start': "before the server's compaction",
  task: 'the task',
  'latest-user': 'latest user message',
  'kept-turn': 'of a kept turn',
  recent: 'recent',
} as const satisfies Record<NonNullable<MessageTreatment['pinned']>, string>

/** What makes a client send all of the conversation that it leaves at the server. */
export const HOW_TO_SEND_ALL = dialects.flatMap(({ howToSendAll }) => howToSendAll ?? []).join('; ')

/** The same of one dialect, by its name; null if none has that name. */
function sendAllAdvice(dialect: string | null | undefined): string | null {
  return dialects.find(({ name }) => name === dialect)?.howToSendAll ?? null
}

/** The same in few words: what follows a semicolon is for one library. */
export function sendAllShortly(dialect: string | null): string {
  return sendAllAdvice(dialect)?.split(';')[0] ?? 'have the client send all of it'
}

/** A window and where it comes from, as far as is known. */
type SourcedWindow = {
  readonly tokens: number
  readonly source: string
  /** The profile's figure, where a refusal has shown that it is too large; null otherwise. */
  readonly overruled_tokens: number | null
  readonly profile: string | null
  /** What taught it, where it is learnt. */
  readonly taughtBy?: string | undefined
  /** Whether the server runs the model with it, where the server states it. */
  readonly isLoaded?: boolean | undefined
}

/** What taught a window. */
export const lessons: Readonly<Record<string, string>> = {
  refusal: 'the upstream refused more',
  cut: 'the upstream cut longer prompts',
  unstated: 'longer prompts were refused without a number',
}

/** Where a window comes from, and the setting that is wrong where one is. */
export function windowWords(window: SourcedWindow): HtmlEscapedString {
  const { tokens, source, overruled_tokens: overruledTokens, profile } = window
  if (overruledTokens === null) return html`${sourceWords(window) ?? foreign(source)}`
  return html`<span class="bad">your setting overruled</span>: the upstream refuses more,
    ${figure(overruledTokens)} → ${figure(tokens)}; set
    <code>window.tokens</code> ${profile === null ? null : html` in the profile ${foreign(profile)}`}`
}

/** What of a request says how it went. */
export type ToldRequest = Pick<UsageRow, 'action' | 'reason' | 'status'> & {
  readonly outcome?: UsageRow['outcome']
  readonly dialect?: UsageRow['dialect']
  readonly path?: string | null
}

/** How a request went, in words. */
type RequestWords = {
  /** What was done with it. */
  readonly words: string
  /** What failed after that; null if nothing did. */
  readonly trouble: string | null
  /** What would have it compacted, or mends what went wrong; null where nothing is to be done. */
  readonly advice: string | null
  /** Of what was done. `failed`: it was not sent, or a part of Foldgate failed. `stepped-back`: it went another way. */
  readonly level: 'calm' | 'stepped-back' | 'failed'
}

/** What was done with a request and what came of it. */
export function requestWords(request: ToldRequest): RequestWords {
  const done = doneWords(request)
  if (request.outcome === 'broken-off') return { ...done, trouble: 'the answer broke off' }
  const { status } = request
  if (status === null || status < 400 || request.action === 'refused') return done
  return { ...done, trouble: `the upstream answered ${status}` }
}

/** The same in one line. */
export function requestLine(request: ToldRequest): string {
  const { words, trouble } = requestWords(request)
  return trouble === null ? words : `${words}; ${trouble}`
}

/** Whether the client did not get what it asked for, or a part of Foldgate failed. */
export function hasFailed(request: ToldRequest): boolean {
  const { level, trouble } = requestWords(request)
  return level === 'failed' || trouble !== null
}

// --- internal ---

/** What is said of the treatments of text passes. */
function textTreatments(): Readonly<Record<string, TreatmentWords>> {
  const words = textPasses.map(({ treatment, words: { result, meaning } }) => {
    const done = (count: number): string => `${plural(count, result)} ${treatment}`
    return [treatment, { meaning, tone: 'yellow', done }] as const
  })
  return Object.fromEntries(words)
}

function intoWords({ summary_tokens: summary, recap_tokens: recap }: Treated): string {
  const made = [
    ...(summary === undefined ? [] : [`a summary of ${plural(summary, 'token')}`]),
    ...(recap === undefined ? [] : [`a recap of ${plural(recap, 'token')}`]),
  ]
  return made.length === 0 ? '' : ` into ${made.join(' and ')}`
}

const reasons: Readonly<Record<string, string>> = {
  trigger: 'pressure reached the trigger',
  every: 'so many turns or tool calls had passed',
  limit: 'there were more turns or messages than the limit',
  forced: 'it was asked for',
  overflow: 'the upstream said that it was too long',
}

function sourceWords({ source, taughtBy, isLoaded }: SourcedWindow): string | undefined {
  if (source === 'learnt') return (taughtBy === undefined ? undefined : lessons[taughtBy]) ?? sources[source]
  return source === 'server' && isLoaded === true ? 'what the server has loaded' : sources[source]
}

const sources: Readonly<Record<string, string>> = {
  config: 'your setting',
  request: 'what the request asks for',
  learnt: 'learnt from answers',
  server: 'what the server states',
  table: 'from the built-in table',
  default: 'assumed, since nothing is known of it: set window.tokens',
}

function doneWords({ action, reason, dialect, path }: ToldRequest): RequestWords {
  if (action === 'relayed' && reason === 'path')
    return calm(
      `sent unread: ${path ?? 'this path'} is not compacted`,
      'have the client use /chat/completions, /responses or /messages',
    )
  if (action === 'relayed' && reason === 'stateful')
    return calm('sent unread: its history lies at the server', sendAllAdvice(dialect) ?? HOW_TO_SEND_ALL)
  const known = words.get(reason === null ? action : `${action};${reason}`)
  if (known !== undefined) return known
  if (action === 'refused') return failed(reason === null ? 'not sent' : `refused: ${reason}`)
  const plain = words.get(action)
  if (plain === undefined) return calm(reason === null ? action : `${action}: ${reason}`)
  return reason === null ? plain : { ...plain, words: `${plain.words}: ${reason}` }
}

const told =
  (level: RequestWords['level']) =>
  (said: string, advice: string | null = null): RequestWords => ({
    words: said,
    trouble: null,
    advice,
    level,
  })
const [calm, steppedBack, failed] = [told('calm'), told('stepped-back'), told('failed')]

const atClient = 'the client has to send it otherwise'
const reportIt = 'the log line “a part of Foldgate failed” says more; please report it'
const limits = 'raise what limits says of it in foldgate.yaml'

/** By action, with its reason where there is one. */
const words: ReadonlyMap<string, RequestWords> = new Map(
  Object.entries({
    relayed: calm('sent as it came'),
    'relayed;billing-line': calm('sent as it came, but for its billing line'),
    'relayed;output-limit': calm('sent as it came, with a lower output limit'),
    'relayed;observe': calm('sent as it came: the profile only observes', 'take observe out of the profile'),
    'relayed;subscription': calm(
      'sent as it came: a subscription pays',
      'use an API key, or set messages.subscriptions: rewrite',
    ),
    'relayed;off': calm(
      'sent as it came: the client wants it so',
      'the client sends x-foldgate-compact: off; take that out',
    ),
    'relayed;refused-before': steppedBack(
      'sent as it came: the upstream refused a compacted form',
      'template: strict in the profile may help',
    ),
    'relayed;native': calm(
      'sent unread: the server compacts it itself',
      'take context_management out of the client, or leave it',
    ),
    'relayed;encoding': calm(
      'sent unread: its content coding is not known',
      'have the client send plain JSON, gzip, deflate, br or zstd',
    ),
    'relayed;not-utf8': calm('sent unread: its body is not UTF-8', atClient),
    'relayed;bom': calm('sent unread: its body begins with a byte order mark', atClient),
    'relayed;not-json-object': calm('sent unread: its body is no JSON object', atClient),
    'relayed;duplicate-key': calm('sent unread: its body has a key twice', atClient),
    'relayed;invalid-value': calm('sent unread: a short value of its body is very long', atClient),
    'relayed;too-deep': calm('sent unread: its body is too deep', limits),
    'relayed;too-many-elements': calm('sent unread: its body has too many elements', limits),
    'relayed;too-many-keys': calm('sent unread: its body has too many keys', limits),
    'relayed;too-many-messages': calm('sent unread: it has too many messages', limits),
    'relayed;too-many-parts': calm('sent unread: a message has too many parts', limits),
    'relayed;no-messages': calm('sent unread: it has no messages', atClient),
    'relayed;message-unreadable': calm('sent unread: one of its messages cannot be read', atClient),
    compacted: calm('compacted'),
    'compacted;repair': calm('repaired'),
    'compacted;thoughts': calm('sent without thoughts that no longer hold'),
    'recovered;fallback': calm(
      'answered by the larger model that the profile names, since no form of it would fit',
    ),
    recovered: calm('compacted after the upstream refused it as too long'),
    'restored;original': steppedBack(
      'sent as it came, after the upstream refused a compacted form',
      'template: strict in the profile may help',
    ),
    'restored;strict': steppedBack(
      'sent in another order, after the upstream refused the first',
      'template: strict in the profile saves the second request',
    ),
    'restored;thoughts': steppedBack('sent without old thoughts, after the upstream refused them'),
    restored: steppedBack('sent in another form, after the upstream refused one'),
    bypassed: calm(
      'sent unread: the client wants it so',
      'the client sends x-foldgate-bypass; take that out',
    ),
    'bypassed;thoughts': calm(
      'sent unread, but for thoughts that no longer hold: the client wants it so',
      'the client sends x-foldgate-bypass; take that out',
    ),
    'failed-open': failed('sent as it came: a part of Foldgate failed', reportIt),
    'failed-open;reading': failed('sent unread: reading it failed', reportIt),
    'failed-open;measure': failed('sent as it came: measuring it failed', reportIt),
    'failed-open;compaction': failed('sent as it came: compacting it failed', reportIt),
    'refused;upstream_unreachable': failed('the upstream could not be reached'),
    'refused;upstream_timeout': failed('the upstream did not answer in time'),
    'refused;upstream_broken': failed('the upstream broke off'),
    left: calm('the client left before an answer'),
  }),
)
