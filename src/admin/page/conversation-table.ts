import type { ConversationCard } from '../../telemetry/conversations/conversation-list.ts'
import {
  agoElement,
  boundedFigure,
  clock,
  figure,
  foreign,
  html,
  percent,
  type HtmlEscapedString,
  plural,
  table,
  timeElement,
} from './markup.ts'
import { hasFailed, requestWords, type ToldRequest } from '../told-words.ts'

/** The page of a conversation. */
export function conversationPath(id: string): string {
  // A damaged row may hold half a character, of which no address can be made.
  return `/conversations/${encodeURIComponent(id.toWellFormed())}`
}

/** What a person knows a conversation by: the first words of its task, its label, or who leads it; null if nothing is known. */
export function conversationName({ opening, label, client }: Named): string | null {
  return opening?.words ?? label ?? clientName(client)
}

type Named = Pick<ConversationCard, 'opening' | 'label' | 'client'>

/** A link to a conversation's page, by its name where it has one. */
export function conversationLink(id: string, name: string | null): HtmlEscapedString {
  return name === null
    ? html`<a href="${conversationPath(id)}"><code>${id}</code></a>`
    : html`<a href="${conversationPath(id)}">${foreign(name)}</a>`
}

/** How a request went, and what to do about it; marked where it failed or Foldgate had to step back. */
export function requestState(request: ToldRequest): HtmlEscapedString {
  const { advice } = requestWords(request)
  return html`${stateWords(request)} ${advice !== null && html`<span class="under">${advice}</span>`}`
}

/** Shown while an answer is on its way. */
export const answeringMark = html`<span class="answering">answering</span>`

/** What would have been sent, said of a conversation whose profile only observes. */
export function observedWords(tokens: number): string {
  return `observed: ${figure(tokens)} would be sent`
}

/** A conversation with those that branched off it, or off one of its branches. */
export type ConversationTree = ReturnType<typeof treesOf>[number]

/** Conversations with their branches under them, that first which was used last; so the branches of each. */
export function treesOf(cards: readonly ConversationCard[]) {
  const byId = new Map(cards.map((card) => [card.id, card]))
  const latestFirst = cards.toSorted((one, other) => other.last_seen.localeCompare(one.last_seen))
  const trees = Map.groupBy(latestFirst, (card) => rootOf(card, byId))
  return Array.from(trees, ([root, members]) => ({
    root,
    branches: members.filter((member) => member !== root),
  }))
}

