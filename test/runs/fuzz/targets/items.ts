import * as fc from 'fast-check'
import { spokenForms } from '../../../formats/responses/forms.ts'
import { text as anyText } from '../../../support/arbitrary-conversation.ts'
import * as inMessages from '../../../support/messages/living.ts'
import { scriptedBlock } from '../../../support/messages/script.ts'
import type { WireBlock } from '../../../support/messages/wire-block.ts'
import * as inResponses from '../../../support/responses/living.ts'
import { scriptedItem } from '../../../support/responses/script.ts'
import { anyJson, anyOf, anyOr, damages, escaped, withSome, oneText, upTo } from '../arbitrary.ts'
import { itemHistory, messageHistory, ollamaHistory, treatmentOf, type History } from '../check.ts'
import { openSmallStage } from '../stage.ts'
import { fuzzTarget, type FuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import * as wire from '../wire/recording-upstream.ts'

// What conversations consist of comes before the targets, which are made of it as this module is loaded.

/** What belongs together in a conversation: items, or messages. */
type Unit = readonly unknown[]

/** What is known of conversations in a dialect, and how what became of them is judged. */
type Dialect = History & {
  readonly name: string
  readonly path: string
  readonly isCompact: fc.Arbitrary<boolean>
  /** Good ones and such as break the rules; null for what is none. */
  readonly conversation: fc.Arbitrary<Unit>
  readonly otherHistory: fc.Arbitrary<unknown>
  /** Members around the history. */
  readonly before: object
  readonly history: 'input' | 'messages'
  readonly after: object
  readonly more: fc.Arbitrary<object>
  readonly fragments: string
  /** A reply and the next question. */
  readonly growth: Unit
  /** What the upstream answers, and the type of its streams. */
  readonly plain: string
  readonly streamed: string
  readonly streamType: string
  /** What else becomes of conversations in this dialect alone. */
  readonly shows: readonly string[]
}

/** The window of a small stage. */
const WINDOW_TOKENS = 2_000

/** A unit that lost an entry, has one twice or in another order. */
const brokenOf = (unit: fc.Arbitrary<Unit>): fc.Arbitrary<Unit> =>
  fc.tuple(unit, fc.nat({ max: 5 }), oneText`lost ¦ twice ¦ turned`).map(([whole, share, how]) => {
    const at = share % whole.length
    if (how === 'lost') return whole.toSpliced(at, 1)
    return how === 'twice' ? whole.toSpliced(at, 0, whole[at]) : whole.toReversed()
  })

/** Good units alone, or broken and wrong ones among them. */
function unitsOf(good: fc.Arbitrary<Unit>, broken: fc.Arbitrary<Unit>, wrong: fc.Arbitrary<unknown>) {
  const any = anyOf(
    [6, good],
    [2, broken],
    wrong.map((one): Unit => [one]),
  )
  return anyOf([3, fc.array(good, { minLength: 4, maxLength: 30 })], [2, upTo(30, any)])
}

const saying = (type: string, role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type, text }],
})

