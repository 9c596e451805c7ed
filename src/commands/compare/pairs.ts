import { digest } from '../../pipeline/read/read-chat.ts'
import type { Chat } from '../../pipeline/request.ts'
import type { AskModel } from './asker.ts'
import type { RecordedMoment } from './moments.ts'
import type { State, Verdict } from './state.ts'
import { doingOf, callSubjectOf } from '../../compaction/history/calls/call-subject.ts'
import { isJsonObject, type JsonObject, parseJsonText } from '../../json/json-value.ts'
import type { Reply } from '../../formats/answer-contract.ts'
import { openDice } from '../demo/dice.ts'

/** The three requests of a moment: twice in full, and as it would be compacted. */
export const kinds = ['full', 'again', 'compacted'] as const

export type RequestKind = (typeof kinds)[number]

/** A moment with the names of its requests in the state. */
export type Wanted = RecordedMoment & { readonly requests: Readonly<Record<RequestKind, string>> }

/** `settled`: what decides on the answer beside the request. */
export function wantedOf(moment: RecordedMoment, settled: readonly unknown[]): Wanted {
  const { full, compacted } = moment
  const asked = digest(JSON.stringify([...settled, full.toString('latin1')]))
  // Replies in full serve any window that they are compared with.
  const small = digest(JSON.stringify([asked, compacted.toString('latin1')]))
  return { ...moment, requests: { full: `${asked}-1`, again: `${asked}-2`, compacted: small } }
}

export type CompareOptions = {
  readonly ask: AskModel
  readonly state: State
  readonly read: (body: Buffer) => Promise<Chat>
  /** Whether no further request is wanted. */
  readonly isStopping: () => boolean
  readonly onMoment: (done: number) => void
}

/** Asks for what the state does not have yet. Resolves with why it ended early; null where nothing is left to ask. */
export async function askAll(wanted: readonly Wanted[], options: CompareOptions): Promise<string | null> {
  const { state } = options
  let refusedInARow = 0
  for (const [done, moment] of wanted.entries()) {
    for (const kind of kinds) {
      const request = moment.requests[kind]
      if (state.of(request) !== null) continue
      if (options.isStopping()) return 'it was interrupted'
      const chat = await options.read(kind === 'compacted' ? moment.compacted : moment.full)
      const asked = await options.ask(chat, moment.upstream)
      if (asked.kind === 'stopped') return asked.why
      if (asked.kind === 'refused') {
        refusedInARow += 1
        const said = asked.said === '' ? '' : ` (${asked.said})`
        if (refusedInARow === REFUSED_MAX)
          return `the upstream's last ${REFUSED_MAX} answers were of no use, the latest with status ${asked.status}${said}`
        // Of such a moment nothing more is asked.
        break
      }
      refusedInARow = 0
      // Made with the moment's own content: who does not have that cannot try names until one fits.
      const salt = moment.full.toString('latin1')
      const step = nextStepOf(asked.reply)
      const told = (aspect: Aspect): string => digest(JSON.stringify([salt, aspect, step[aspect]]))
      await state.add(request, {
        step: [told('tools'), told('paths'), told('commands')],
        calls: asked.reply.calls.length,
        tokens: {
          prompt: asked.usage?.promptTokens ?? null,
          cached: asked.usage?.cachedTokens ?? null,
          reply: asked.usage?.completionTokens ?? null,
        },
      })
    }
    options.onMoment(done + 1)
  }
  return null
}

export type Plan = ReturnType<typeof planOf>

/** What would be sent, in numbers; as JSON it has these names. Tokens are the model's, as Foldgate estimates them. */
export function planOf(wanted: readonly Wanted[], upstreams: readonly string[], outputTokens: number) {
  const requests = wanted.length * kinds.length
  return {
    pairs: wanted.length,
    conversations: distinct(wanted.map(({ conversation }) => conversation)).length,
    requests,
    prompt_tokens: Math.round(
      wanted.reduce((sum, { tokens }) => sum + 2 * tokens.full + tokens.compacted, 0),
    ),
    reply_tokens_max: requests * outputTokens,
    upstreams: distinct(upstreams),
    models: distinct(wanted.map(({ model }) => model)),
    profiles: distinct(wanted.map(({ profile }) => profile)),
    is_full_window_guessed: wanted.some(({ isGuess }) => isGuess),
  }
}

export type Result = ReturnType<typeof resultOf>

