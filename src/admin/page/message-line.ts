import type { ShownMessage } from '../../telemetry/conversations/shown-messages.ts'
import type { EntryName } from '../../formats/contract.ts'
import { figure, foreign, html, type HtmlEscapedString } from './markup.ts'
import { isJsonObject, parseJsonText } from '../../json/json-value.ts'
import { pinWords, treatments } from '../told-words.ts'

/** What all messages of a list are drawn by. */
export type MessageScale = {
  /** Of the largest message, whose bar is as long as there is room. */
  readonly tokensMax: number
  /** What each is called in the API that the conversation came by. */
  readonly entryName: EntryName
  readonly showsContent: boolean
}

/** A message in a line: its role or kind, how large it came and was sent, and what became of it; its texts behind that. */
export function messageLine(message: ShownMessage, scale: MessageScale): HtmlEscapedString {
  const { index, role, kind, tool, pinned, receivedTokens, sentTokens, treatment } = message
  const glimpse = scale.showsContent ? glimpseOf(message) : ''
  const mark = treatment === 'kept' ? 'plain' : treatment === 'dropped' ? 'warned' : 'treated'
  const toolName = tool !== null && html` <span class="tool">${foreign(tool)}</span>`
  const pin = pinned !== null && pinned !== role && html` <span class="pin">${pinWords[pinned]}</span>`
  const line = html`<span class="place">${index === null ? '' : figure(index)}</span>
    <span class="who">${foreign(kind ?? role)}${toolName}${pin}</span>
    ${sizes(receivedTokens, sentTokens, scale)}
    <span class="treatment"><span class="badge ${mark}">${treatment}</span></span>
    ${glimpse !== '' && html`<span class="glimpse">${foreign(glimpse)}</span>`}`
  const li = `message-${messageName(message)}`
  return scale.showsContent
    ? html`<li id="${li}">
        <details class="message">
          <summary class="line">${line}</summary>
          ${texts(message)}
        </details>
      </li>`
    : html`<li id="${li}"><div class="message line">${line}</div></li>`
}

/** A message's share of the largest one, growing away from the middle. */
export function tokenBar(
  side: 'came' | 'sent',
  tokens: number | null,
  { tokensMax }: MessageScale,
): HtmlEscapedString {
  const share = Math.round(((tokens ?? 0) / tokensMax) * 1_000) / 10
  return html`<svg class="bar ${side}" width="100%" height="8" aria-hidden="true">
    <rect x="${side === 'came' ? `${100 - share}%` : '0'}" width="${share}%" height="8" />
  </svg>`
}

/** A part of a request that is no message, such as its tools, in a line as messages have. Nothing if there is none of it. */
export function partLine(
  id: string,
  name: string,
  tokens: number | null,
  scale: MessageScale,
): HtmlEscapedString | null {
  if (tokens === null || tokens <= 0) return null
  return html`<li id="${id}">
    <div class="message line">
      <span class="place"></span><span class="who">${name}</span> ${sizes(tokens, tokens, scale)}
      <span class="treatment"><span class="badge plain">kept</span></span>
    </div>
  </li>`
}

/** What a message says, to scroll through, with its JSON behind that; or that it is gone. */
export function messageText(text: string | null, json: string | null, name: string): HtmlEscapedString {
  if (json === null) return html`<p class="soft">No longer held.</p>`
  const raw = html`<pre tabindex="0" role="region" aria-label="${name} as JSON">${unescaped(json)}</pre>`
  if (text === null || text.trim() === '') return raw
  return html`<pre tabindex="0" role="region" aria-label="${name}">${text}</pre>
    <details class="json">
      <summary>as JSON</summary>
      ${raw}
    </details>`
}

/** Tells a message from the others, in an element's id. */
export function messageName(message: ShownMessage | undefined): string {
  if (message === undefined) return ''
  const { index, treatment, standsFor } = message
  return index === null ? `${treatment}-${standsFor?.start ?? 0}-${standsFor?.end ?? 0}` : String(index)
}

/**
 * @internal exported for tests. A call in a line, with what tells it from others of its tool: `read_file src/app.ts`, `bash:
 * npm test`.
 */
export function callWords({ name, argumentsText }: ShownMessage['calls'][number]): string {
  const tool = name === '' ? 'a tool' : name
  const found = telling(argumentsText)
  if (found === null) return tool
  const line = firstWords(found.value, LINE_CHARS_MAX)
  return line === '' ? tool : `${tool}${found.isName ? ' ' : ': '}${line}`
}

/**
 * @internal exported for tests. The arguments of a call as one would read them, each behind its name with its own line breaks.
 */
export function argumentWords(argumentsText: string): string {
  const value = parsed(argumentsText)
  if (!isJsonObject(value)) return argumentsText
  return Object.entries(value)
    .map(
      ([name, argument]) => `${name}: ${typeof argument === 'string' ? argument : JSON.stringify(argument)}`,
    )
    .join('\n')
}

/**
 * @internal exported for tests. A message's JSON, easier to read: line breaks, tabs and quotation marks as themselves. It is
 * text that may have been cut anywhere, so it is not parsed; all other escapes stay as they are, so that what a terminal would
 * act on is seen.
 */