function itemsDialect(): Dialect {
  const user = anyText.map((said): Unit => [saying('input_text', 'user', said)])
  const form = fc
    .tuple(fc.constantFrom(...spokenForms), anyText)
    .map(([{ item, before, behind }, said]): Unit =>
      [before, item(said), behind].filter((each) => each !== undefined),
    )
  /** A reply with thoughts that a server has bound to what stands before them, with and without ids, and what comes behind it. */
  const lived = fc
    .record({ number: fc.nat({ max: 9 }), seed: fc.nat(), hasId: fc.boolean(), bytes: sealedBytes })
    .map(({ number, seed, hasId, bytes }): Unit => {
      const roll = inResponses.diceOf(seed)
      const making = {
        idOf: (prefix: string) => `${prefix}_${number}`,
        sealed: () => 'g'.repeat(bytes),
        status: 'completed' as const,
      }
      const reply = inResponses.replyOf(roll, number).map((scripted) => scriptedItem(scripted, making))
      const named = hasId ? reply : reply.map(({ id: _id, ...item }) => item)
      return [...named, ...inResponses.behind(reply, roll, number)]
    })
  const marks = fc.constantFrom<Unit>(
    [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'g'.repeat(400) }],
    [{ type: 'compaction', encrypted_content: '' }],
    [{ type: 'configuration_update', reasoning: { effort: 'high' } }],
    [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }],
    [{ type: 'compaction_trigger' }],
    [{ type: 'message', role: 'system', content: 'Be brief.' }],
  )
  const wrong = withSome({
    type: anyOr(...spokenForms.map(({ item }) => item('')['type'])),
    id: anyJson,
    role: anyOr('user', 'assistant', 'tool', 'critic'),
    content: anyOf(anyJson, upTo(3, fc.record({ type: anyJson, text: anyJson }))),
    call_id: anyOr('call_1', 'call_2'),
    output: anyJson,
    arguments: anyJson,
    action: anyJson,
    summary: anyJson,
    encrypted_content: anyJson,
    execution: fc.constantFrom<unknown>('client', 'server', 1),
    caller: fc.constantFrom({ type: 'program' }, null),
  })
  const good = anyOf([4, user], [6, form], [5, lived], marks)
  const units = unitsOf(good, brokenOf(anyOf(form, lived)), anyOf(anyJson, wrong))
  /** Items that only the server has: what holds them is not touched. */
  const stateful = fc.constantFrom<Unit>([{ type: 'item_reference', id: 'msg_1' }], [{ id: 'msg_1' }])
  const held = fc.tuple(upTo(10, good), stateful).map(([before, one]) => [...before, one])
  const key = oneText`
    instructions ¦ tools ¦ tool_choice ¦ text ¦ previous_response_id ¦ conversation ¦ context_management
    max_output_tokens ¦ truncation ¦ input ¦ messages ¦ __proto__
  `
  return {
    ...itemHistory,
    name: 'items',
    path: 'responses',
    isCompact: anyOf([5, fc.constant(false)], fc.constant(true)),
    conversation: anyOf([5, units], held).map((each) => each.flat()),
    otherHistory: anyOf(anyText, anyJson),
    before: { model: 'm', store: false },
    history: 'input',
    after: { user: 'u' },
    more: anyOf([3, fc.constant({})], fc.dictionary(key, anyJson, { maxKeys: 2 })),
    fragments: '"input":[], "type":"reasoning", {"type":"compaction"},',
    growth: [
      saying('output_text', 'assistant', 'It is done.'),
      saying('input_text', 'user', 'And what comes next?'),
    ],
    plain: wire.RESPONSE,
    streamed: wire.RESPONSE_EVENTS,
    streamType: 'text/event-stream',
    shows: ['relayed;reason=stateful'],
  }
}

/** How much of a thought is sealed. */
const sealedBytes = fc.constantFrom(0, 40, 4_000)

const words = (said: string): object => ({ type: 'text', text: said })

