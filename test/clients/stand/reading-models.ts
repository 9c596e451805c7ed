import { join } from 'node:path'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import {
  meaningOf,
  blocksOf,
  typeOf as blockTypeOf,
  type SentMessage,
} from '../../support/messages/wire-block.ts'
import {
  startMessagesUpstream,
  type AcceptedMessagesRequest,
} from '../../support/messages/messages-upstream.ts'
import type { ScriptedBlock } from '../../support/messages/script.ts'
import {
  startResponsesUpstream,
  type AcceptedResponsesRequest,
} from '../../support/responses/responses-upstream.ts'
import { toolsOf } from '../../support/responses/items.ts'
import { partsOf, typeOf } from '../../support/responses/wire-item.ts'
import { startStrictUpstream, type AcceptedRequest } from '../../support/strict-upstream/strict-upstream.ts'
import { isObject, textOf, textsOf } from '../../support/strict-upstream/wire-message.ts'

export type Dialect = 'chat completions' | 'responses' | 'messages'

export type ReadingModel = {
  readonly url: string
  readonly requests: () => readonly LoopRequest[]
  readonly close: () => Promise<void>
}

export type LoopRequest = SentRequest & {
  /** Whether it is one of the work: it offers tools, and wants none of them left alone. */
  readonly isLoop: boolean
  readonly rejected: { readonly reason: string } | null
  readonly newestResult: string
  /** The texts of all results. */
  readonly results: readonly string[]
  readonly said: readonly string[]
  /** Thoughts that the server left out of the prompt, for what stood before them had changed. */
  readonly thoughtsLeftOut: number
}

export type Reading = {
  readonly windowTokens: number
  readonly folder: string
  readonly files: readonly string[]
  readonly lastWords: string
}

export async function startReadingModel(dialect: Dialect, reading: Reading): Promise<ReadingModel> {
  const { count } = await loadCounter('o200k_base')
  const { windowTokens } = reading
  // A prompt to Anthropic's newer models may leave less than the reply may have.
  const options = { windowTokens, outputReserveChecked: dialect !== 'messages', count }
  if (dialect === 'messages') return inMessages(reading, options)
  return dialect === 'responses' ? inResponses(reading, options) : inChat(reading, options)
}

export const SUMMARY = '<summary>The files of the folder are being read.</summary>'

type Options = {
  readonly windowTokens: number
  readonly outputReserveChecked: boolean
  readonly count: (text: string) => number
}

async function inChat({ folder, files, lastWords }: Reading, options: Options): Promise<ReadingModel> {
  let round = 0
  const reply = ({ body }: AcceptedRequest) => {
    // Whoever offers no tools asks for something beside the work: a title, a summary.
    if (!offersTools(body)) return { content: 'Files of a folder' }
    const file = files[round]
    round += 1
    if (file === undefined) return { content: lastWords }
    const { name, argumentsText } = readingCall(body['tools'], join(folder, file))
    return { content: null, toolCalls: [{ id: `call_${round}`, name, argumentsText }] }
  }
  const upstream = await startStrictUpstream({ ...options, template: 'lenient', reply })
  const requests = () =>
    upstream.requests.map(({ rawMessages, messages, promptTokens, rejected, body }) => {
      const newest = messages.at(-1)
      return {
        rawEntries: rawMessages,
        promptTokens,
        rejected,
        isLoop: body.includes(OFFERED),
        newestResult: newest?.role === 'tool' ? textsOf(newest.content).join('\n') : '',
        results: messages.flatMap(({ role, content }) =>
          role === 'tool' ? [textsOf(content).join('\n')] : [],
        ),
        said: messages.filter(({ role }) => role === 'user').flatMap(({ content }) => textsOf(content)),
        thoughtsLeftOut: 0,
      }
    })
  return { url: upstream.url, requests, close: () => upstream.close() }
}