/** What the state has of these moments: how replies differ, and what all of them cost by the upstream's own count. */
export function resultOf(wanted: readonly Wanted[], state: Pick<State, 'of'>, seed: number) {
  const pairs = wanted.flatMap(({ conversation, requests }): Pair<Aspect | 'any'>[] => {
    const [full, again, compacted] = kinds.map((kind) => state.of(requests[kind])?.step)
    if (!full || !again || !compacted) return []
    return [{ conversation, again: differing(full, again), compacted: differing(full, compacted) }]
  })
  const answers = (kind: RequestKind) =>
    answersOf(wanted.flatMap(({ requests }) => state.of(requests[kind]) ?? []))
  const full = answers('full')
  // Where most replies only say something, that they do not differ says nothing.
  const isTelling = full.calling >= pairs.length / 2
  const harm = (aspect: Aspect | 'any') => ({
    ...harmIn(aspect, pairs, seed),
    ...(!isTelling && { harm: null }),
  })
  return {
    moments: wanted.length,
    pairs: pairs.length,
    conversations: new Set(pairs.map(({ conversation }) => conversation)).size,
    harm: { any: harm('any'), tools: harm('tools'), paths: harm('paths'), commands: harm('commands') },
    is_telling: isTelling,
    answers: { full, again: answers('again'), compacted: answers('compacted') },
  }
}

/** In what two replies are compared. */
type Aspect = 'tools' | 'paths' | 'commands'

/**
 * @internal exported for tests. The step that the calls of a reply make: their tools, what paths they name, and what kinds of
 * commands they are, each as a sorted list; all are empty where it only says something.
 */
export function nextStepOf({ calls }: Pick<Reply, 'calls'>) {
  const whole = calls.map(({ name, argumentsText }) => ({ name, argumentsText: completed(argumentsText) }))
  return {
    tools: whole.map(({ name }) => name).toSorted(),
    paths: sorted(
      whole.flatMap((call) => callSubjectOf(call.name, call.argumentsText, digest).paths.map(nearEnd)),
    ),
    commands: sorted(whole.flatMap(({ name, argumentsText }) => kindsOf(name, argumentsText))),
  }
}

/** What was seen at one moment: whether a reply differs from the first in full, in each aspect. */
export type Pair<Compared extends string> = {
  readonly conversation: string
  /** The second reply in full. */
  readonly again: Readonly<Record<Compared, boolean>>
  /** The reply to the compacted request. */
  readonly compacted: Readonly<Record<Compared, boolean>>
}

/** How often those differ. */
export type Harm = {
  readonly again: number
  readonly compacted: number
  /** Differing compacted less differing anyway, of all pairs, with the interval of 95 %; null where there are too few. */
  readonly harm: { readonly share: number; readonly low: number; readonly high: number } | null
}

/** Below so many pairs one reply more or less moves the figure by more than most compactions do. */
export const PAIRS_MIN = 50

/** Moments of one conversation resemble each other: of fewer conversations than these nothing is known of others. */
export const CONVERSATIONS_MIN = 5

/** @internal exported for tests. The harm in one aspect; its interval by drawing conversations, not pairs, again and again. */
export function harmIn<Compared extends string>(
  aspect: Compared,
  pairs: readonly Pair<Compared>[],
  seed: number,
): Harm {
  const count = (of: readonly Pair<Compared>[], which: 'again' | 'compacted'): number =>
    of.filter((pair) => pair[which][aspect]).length
  const [again, compacted] = [count(pairs, 'again'), count(pairs, 'compacted')]
  const conversations = [...Map.groupBy(pairs, ({ conversation }) => conversation).values()].map((own) => ({
    pairs: own.length,
    more: count(own, 'compacted') - count(own, 'again'),
  }))
  if (pairs.length < PAIRS_MIN || conversations.length < CONVERSATIONS_MIN)
    return { again, compacted, harm: null }
  const dice = openDice(seed)
  const shares = Array.from({ length: DRAWS }, () => {
    const drawn = conversations.map(() => conversations[dice.below(conversations.length)])
    const sum = (what: 'more' | 'pairs'): number => drawn.reduce((all, each) => all + (each?.[what] ?? 0), 0)
    return sum('more') / sum('pairs')
  }).toSorted((one, other) => one - other)
  const at = (share: number): number => shares[Math.round(share * (DRAWS - 1))] ?? 0
  return {
    again,
    compacted,
    harm: { share: (compacted - again) / pairs.length, low: at(0.025), high: at(0.975) },
  }
}