/** A client as people call it, with its version: `Claude Code 2.1.332` of `claude-cli/2.1.332 (external, cli)`. Null if it says nothing. */
export function clientName(userAgent: string | null): string | null {
  const agent = userAgent?.trim() ?? ''
  if (agent === '') return null
  for (const { product, name } of programs) {
    const found = product.exec(agent)
    if (found !== null) return named(name, found.groups?.['version'])
  }
  // Whatever it is, the first word is the product (RFC 9110, 10.1.5).
  const [product = agent] = agent.split(/[\s(]/)
  const [name = product, version] = product.split('/')
  return named(name === '' ? agent : name, version)
}

/**
 * How much of the budget was sent, as a bar with its number, and behind it in grey how much had come. The line in it is the
 * budget; what exceeds the drawing is told by the number only. What was sent gives it its colour: a conversation of many
 * times the window that was compacted and answered is well.
 */
export function gauge(of: Gauged): HtmlEscapedString {
  const { pressure, sent_pressure: sentPressure } = of
  if (pressure === null) return html`<span class="gauge none">not measured</span>`
  const sent = sentPressure ?? pressure
  const asCame = sent === pressure ? '' : `, of ${percent(pressure)} that came`
  return html`<span class="gauge ${levelOf(of, sent)}">
    <svg
      viewBox="0 0 ${WIDTH} 14"
      width="${WIDTH}"
      height="14"
      role="img"
      aria-label="${percent(sent)} of the budget sent${asCame}"
    >
      <rect class="track" x="0" y="4" width="${WIDTH}" height="6" rx="1" />
      <rect class="came" x="0" y="4" width="${placeOf(pressure)}" height="6" rx="1" />
      <rect class="sent" x="0" y="4" width="${placeOf(sent)}" height="6" rx="1" />
      <line class="budget" x1="${placeOf(1)}" x2="${placeOf(1)}" y1="1" y2="13" />
    </svg>
    <span class="number" aria-hidden="true">${percent(sent)}</span>
  </span>`
}

/** Rows that keep their identity while they move, with branches in them. The figures of a row are those of its conversation alone: each branch has its own. */
export function treeTable(trees: readonly ConversationTree[], now: Date): HtmlEscapedString {
  return table(
    trees,
    [
      ['Conversation', 'text', (tree) => nameCell(tree, now), 'name'],
      ['Sent, of the budget', 'pressure', ({ root }) => gauge(root)],
      ['Tokens in → sent', 'right', ({ root }) => tokensCell(root)],
      ['Requests', 'right', ({ root }) => figure(root.requests)],
      ['Compactions', 'right', ({ root }) => figure(root.compactions)],
      ['Latest request', 'text', ({ root }) => requestState(root)],
      ['When', 'right soft', ({ root }) => agoElement(root.last_seen, now)],
    ],
    ({ root }) => `conversation-${root.id}`,
  )
}

// --- internal ---

type Gauged = ToldRequest & {
  readonly pressure: number | null
  readonly sent_pressure: number | null
}

/** Of the drawing, in its own units. */
const WIDTH = 120

/** The pressure at the end of the drawing. */
const PRESSURE_MAX = 1.25

/** More than the budget that was answered all the same shows a budget that is too small; else it cannot fit. */
function levelOf(of: Gauged, sent: number): 'calm' | 'high' | 'critical' {
  if (sent <= 1) return 'calm'
  return hasFailed(of) ? 'critical' : 'high'
}

function placeOf(pressure: number): number {
  return Math.round((Math.min(Math.max(pressure, 0), PRESSURE_MAX) / PRESSURE_MAX) * WIDTH * 10) / 10
}

/** An agent may have its work done by dozens of others. */
const BRANCHES_SHOWN = 50

function nameCell({ root, branches }: ConversationTree, now: Date): HtmlEscapedString {
  return html`${conversationLink(root.id, conversationName(root))} ${root.answering && answeringMark}
    <span class="under">${under(root, now)}</span>
    ${branches.length > 0 && branchList(root.id, branches, now)}`
}

function tokensCell(root: ConversationCard): HtmlEscapedString {
  const observed = root.observed_tokens_sent
  return html`${tokensOf(root)}
  ${observed !== null && html`<span class="under">${observedWords(observed)}</span>`}`
}

function branchList(root: string, branches: readonly ConversationCard[], now: Date): HtmlEscapedString {
  const answering = branches.filter((branch) => branch.answering).length
  const left = branches.length - BRANCHES_SHOWN
  return html`<details id="branches-${root}" class="branches">
    <summary>
      ${plural(branches.length, 'branch', 'branches')}${answering > 0 && html`, <span class="answering">${figure(answering)} answering</span>`}${branchesSummary(branches, now)}
    </summary>
    <ul>
      ${branches.slice(0, BRANCHES_SHOWN).map(
        (branch) =>
          html`<li id="conversation-${branch.id}">
            ${conversationLink(branch.id, branch.label ?? branch.opening?.words ?? null)}
            ${branch.answering && answeringMark}
            <span class="under"
              ><span>${tokensOf(branch)} tokens</span> <span>${plural(branch.requests, 'request')}</span>
              <span>${plural(branch.compactions, 'compaction')}</span> <span>${stateWords(branch)}</span>
              <span>${agoElement(branch.last_seen, now)}</span> <span>${firstSeen(branch, now)}</span></span
            >
          </li>`,
      )}
      ${left > 0 && html`<li class="soft">and ${figure(left)} more</li>`}
    </ul>
  </details>`
}

/** What nobody should have to unfold to learn: the conversation that goes on may be a branch of the one in the row. */
function branchesSummary(branches: readonly ConversationCard[], now: Date): HtmlEscapedString {
  const [latest] = branches
  const compactions = branches.reduce((sum, branch) => sum + branch.compactions, 0)
  const inAll = branches.length > 1 && compactions > 0 ? ' in all' : ''
  return html`:
  ${compactions === 0 ? 'never compacted' : `compacted ${plural(compactions, 'time')}${inAll}`}${latest !== undefined && html`; latest request ${stateWords(latest)}, ${agoElement(latest.last_seen, now)}`}`
}

/** Only what failed is marked as failed. */
function stateWords(request: ToldRequest): HtmlEscapedString {
  const { words, trouble, level } = requestWords(request)
  return html`<span class="state ${level}">${foreign(words)}</span
    >${trouble !== null && html`; <span class="state failed">${trouble}</span>`}`
}

/** Tells conversations apart that begin with the same words. */
function firstSeen({ first_seen: instant }: ConversationCard, now: Date): HtmlEscapedString {
  return html`first seen ${timeElement(instant, `${clock(instant, now)} UTC`)}`
}

function tokensOf(card: ConversationCard): HtmlEscapedString {
  return html`${boundedFigure(card.tokens_received, card.tokens_are_bounds)} →
  ${boundedFigure(card.tokens_sent, card.tokens_are_bounds)}`
}

function under(card: ConversationCard, now: Date): HtmlEscapedString {
  const { model, profile, client_key: key, label, client, opening, id } = card
  const name = conversationName(card)
  const program = clientName(client)
  return html`${label !== null && label !== name && html`<span>${foreign(label)}</span>`}
    ${program !== null && program !== name && html`<span>${foreign(program)}</span>`}
    <span>${model === '' ? 'no model named' : foreign(model)}</span>
    ${opening?.folder != null && html`<span class="id">${foreign(opening.folder)}</span>`}
    ${profile !== null && html`<span>${foreign(profile)}</span>`}
    ${key !== null && html`<span>key ${foreign(key)}</span>`}
    ${name !== null && html`<span class="id">${id}</span>`} <span>${firstSeen(card, now)}</span>`
}

/** The oldest ancestor that is there. One that is no longer kept leaves its branches to themselves. */
function rootOf(card: ConversationCard, byId: ReadonlyMap<string, ConversationCard>): ConversationCard {
  const passed = new Set<ConversationCard>()
  let at = card
  // What another process wrote may go in a circle.
  while (!passed.has(at)) {
    passed.add(at)
    const parent = at.parent === null ? undefined : byId.get(at.parent)
    if (parent === undefined) return at
    at = parent
  }
  return card
}

/** A version as most write it: what stands behind it after a blank or in brackets is about the machine. */
const version = String.raw`[/ ]v?(?<version>\d[\w.+-]*)`

/** Programs that call themselves otherwise than people do; the first that fits holds. */
const programs = (
  [
    [String.raw`^claude-(?:cli|code)`, 'Claude Code'],
    [String.raw`^codex(?:[_-]\w+)*`, 'Codex'],
    [String.raw`\bopencode`, 'opencode'],
    [String.raw`\bqwen-?code`, 'Qwen Code'],
    [String.raw`^gemini-?cli`, 'Gemini CLI'],
    [String.raw`\bcline`, 'Cline'],
    [String.raw`\broo-?code`, 'Roo Code'],
    [String.raw`\bkilo-?code`, 'Kilo Code'],
    [String.raw`\bopenhands(?:-\w+)*`, 'OpenHands'],
    [String.raw`\baider`, 'aider'],
    [String.raw`^(?:async)?openai/python`, 'OpenAI Python'],
    [String.raw`^(?:async)?openai/js`, 'OpenAI JavaScript'],
    [String.raw`^(?:async)?anthropic/python`, 'Anthropic Python'],
    [String.raw`^(?:async)?anthropic/js`, 'Anthropic JavaScript'],
    [String.raw`\bai-sdk(?:/[a-z-]+)?`, 'AI SDK'],
    [String.raw`^litellm`, 'LiteLLM'],
    [String.raw`^curl`, 'curl'],
  ] as const
).map(([product, name]) => ({ product: new RegExp(`${product}(?:${version})?(?![a-z])`, 'i'), name }))

/** `0.169` of `0.169.0`: a last zero tells nobody anything. */
function named(name: string, found: string | undefined): string {
  const shown = found?.replace(/^(\d+\.\d+)\.0$/, '$1') ?? ''
  return shown === '' ? name : `${name} ${shown}`
}