async function inResponses({ folder, files, lastWords }: Reading, options: Options): Promise<ReadingModel> {
  let round = 0
  const reply = ({ body }: AcceptedResponsesRequest) => {
    const thought = { type: 'reasoning', tokens: 60 } as const
    const says = (text: string) => ({ output: [thought, { type: 'message', text } as const] })
    if (!offersTools(body)) return says('Files of a folder')
    const file = files[round]
    round += 1
    if (file === undefined) return says(lastWords)
    const { name, argumentsText } = readingCall(body['tools'], join(folder, file))
    const call = { callId: `call_${round}`, name, arguments: argumentsText }
    return { output: [thought, { type: 'function_call', ...call } as const] }
  }
  const upstream = await startResponsesUpstream({ ...options, reply })
  const requests = () =>
    upstream.requests.map(({ rawItems, items, promptTokens, rejected, body, removed }) => {
      const newest = items.at(-1) ?? {}
      const said = items.filter((item) => typeOf(item) === 'message' && item['role'] === 'user')
      return {
        rawEntries: rawItems,
        promptTokens,
        rejected,
        isLoop: body.includes(OFFERED),
        newestResult: typeOf(newest) === 'function_call_output' ? textIn(newest['output']).join('\n') : '',
        results: items.flatMap((item) =>
          typeOf(item) === 'function_call_output' ? [textIn(item['output']).join('\n')] : [],
        ),
        said: said.flatMap((item) => textIn(item['content'])),
        thoughtsLeftOut: removed.length,
      }
    })
  return { url: upstream.url, requests, close: () => upstream.close() }
}

/**
 * The model thinks before each step, in words or hidden, and signs what it thinks over all that it was sent. When it has done
 * it begins anew, for whoever asks again.
 */
async function inMessages({ folder, files, lastWords }: Reading, options: Options): Promise<ReadingModel> {
  let round = 0
  const reply = ({ body, messages }: AcceptedMessagesRequest): { readonly content: ScriptedBlock[] } => {
    if (!offersTools(body)) return { content: [{ type: 'text', text: 'Files of a folder' }] }
    if (wantsSummary(messages)) return { content: [{ type: 'text', text: SUMMARY }] }
    const file = files[round % (files.length + 1)]
    round += 1
    const thought: ScriptedBlock =
      round % 2 === 0 ? { type: 'thinking', tokens: 60 } : { type: 'thinking', text: `Step ${round} is due.` }
    if (file === undefined) return { content: [thought, { type: 'text', text: lastWords }] }
    const input = { file_path: join(folder, file) }
    return { content: [thought, { type: 'tool_use', id: `toolu_${round}`, name: 'Read', input }] }
  }
  const upstream = await startMessagesUpstream({ ...options, reply, answersAs: 'anthropic/m' })
  const requests = () =>
    upstream.requests.map(({ messages, promptTokens, rejected, body, transformations }) => {
      const newest = messages.findLast(({ role }) => role !== 'system')
      const results = newest?.blocks.filter((block) => blockTypeOf(block) === 'tool_result') ?? []
      return {
        // A client moves its marks for the cache: what stands there says the same.
        rawEntries: messages.flatMap(({ role, blocks }) => blocks.map((block) => role + meaningOf(block))),
        promptTokens,
        rejected,
        isLoop: body.includes(OFFERED) && !wantsSummary(messages),
        newestResult: results.flatMap(({ content }) => saidIn(blocksOf(content))).join('\n'),
        results: messages.flatMap(({ blocks }) =>
          blocks.flatMap((block) =>
            blockTypeOf(block) === 'tool_result' ? [saidIn(blocksOf(block['content'])).join('\n')] : [],
          ),
        ),
        said: messages.filter(({ role }) => role === 'user').flatMap(({ blocks }) => saidIn(blocks)),
        thoughtsLeftOut: transformations.length,
      }
    })
  return { url: upstream.url, requests, close: () => upstream.close() }
}