// --- internal ---

/** So many refusals one after the other are not about single requests. */
const REFUSED_MAX = 5

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)]

/** How many replies call a tool, and what all cost; null where the upstream states nothing. */
function answersOf(verdicts: readonly Verdict[]) {
  const sum = (what: keyof Verdict['tokens']): number | null => {
    const stated = verdicts.flatMap(({ tokens }) => tokens[what] ?? [])
    return stated.length === 0 ? null : stated.reduce((all, each) => all + each)
  }
  const tokens = { prompt: sum('prompt'), cached: sum('cached'), reply: sum('reply') }
  return { calling: verdicts.filter(({ calls }) => calls > 0).length, tokens }
}

function differing(
  [tools, paths, commands]: Verdict['step'],
  other: Verdict['step'],
): Pair<Aspect | 'any'>['again'] {
  const differs = { tools: tools !== other[0], paths: paths !== other[1], commands: commands !== other[2] }
  return { any: differs.tools || differs.paths || differs.commands, ...differs }
}

const sorted = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted()

/** How arguments end that were cut in the middle, by the limit of the reply. */
const ends = ['', '"}', '}', '"]}', ']}', '\\"}', 'null}']

function completed(argumentsText: string): string {
  return (
    ends.map((end) => argumentsText + end).find((text) => isJsonObject(parseJsonText(text))) ?? argumentsText
  )
}

/** One file is named from here and from the root, as the model likes: a folder and a name tell files apart well enough. */
const nearEnd = (path: string): string => path.split('/').slice(-2).join('/')

const commandKey = /^(?:commands?|cmd|script|shell|code|input)$/i

/** The programs that a command line runs; of other tools whether they look or change. */
function kindsOf(name: string, argumentsText: string): readonly string[] {
  const value = parseJsonText(argumentsText)
  const given: JsonObject = isJsonObject(value) ? value : {}
  const lines = Object.entries(given).flatMap(([key, field]) =>
    commandKey.test(key) ? [lineOf(field)].filter((line) => line !== '') : [],
  )
  return lines.length === 0 ? [doingOf(name, given)] : lines.flatMap(programsIn)
}

function lineOf(field: unknown): string {
  if (typeof field === 'string') return field
  const words = Array.isArray(field) ? field.filter((word) => typeof word === 'string') : []
  // ["bash", "-lc", "…"]
  return /^-\w*c$/.test(words[1] ?? '') ? (words[2] ?? '') : words.join(' ')
}

/** Behind these a line says what it is about. */
const COMMAND_CHARS_MAX = 4_096

const quoted = /'[^']*'|"(?:[^"\\]|\\.)*"/g
const hereDocument = /<<-?\s*(\w+)[^]*?\n\s*\1(?=\s|$)/g
const redirected = /[\d&]?>>?(?:&\d|\s*[^\s;|&]+)/g
const partEnd = /[;|&\n]+/

/** They run what follows, or only say where. */
const passedOver = /^(?:\w+=\S*|(?:\S*\/)?(?:sudo|time|env|exec)|then|do|else|[({!]+)$/
const places: ReadonlySet<string> = new Set(['cd', 'export', 'set', 'source', 'pushd', 'popd'])

/** Their next word is the command. */
const families =
  /^(?:git|gh|npm|npx|pnpm|yarn|bun|cargo|go|docker|kubectl|pip3?|uv|poetry|make|dotnet|bazel|terraform)$/

function programsIn(line: string): readonly string[] {
  const bare = line
    .slice(0, COMMAND_CHARS_MAX)
    .replaceAll(/<<(-?)\s*(['"])(\w+)\2/g, '<<$1$3')
    .replaceAll(hereDocument, '')
    .replaceAll(quoted, '""')
    .replaceAll(redirected, ' ')
  const runs = bare.split(partEnd).flatMap((part) => {
    const words = part.trim().split(/\s+/)
    const from = words.findIndex((word) => !passedOver.test(word))
    const program = (words[from] ?? '').replace(/^.*\//, '')
    if (program === '') return []
    const next = words.slice(from + 1).find((word) => !word.startsWith('-'))
    return [families.test(program) && next !== undefined ? `${program} ${next}` : program]
  })
  const work = runs.filter((run) => !places.has(run))
  return work.length === 0 ? runs : work
}

const DRAWS = 4_000