function blocksDialect(): Dialect {
  const cached = { cache_control: { type: 'ephemeral' } }
  const marked = fc.constantFrom({}, {}, cached, { cache_control: null })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const page = { type: 'text', media_type: 'text/plain', data: 'A page. '.repeat(90) }
  const user = fc
    .tuple(anyText, marked, oneText`text ¦ block ¦ shown ¦ several`)
    .map(([said, mark, form]): Unit => {
      if (form === 'text') return [{ role: 'user', content: said }]
      const before = form === 'shown' ? [image, { type: 'document', source: page }] : []
      const behind = form === 'several' ? [words('And?'), image] : []
      return [{ role: 'user', content: [...before, { ...words(said), ...mark }, ...behind] }]
    })
  const reply = anyText.map((said): Unit => [{ role: 'assistant', content: said }])
  /** What a result may hold beside what clients mostly send. */
  const otherContent = fc.constantFrom(
    null,
    null,
    [words('Seen.'), image],
    [{ type: 'tool_reference', tool_name: 'deploy' }],
  )
  /** A reply with thoughts of every kind before, between and behind its calls, and what comes behind it. */
  const round = fc
    .record({
      number: fc.nat({ max: 9 }),
      seed: fc.nat(),
      bytes: sealedBytes,
      mark: marked,
      other: otherContent,
    })
    .map(({ number, seed, bytes, mark, other }): Unit => {
      const roll = inResponses.diceOf(seed)
      const sign = () => 'g'.repeat(bytes)
      const content = inMessages.replyOf(roll, number).map((scripted) => scriptedBlock(scripted, sign))
      const sent = (block: WireBlock): object =>
        block['type'] === 'tool_result'
          ? { ...block, ...(other !== null && { content: other }), ...mark }
          : block
      return [
        { role: 'assistant', content },
        ...inMessages
          .behind(content, roll, number)
          .map(({ role, blocks: all }) => ({ role, content: all.map(sent) })),
      ]
    })
  const tool = { type: 'tool_reference', tool_name: 'deploy' }
  const listing = { type: 'mcp_tool_listing', server_name: 's', tools: [{ name: 'f' }] }
  const marks = fc.constantFrom<Unit>(
    [{ role: 'system', content: 'Be brief.' }],
    [{ role: 'system', content: [{ type: 'tool_addition', tool }] }],
    [{ role: 'assistant', content: [listing, words('Listed.')] }],
  )
  /** What the server has compacted stands for all before it; of what is lasting there the server takes nothing first. */
  const compaction: Unit = [
    { role: 'assistant', content: [{ type: 'compaction', content: 'It began.' }, words('I go on.')] },
  ]
  const block = withSome({
    type: anyOr('text', 'tool_use', 'tool_result', 'thinking', 'image'),
    text: anyJson,
    id: anyOr('toolu_1_0', 'toolu_2_1'),
    tool_use_id: anyOr('toolu_1_0', 'toolu_2_1'),
    name: anyJson,
    input: anyJson,
    content: anyJson,
    signature: anyJson,
    cache_control: anyJson,
  })
  const wrong = withSome({
    role: anyOr('user', 'assistant', 'system', 'critic'),
    content: anyOf(anyJson, upTo(4, anyOf(anyJson, block))),
    id: anyJson,
  })
  const good = anyOf([5, user], [2, reply], [7, round], marks)
  const past = fc.option(upTo(8, anyOf(user, reply, round)), { freq: 5 })
  const units = unitsOf(good, brokenOf(round), anyOf(anyJson, wrong))
  const key = oneText`
    system ¦ tools ¦ tool_choice ¦ thinking ¦ thread ¦ context_management ¦ compaction ¦ max_tokens ¦ output_config
    cache_control ¦ messages ¦ input ¦ __proto__
  `
  return {
    ...messageHistory,
    name: 'blocks',
    path: 'messages',
    isCompact: fc.constant(false),
    conversation: fc
      .tuple(user, units, anyOf([3, user], good), past)
      .map(([first, then, last, before]) => [
        ...(before === null ? [] : [...first, ...before.flat(), ...compaction]),
        ...first,
        ...then.flat(),
        ...last,
      ]),
    otherHistory: anyJson,
    before: { model: 'm', max_tokens: 100 },
    history: 'messages',
    after: { top_k: 1 },
    more: anyOf(
      [6, fc.constant({})],
      [2, fc.dictionary(key, anyJson, { maxKeys: 2 })],
      // By chance alone none of a hundred may have one.
      fc.constant({ thread: 'thread_1' }),
    ),
    fragments: '"content":[], "role":"user", {"type":"thinking"},',
    growth: [
      { role: 'assistant', content: [words('It is done.')] },
      { role: 'user', content: 'And what comes next?' },
    ],
    plain: wire.MESSAGE,
    streamed: wire.MESSAGE_EVENTS,
    streamType: 'text/event-stream',
    shows: ['relayed;reason=stateful'],
  }
}