export function unescaped(json: string): string {
  return json.replaceAll(/\\(?:([ntr"/\\])|u[\da-f]{4})/gi, (escape: string, character?: string) =>
    character === undefined ? escape : (plain[character] ?? escape),
  )
}

/** A text with what a terminal would act on made visible: `^[` for an escape. Tabs and line breaks stay. */
export function shownControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, (control) => {
    const code = control.charCodeAt(0)
    if (control === '\r') return ''
    return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : code === 0x7f ? '^?' : ' '
  })
}

// --- internal ---

function sizes(came: number | null, sent: number | null, scale: MessageScale): HtmlEscapedString {
  return html`<span class="size came">${figure(came)}<span class="hidden"> tokens came in,</span></span>
    ${tokenBar('came', came, scale)} ${tokenBar('sent', sent, scale)}
    <span class="size sent">${figure(sent)}<span class="hidden"> were sent:</span></span>`
}

/** The beginning of a text in a line, without the colours of a terminal. */
function firstWords(text: string, charactersMax: number): string {
  const line = text
    .slice(0, 4 * charactersMax)
    .replaceAll(/\p{Cc}\[[\d;?]*[A-Za-z]/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax).toWellFormed()}…`
}

/** The JSON of what is no text, with its long runs of characters told by their length: only a server can read them. */
function withoutOpaque(json: string): string {
  return json.replaceAll(/[\w+/=-]{120,}/g, (run) => `${run.slice(0, 24)}… (${run.length} characters)`)
}

const GLIMPSE_CHARS_MAX = 160

/** What a message is about: what it calls, else its first words. */
function glimpseOf({ calls, receivedText, sentText }: ShownMessage): string {
  if (calls.length > 0) return calls.map(callWords).join(' · ')
  return firstWords(receivedText ?? sentText ?? '', GLIMPSE_CHARS_MAX)
}

function texts(message: ShownMessage): HtmlEscapedString {
  const { kind, treatment, calls } = message
  const shown = (json: string | null) => (json === null || kind === null ? json : withoutOpaque(json))
  const [received, sent] = [shown(message.received), shown(message.sent)]
  const called = calls.map(
    (call) => `${call.name === '' ? 'a tool' : call.name}\n${argumentWords(call.argumentsText)}`,
  )
  const readable = (text: string | null) =>
    text === null ? null : shownControls([text, ...called].filter((said) => said !== '').join('\n\n'))
  const isSame = received !== null && received === sent
  const came = part(
    isSame ? 'came in and was sent' : 'came in',
    messageText(readable(message.receivedText), received, isSame ? 'the message' : 'what came in'),
  )
  if (isSame || treatment === 'folded') return html`<div class="texts one">${came}</div>`
  const isLeftOut = (treatment === 'dropped' || treatment === 'outdated') && sent === null
  const left = isLeftOut
    ? html`<p class="soft">Nothing: ${treatments[treatment]?.meaning ?? treatment}.</p>`
    : messageText(readable(message.sentText), sent, 'what was sent')
  return html`<div class="texts">${came}${part('was sent', left)}</div>`
}

function part(caption: string, shown: HtmlEscapedString): HtmlEscapedString {
  return html`<div>
    <p class="caption">${caption}</p>
    ${shown}
  </div>`
}

const LINE_CHARS_MAX = 140

/** Longer ones, which are cut before they come here, are no JSON any more. */
const PARSED_CHARS_MAX = 50_000

/** Arguments that are a file or an address, which says it by itself. */
const namingKeys = 'file_path filePath path filename file notebook_path url'.split(' ')

/** By which argument people know a call, the most telling first. */
const tellingKeys = ['command', 'cmd', ...namingKeys, 'pattern', 'query', 'description', 'prompt']

/** The files of a patch that is the whole argument. */
const patchedFile = /^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$/m

function telling(argumentsText: string): { readonly value: string; readonly isName: boolean } | null {
  const value = parsed(argumentsText)
  if (!isJsonObject(value)) {
    const file = patchedFile.exec(argumentsText)?.[1]
    return { value: file ?? argumentsText, isName: file !== undefined }
  }
  const known = tellingKeys.find((key) => written(value[key]) !== null)
  const others = Object.values(value).map(written)
  const argument = known === undefined ? others.find((each) => each !== null) : written(value[known])
  if (argument === undefined || argument === null)
    return others.length === 0 ? null : { value: argumentsText, isName: false }
  const isName = known !== undefined && namingKeys.includes(known)
  return { value: patchedFile.exec(argument)?.[1] ?? argument, isName }
}

/** A text, or a command in words: of `["bash", "-lc", "npm test"]` what the shell is given. Null for all others. */
function written(argument: unknown): string | null {
  if (typeof argument === 'string') return argument
  if (!Array.isArray(argument) || !argument.every((word) => typeof word === 'string')) return null
  const isShell = argument.length === 3 && /^-\w*c$/.test(argument[1] ?? '')
  return isShell ? (argument[2] ?? null) : argument.join(' ')
}

function parsed(argumentsText: string): unknown {
  return argumentsText.length > PARSED_CHARS_MAX ? null : parseJsonText(argumentsText)
}

const plain: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', '"': '"', '/': '/', '\\': '\\' }