/** Claude Code asks for a summary as its user's last words, with all of its tools on offer. */
function wantsSummary(messages: readonly SentMessage[]): boolean {
  const newest = messages.findLast(({ role }) => role === 'user')
  return saidIn(newest?.blocks ?? []).some((text) => text.includes('Respond with TEXT ONLY'))
}

const saidIn = (blocks: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  blocks.map(({ text }) => textOf(text)).filter((text) => text !== '')

const OFFERED = '"tools":[{'

const textIn = (content: unknown): readonly string[] =>
  partsOf(content, 'input_text').map((part) => textOf(part['text']))

const offersTools = ({ tools }: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(tools) && tools.length > 0

function readingCall(
  tools: unknown,
  path: string,
): { readonly name: string; readonly argumentsText: string } {
  const offered = toolsOf(tools)
  const names = offered.map(({ name }) => textOf(name))
  const reading = offered.find(({ name }) => /^(?:read(?:_files?)?|view)$/i.test(textOf(name)))
  if (reading === undefined) {
    if (!names.includes('exec_command')) throw new Error(`No tool of ${names.join(', ')} shows a file.`)
    return { name: 'exec_command', argumentsText: JSON.stringify({ cmd: `cat '${path}'` }) }
  }
  const parameters = isObject(reading['parameters']) ? reading['parameters'] : {}
  const required: readonly unknown[] = Array.isArray(parameters['required']) ? parameters['required'] : []
  const wanted = textOf(required[0])
  const properties = isObject(parameters['properties']) ? parameters['properties'] : {}
  const described = properties[wanted]
  const isList = isObject(described) && described['type'] === 'array'
  const file = isList ? [{ path }] : path
  return { name: textOf(reading['name']), argumentsText: JSON.stringify({ [wanted]: file }) }
}

export type SentRequest = { readonly rawEntries: readonly string[]; readonly promptTokens: number }

/** The requests that do not begin with all entries of the request before: nothing else tells of a compaction at the upstream. */
export const compactionsOf = (requests: readonly SentRequest[]): readonly number[] =>
  requests.flatMap(({ rawEntries }, index) => {
    const before = requests[index - 1]?.rawEntries ?? []
    return before.some((entry, position) => rawEntries[position] !== entry) ? [index] : []
  })

/** For each compaction of a request that would have fitted with some room to spare: what its prompt would have taken. */
export const earlyCompactions = (requests: readonly SentRequest[], run: RunSizes): readonly string[] =>
  compactionsOf(requests).flatMap((index) => {
    const grown = (requests[index - 1]?.promptTokens ?? 0) + run.roundTokens
    return grown < run.budgetTokens * FULL
      ? [`request ${index + 1}: ${grown} of ${run.budgetTokens} tokens`]
      : []
  })

export type RunSizes = {
  readonly requests: number
  /** Tokens that a prompt may have: the window less the output that is asked for. */
  readonly budgetTokens: number
  /** Tokens of the first prompt: system messages, tools and the task, which no compaction takes out. */
  readonly fixedTokens: number
  readonly roundTokens: number
}

/**
 * How many compactions a run of equal rounds needs. Its prompt grows by a round with each request; a compaction leaves three tenths
 * of what is not fixed, and as many requests as whole rounds fit in there are sent as they are. One more is allowed, for a count
 * that was a guess before the first answers told.
 */
export function compactionsMax({ requests, budgetTokens, fixedTokens, roundTokens }: RunSizes): number {
  const roomTokens = budgetTokens - fixedTokens
  const beforeTheFirst = 1 + Math.floor(roomTokens / roundTokens)
  const freedTokens = roomTokens * (1 - TARGET)
  const toTheNext = 1 + Math.floor(freedTokens / roundTokens)
  return Math.ceil(Math.max(0, requests - beforeTheFirst) / toTheNext) + SLACK
}

/** Where a compaction ends by default, as a share of what is not fixed. */
const TARGET = 0.7
const SLACK = 1

/** A prompt of this share of the budget may be taken for too large: Foldgate counts before the upstream does. */
const FULL = 0.98