function ollamaDialect(): Dialect {
  const picture = fc.constantFrom('iVBORw0KGgo=', 'R0lGODlhAQABAAAAACw=', '')
  const images = fc.option(fc.array(picture, { minLength: 1, maxLength: 3 }), { freq: 3 })
  const user = fc
    .tuple(anyText, images)
    .map(([content, shown]): Unit => [{ role: 'user', content, ...(shown !== null && { images: shown }) }])
  const reply = fc
    .tuple(anyText, fc.option(anyText))
    .map(([content, thinking]): Unit => [
      { role: 'assistant', content, ...(thinking !== null && { thinking }) },
    ])
  /** Calls of one reply with their results in order, as each client has them: with ids, names, both or nothing. */
  const round = fc
    .record({
      said: anyText,
      results: fc.array(fc.tuple(anyText, fc.dictionary(fc.string(), anyJson, { maxKeys: 2 })), {
        minLength: 1,
        maxLength: 4,
      }),
      names: fc.boolean(),
      ids: fc.boolean(),
      pictured: images,
    })
    .map(({ said, results, names, ids, pictured }): Unit => [
      {
        role: 'assistant',
        content: said,
        tool_calls: results.map(([, given], index) => ({
          ...(ids && { id: `call_${index}` }),
          function: { index, name: `tool_${index % 2}`, arguments: given },
        })),
      },
      ...results.map(([content], index) => ({
        role: 'tool',
        content,
        ...(names && { tool_name: `tool_${index % 2}` }),
        ...(ids && names && { tool_call_id: `call_${index}` }),
        ...(index === 0 && pictured !== null && { images: pictured }),
      })),
    ])
  const system: Unit = [{ role: 'system', content: 'Be brief.' }]
  const wrong = withSome({
    role: anyOr('user', 'assistant', 'tool', 'critic'),
    content: anyOf(anyText, anyJson),
    thinking: anyJson,
    images: anyOf(anyJson, upTo(3, anyJson)),
    tool_calls: anyOf(
      anyJson,
      upTo(3, fc.record({ function: fc.record({ name: anyJson, arguments: anyJson }) })),
    ),
    tool_name: anyOr('tool_0', 'tool_1'),
  })
  const good = anyOf([5, user], [2, reply], [7, round], fc.constant(system))
  const units = unitsOf(good, brokenOf(round), anyOf(anyJson, wrong))
  const key = oneText`
    options ¦ tools ¦ format ¦ think ¦ keep_alive ¦ truncate ¦ shift ¦ stream ¦ messages ¦ __proto__
  `
  return {
    ...ollamaHistory,
    name: 'ollama-chats',
    path: 'api/chat',
    isCompact: fc.constant(false),
    conversation: fc.tuple(user, units).map(([first, then]) => [...first, ...then.flat()]),
    otherHistory: anyJson,
    before: { model: 'm' },
    history: 'messages',
    after: { options: { num_ctx: WINDOW_TOKENS } },
    more: anyOf([4, fc.constant({})], fc.dictionary(key, anyJson, { maxKeys: 2 })),
    fragments: '"content":"", "role":"tool", "images":["a"],',
    growth: [
      { role: 'assistant', content: 'It is done.' },
      { role: 'user', content: 'And what comes next?' },
    ],
    plain: wire.OLLAMA,
    streamed: wire.OLLAMA_LINES,
    streamType: 'application/x-ndjson',
    shows: [],
  }
}

/** A conversation as it is sent, and once more longer by a reply and the next question. */
type Conversation = {
  readonly isCompact: boolean
  readonly isStreamed: boolean
  readonly body: Buffer
  /** Null if it was damaged: then it is another conversation. */
  readonly grown: Buffer | null
}

/** Of all forms, damaged in every way, and what is none. */
function conversationsOf(dialect: Dialect): fc.Arbitrary<Conversation> {
  const fragments = [...'{ } [ ] " \\ , : ,"model":"other"'.split(' '), ...dialect.fragments.split(' ')]
  return fc
    .record({
      isCompact: dialect.isCompact,
      isStreamed: fc.boolean(),
      history: anyOf([9, dialect.conversation], dialect.otherHistory),
      more: dialect.more,
      isAscii: fc.boolean(),
      indent: fc.constantFrom(undefined, undefined, '\t'),
      damage: damages(fragments, { intact: 4, most: 2 }),
    })
    .map(({ isCompact, isStreamed, history, more, isAscii, indent, damage }) => {
      const written = (value: unknown): Buffer => {
        const members = { ...dialect.before, stream: isStreamed && !isCompact, ...more }
        const all = { ...members, [dialect.history]: value, ...dialect.after }
        const json = JSON.stringify(all, null, indent)
        const bytes = Buffer.from(isAscii ? escaped(json) : json)
        return damage?.(bytes) ?? bytes
      }
      const body = written(history)
      const entries: Unit | null = damage === null && Array.isArray(history) ? history : null
      return {
        isCompact,
        isStreamed,
        body,
        grown: entries === null ? null : written([...entries, ...dialect.growth]),
        toString: () => `${isCompact ? 'compact ' : ''}${JSON.stringify(body.toString('latin1'))}`,
      }
    })
}

function talking(dialect: Dialect): FuzzTarget {
  const shows = ['relayed', 'compacted', ...dialect.shows]
  return fuzzTarget(dialect.name, 3, shows, async () => {
    const stage = await openSmallStage({ body_mb: 1, bytes_in_flight_mb: 64 })
    let clients = 0
    return {
      close: stage.close,
      arbitrary: conversationsOf(dialect),
      check: async ({ isCompact, isStreamed, body, grown }) => {
        await stage.begin()
        // A client of its own for each: what another one has sent, smaller by a step, is no past of this one.
        clients += 1
        const key = `Authorization: Bearer client-${clients}`
        const isEvents = isStreamed && !isCompact
        const reply = isEvents ? dialect.streamed : dialect.plain
        const type = `content-type: ${isEvents ? dialect.streamType : 'application/json'}`
        const path = `/v1/${dialect.path}${isCompact ? '/compact' : ''}`
        const ask = async (sent: Buffer): Promise<Sent> => {
          stage.upstream.answerWith(() => wire.answerOf('200 OK', [type], reply))
          const answer = await stage.client.ask(requestOf(path, sent, [key]))
          const check = (received: { body: Buffer }) => dialect.check(sent, received.body)
          const received = await stage.afterwards()
          const { action, only } = treatmentOf({ sent, reply, check }, answer, received)
          const counts = /^(\d+);sent=(\d+)$/.exec(answer.header('x-foldgate-tokens') ?? '')
          const tokens = { received: Number(counts?.[1] ?? 0), sent: Number(counts?.[2] ?? 0) }
          return { action, tokens, entries: dialect.mayGoOn(sent) ? dialect.rawEntries(only.body) : [] }
        }
        const first = await ask(body)
        if (grown !== null && dialect.mayGoOn(body)) checkGrowth(first, await ask(grown))
        return first.action
      },
    }
  })
}

/** A request as it was treated. */
type Sent = {
  readonly action: string
  /** Items, or messages. */
  readonly entries: readonly string[]
  /** Of the conversation as it came and as it was sent; 0 where they were not counted. */
  readonly tokens: { readonly received: number; readonly sent: number }
}

/** Throws if the beginning changed of what was sent, and nothing was taken out for it (P5). */
function checkGrowth(before: Sent, after: Sent): void {
  const changed = before.entries.findIndex((entry, index) => after.entries[index] !== entry)
  if (changed === -1 || before.tokens.sent === 0 || after.tokens.sent === 0) return
  // Of a view that did not fit, whatever was done, another is tried at the next request.
  if (before.tokens.sent > WINDOW_TOKENS) return
  const growth = after.tokens.received - before.tokens.received
  if (after.tokens.sent < before.tokens.sent + growth) return
  const differing = [before, after].map(({ entries }) => entries[changed]?.slice(0, 400))
  const told = JSON.stringify([before.tokens, after.tokens, differing])
  throw new Error(`another beginning, and no less: ${told}`)
}

/**
 * Conversations of the Responses API, good and damaged in every way, and what becomes of them when they go on. What is not
 * rewritten arrives byte for byte, what is rewritten keeps to the promises, and answers come back as they were.
 */
export const items = talking(itemsDialect())

/** The same of the Messages API. */
export const blocks = talking(blocksDialect())

/** The same of Ollama's own chat. */
export const ollamaChats = talking(ollamaDialect())
