import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Role } from '../../src/conversation/message.ts'
import { runAtOnce, type Source } from '../../src/json/source.ts'
import type { ViewItem } from '../../src/json/splice.ts'
import { structureOf } from '../../src/conversation/structure.ts'
import type { AnswerEvent, Finish, Usage } from '../../src/formats/answer-contract.ts'
import type { BodyFacts, Dialect, Rule, Slot } from '../../src/formats/contract.ts'
import { findHistory } from '../../src/formats/body-members.ts'
import { parseEntry } from '../../src/formats/entry-facts.ts'
import { createEventReader } from '../../src/formats/event-reader.ts'
import { asStream } from '../../src/formats/typed-events.ts'
import { continuedBody } from '../../src/formats/continued-body.ts'
import { toolNamesIn } from '../../src/formats/tool-lists.ts'
import { repairCalls } from '../../src/formats/repair.ts'
import { callViolations } from '../../src/formats/call-rules.ts'
import { withOwnIds } from '../../src/formats/turns.ts'
import { recallTool } from '../../src/recall/recall-tool.ts'
import { factsOfBody, readBody, splicedBody, type ReadBody } from '../support/read-body.ts'
import { sourceOf } from '../support/source.ts'
import { forAll } from '../support/property-runs.ts'

/** What a dialect shows of itself. Entries are given as JSON, as a client spells them. */
export type DialectSamples = {
  readonly dialect: Dialect
  /** A body with these entries as its history, and these fields around it. */
  readonly body: (entries: readonly string[], fields?: object) => string
  /**
   * A valid conversation, with what each entry is: a system entry, a user's, a call, its result, a reply and a question, at
   * least. Spaces, escapes and unknown fields stand in it.
   */
  readonly conversation: readonly EntrySample[]
  /** Entries with slots of every kind that the dialect has, and what stands in them. */
  readonly slots: readonly {
    readonly entry: string
    readonly slots: readonly Pick<Slot, 'kind' | 'text'>[]
  }[]
  /** Sequences that break a rule. */
  readonly broken: readonly { readonly entries: readonly string[]; readonly rule: Rule }[]
  /** Fields of a request that wants a stream, and of one that limits its output to 77 tokens. */
  readonly streamed: object
  readonly limited: object
  /** A list of tools, as the value of its field, and the names in it. */
  readonly tools: {
    readonly fields: object
    readonly list: readonly unknown[]
    readonly names: readonly string[]
  }
  /** Plain answers, and what they say. */
  readonly answers: readonly (Said & { readonly name: string; readonly body: unknown })[]
  /** Streams, and what they say; `silent` events come before the first output. */
  readonly streams: readonly (Said & {
    readonly name: string
    readonly events: readonly string[]
    readonly silent: number
  })[]
  /** A plain answer and a stream that say a text and nothing else, and are no call of the tool. */
  readonly text: string
  readonly plainText: unknown
  readonly streamedText: readonly string[]
  /** A stream whose usage was asked for, and the same if it was not. */
  readonly usage: { readonly asked: readonly string[]; readonly unasked: readonly string[] } | null
}

export type EntrySample = {
  readonly entry: string
  readonly role: Role
  readonly text: string
  /** Whether it is the model's, and whether it is not the first of its reply. */
  readonly opensReply: boolean
  readonly goesOn?: boolean
  readonly calls?: readonly string[]
  readonly answers?: readonly string[]
}

type Said = {
  readonly hasOutput: boolean
  readonly finish: Finish | null
  readonly isError?: boolean
  readonly usage?: Usage
}

/** An entry of a sample conversation: what the model says opens a reply, if it does not go on with one. */
export const sampleEntry = (
  role: Role,
  text: string,
  json: string,
  more: Partial<EntrySample> = {},
): EntrySample => ({ entry: json, role, text, opensReply: role === 'assistant', ...more })

/** A sample answer that has output and ends so; what else is different of it. */
export const sampleAnswer = (name: string, body: unknown, end: Finish | null, more: Partial<Said> = {}) => ({
  name,
  body,
  hasOutput: true,
  finish: end,
  ...more,
})

/** A sample stream whose output has so many silent events before it. */
export const sampleStream = (
  name: string,
  silent: number,
  end: Finish | null,
  events: readonly string[],
  more: Partial<Said> = {},
) => ({ name, events, silent, hasOutput: true, finish: end, ...more })

/** What every dialect owes. */
export function dialectContract(samples: DialectSamples): void {
  const { dialect, body, conversation } = samples
  const { entries, rules, answers, replies, summaries } = dialect
  const written = conversation.map(({ entry }) => entry)

  const facts = (source: Source): BodyFacts => factsOfBody(dialect, source)
  const readWhole = (text: string): ReadBody => readBody(dialect, text)
  const read = (texts: readonly string[]): ReadBody => readWhole(body(texts))

  function violations(texts: readonly string[]): readonly Rule[] {
    const shapes = read(texts).messages.map((message) => message.facts)
    return runAtOnce(callViolations(shapes, rules)).map(({ rule }) => rule)
  }

  const spliced = (texts: readonly string[], items: readonly ViewItem[]): string =>
    splicedBody(read(texts), items)

  /** What a stream says, cut into these pieces. */
  function eventsOf(pieces: readonly string[]): readonly AnswerEvent[] {
    const reader = createEventReader({ eventCharactersMax: 1_000_000, streamType: answers.streamType })
    return [...pieces.flatMap((piece) => reader.feed(piece)), ...reader.end()].map(answers.openStream())
  }

  describe(`${dialect.name} keeps the promises of a dialect`, () => {
    test('a body is read into the entries that stand in it', () => {
      const source = sourceOf(body(written))
      const { history, entrySpans } = facts(source)
      expect(entrySpans.map(({ start, end }) => source.text(start, end))).toEqual(written)
      expect(findHistory(dialect.bodies, source)).toBe(history.start)
      expect(dialect.bodies.knownFields).toContain('model')
    })

    test('what stands around the history decides how a request is treated', () => {
      const plain = facts(sourceOf(body(written, { model: 'm' })))
      expect(plain).toMatchObject({ model: 'm', isStreamed: false, withoutStreaming: null, tools: null })
      const asked = body(written, samples.streamed)
      const { isStreamed, withoutStreaming } = facts(sourceOf(asked))
      expect([isStreamed, withoutStreaming === null]).toEqual([true, false])
      const tokens = facts(sourceOf(body(written, samples.limited))).outputLimit?.tokens
      expect(tokens).toBe(77)
    })

    test('a view in which all is kept is the body, and what is made leaves all other bytes', () => {
      const all = written.map((_, index): ViewItem => ({ kind: 'kept', index }))
      expect(spliced(written, all)).toBe(body(written))
      const made = entries.user('Instead.')
      const items = all.map((item, index): ViewItem => (index === 1 ? { kind: 'made', json: made } : item))
      const [whole, view] = [body(written), spliced(written, items)]
      const [first = '', , third = ''] = written
      expect(view.startsWith(`${whole.slice(0, whole.indexOf(first))}${first},${made}`)).toBe(true)
      expect(view.endsWith(`,${whole.slice(whole.indexOf(third))}`)).toBe(true)
    })

    test.each(conversation.map((sample) => [sample.entry, sample] as const))('facts of %s', (_, sample) => {
      const { source, messages } = read(written)
      const message = messages[conversation.indexOf(sample)] ?? expect.fail('no message')
      const { role, opensReply, callIds, answers: answered } = message.facts
      expect({ role, opensReply, calls: callIds, answers: answered }).toEqual({
        role: sample.role,
        opensReply: sample.opensReply,
        calls: sample.calls ?? [],
        answers: sample.answers ?? [],
      })
      expect(parseEntry(dialect, source, message).text).toBe(sample.text)
    })

    // The past of a conversation is read off its entries (P5): what a longer one says of a prefix holds for the prefix.
    test('of every prefix the request points and units are those that a longer one has', () => {
      const whole = runAtOnce(structureOf(read(written).messages))
      const opened = conversation.flatMap(({ opensReply, goesOn }, index) =>
        opensReply && goesOn !== true && index > 0 ? [index] : [],
      )
      expect(whole.requestPoints).toEqual([...opened, written.length])
      for (const point of whole.requestPoints) {
        const prefix = runAtOnce(structureOf(read(written.slice(0, point)).messages))
        expect(prefix.requestPoints).toEqual(whole.requestPoints.filter((each) => each <= point))
        expect(prefix.lastUnitStart(point)).toBe(whole.lastUnitStart(point))
        expect(prefix.isFrontier(point)).toBe(true)
      }
    })

    test('no frontier stands between a call and its result', () => {
      const { messages } = read(written)
      const structure = runAtOnce(structureOf(messages))
      for (const [index, { answers: answered = [], goesOn }] of conversation.entries())
        expect(structure.isFrontier(index)).toBe(answered.length === 0 && goesOn !== true)
      expect(structure.isFrontier(messages.length)).toBe(true)
    })

    test('a valid conversation breaks no rule and is not repaired', () => {
      const { source, messages } = read(written)
      expect(violations(written)).toEqual([])
      expect(runAtOnce(repairCalls(source, messages, rules))).toBeNull()
    })

    test.each(samples.broken)('$rule is seen and repaired', ({ entries: texts, rule }) => {
      expect(violations(texts)).toContain(rule)
      const { source, messages } = read(texts)
      const items =
        runAtOnce(repairCalls(source, messages, rules))?.items ?? expect.fail('nothing was repaired')
      const repaired = items.map((item) => (item.kind === 'made' ? item.json : (texts[item.index] ?? '')))
      expect(violations(repaired)).toEqual([])
    })

    test.each(samples.slots)('the slots of $entry are edited and nothing else is', ({ entry, slots }) => {
      const { source, messages } = read([entry])
      const [message] = messages
      if (message === undefined) throw new Error('no message')
      const found = runAtOnce(entries.slots(source, message, parseEntry(dialect, source, message)))
      expect(found.map(({ kind, text }) => ({ kind, text }))).toEqual(slots)
      expect(runAtOnce(entries.edited(source, message, new Map(), Number.POSITIVE_INFINITY))).toBe(entry)
      for (const [position, slot] of found.entries()) {
        const json = runAtOnce(
          entries.edited(source, message, new Map([[slot, '{"new":true}']]), Number.POSITIVE_INFINITY),
        )
        const again = read([json])
        const [made] = again.messages
        if (made === undefined) throw new Error('no message')
        const after = runAtOnce(entries.slots(again.source, made, parseEntry(dialect, again.source, made)))
        const expected = slots.map(({ text }, index) => (index === position ? '{"new":true}' : text))
        expect(after.map(({ text }) => text)).toEqual(expected)
        const from = Math.min(...slot.spans.map(({ start }) => start))
        const until = Math.max(...slot.spans.map(({ end }) => end))
        expect(json.startsWith(source.text(message.start, from))).toBe(true)
        expect(json.endsWith(source.text(until, message.end))).toBe(true)
      }
    })

    test('an entry without what holds only with the thoughts before it says the same', () => {
      const bare = written.map(entries.unbound)
      const { source, messages } = read(bare)
      expect(messages.map((message) => parseEntry(dialect, source, message).text)).toEqual(
        conversation.map(({ text }) => text),
      )
      expect(messages.map(({ facts: { bound } }) => bound)).not.toContain('follows')
      expect(messages.map(({ facts: { meaning } }) => meaning)).toEqual(
        read(written).messages.map(({ facts: { meaning } }) => meaning),
      )
    })

    test('what Foldgate says is a user’s entry, and two are joined in their order', () => {
      const { source, messages } = read([entries.user('ä "quoted"'), entries.user('😀')])
      expect(messages.map(({ facts: { role } }) => role)).toEqual(['user', 'user'])
      const texts = messages.map((message) => parseEntry(dialect, source, message).text)
      expect(texts).toEqual(['ä "quoted"', '😀'])
      const joined = entries.joined(['ä "quoted"', '😀'].map(entries.user), 0) ?? expect.fail('not joined')
      const one = read([joined])
      const text = one.messages.map((message) => parseEntry(dialect, one.source, message).text).join()
      expect([text.startsWith('ä "quoted"'), text.endsWith('😀')]).toEqual([true, true])
    })

    test.each(samples.answers)('a plain answer: $name', ({ body: answer, ...said }) => {
      const { hasOutput, finish: end, usage, isError } = answers.read(answer) ?? expect.fail('not read')
      expect([hasOutput, end, isError]).toEqual([said.hasOutput, said.finish, said.isError === true])
      expect(usage).toEqual(said.usage ?? null)
      const streamed = asStream(answers, answer)
      if (!hasOutput || said.isError === true) expect(streamed).toBeNull()
      else {
        const again = saidBy(eventsOf([streamed?.text ?? '']))
        expect(again).toMatchObject({ hasOutput, finish: end })
        expect(again.usage).toEqual(said.usage)
      }
    })

    test('what is no answer is none', () => {
      for (const value of [null, 7, 'text', undefined]) {
        expect(answers.read(value)).toBeNull()
        expect(asStream(answers, value)).toBeNull()
      }
    })

    test.each(samples.streams)('a stream, cut anywhere: $name', ({ events, silent, ...said }) => {
      const whole = events.join('')
      expect(saidBy(eventsOf([whole]))).toMatchObject({ ...pickSaid(said), silent })
      forAll(30, fc.array(fc.nat({ max: whole.length }), { maxLength: 6 }), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), whole.length]
        const pieces = places.map((place, index) => whole.slice(place, places[index + 1]))
        expect(eventsOf(pieces)).toEqual(eventsOf([whole]))
      })
      // What an observer leaves out says nothing that it would want to know.
      const reader = createEventReader({ eventCharactersMax: 1_000_000, streamType: answers.streamType })
      const told = [...reader.feed(whole), ...reader.end()]
      const all = told.map(answers.openStream())
      const seen = told.filter(answers.isTelling).map(answers.openStream())
      const { finish: end, usage, isError } = saidBy(all)
      expect(saidBy(seen)).toMatchObject({ finish: end, isError, ...(usage === undefined ? {} : { usage }) })
    })

    test('a reply that goes on nowhere passes as it came', () => {
      const callRules = { toolName: 'recall', continues: true }
      const plain = replies.join(callRules)
      expect(plain.takePlain(samples.plainText)).toMatchObject({
        text: samples.text,
        calls: [],
        finish: 'end',
      })
      expect(plain.finishPlain()).toBeNull()
      expect(replies.read(samples.plainText)?.text).toBe(samples.text)
      const stream = replies.join<{ readonly text: string }>(callRules)
      const events = samples.streamedText.map((text) => ({ text }))
      const shown = events.flatMap((event) => stream.take(event))
      const { reply, shown: late } = stream.ended()
      expect([...shown, ...late, ...stream.finish()]).toEqual(events)
      expect(reply).toMatchObject({ text: samples.text, calls: [], finish: 'end' })
      expect(replies.isDone(samples.streamedText.at(-1) ?? '')).toBe(true)
      expect(replies.isDone(samples.streamedText[0] ?? '')).toBe(false)
    })

    test('a model goes on behind its own words, by entries that break no rule', () => {
      const asked = [...written, ...replies.goOn('I begin', 'Go on.')]
      const { source, messages } = read(asked)
      const [said, ask] = messages.slice(-2).map((message) => parseEntry(dialect, source, message).text)
      expect([said, ask]).toEqual(['I begin', 'Go on.'])
      expect(violations(asked)).toEqual([])
    })

    test('a model goes on behind the answer to its call', () => {
      const call = {
        id: '',
        name: 'recall',
        argumentsText: '{"messages":"#3"}',
        isIncomplete: false,
        json: {},
      }
      const reply = replies.read(samples.plainText) ?? expect.fail('no reply')
      const turn = replies.answeredCalls('I look.', reply, withOwnIds([{ call, answer: 'It said so.' }], 0))
      expect(violations([...written, ...turn])).toEqual([])
      expect(violations([...written, ...replies.unbound(turn)])).toEqual([])
      const { messages } = read([...written, ...turn])
      const added = messages.slice(written.length).map((message) => message.facts)
      expect(added[0]?.opensReply).toBe(true)
      expect(added.flatMap(({ callIds }) => callIds)).toEqual(added.flatMap((each) => each.answers))
    })

    test('an error in the middle of a stream is read as one', () => {
      const [event] = eventsOf([replies.errorEvent({ error: { message: 'no', type: 'server_error' } })])
      expect(saidBy(event === undefined ? [] : [event]).isError).toBe(true)
    })

    test('usage that only Foldgate asked for is hidden, and nothing else', () => {
      expect(samples.usage === null).toBe(answers.usageHider === undefined)
      if (samples.usage === null) return
      expect(withoutUsage(dialect, samples.streamedText)).toBe(samples.streamedText.join(''))
      expect(withoutUsage(dialect, samples.usage.asked)).toBe(samples.usage.unasked.join(''))
    })

    test('a call for a summary', () => {
      const [limitField] = summaries.limitFields
      const limit = summaries.limit?.(77, { num_ctx: 4096 }) ?? 77
      const fields = { ...summaries.asked('Be brief.', 'Sum it up.'), [limitField]: limit }
      const { source, messages } = readWhole(JSON.stringify(fields))
      const { outputLimit, isStreamed } = facts(source)
      const texts = messages.map((message) => parseEntry(dialect, source, message).text)
      expect([outputLimit?.tokens, isStreamed]).toEqual([77, false])
      expect(texts.at(-1)).toBe('Sum it up.')
      expect(
        runAtOnce(
          callViolations(
            messages.map((each) => each.facts),
            rules,
          ),
        ),
      ).toEqual([])
      expect(summaries.ownFields).toContain('model')
    })

    test('a call for a summary at the end of the conversation itself', () => {
      const own = JSON.parse(body([], { ...samples.tools.fields, ...samples.streamed, ...samples.limited }))
      const tool = dialect.recallTool(recallTool(new Set()))
      const asked = continuedBody(dialect, own, [...written, entries.user('Sum it up.')], tool, {
        model: 'm',
      })
      const source = sourceOf(asked)
      const { isStreamed, outputLimit, model, tools, entrySpans } = facts(source)
      expect([isStreamed, outputLimit, model]).toEqual([false, null, 'm'])
      expect(entrySpans.map(({ start, end }) => source.text(start, end)).slice(0, -1)).toEqual(written)
      const list: unknown = tools === null ? [] : JSON.parse(source.text(tools.start, tools.end))
      expect(list).toEqual([...samples.tools.list, tool])
    })

    test('an answer to it says what was written', () => {
      expect(summaries.read(samples.plainText)).toEqual({
        text: samples.text,
        hasThoughts: false,
        hasCalls: false,
        hasRefusal: false,
      })
      expect(summaries.read({})).toBeNull()
    })

    test('a tool of Foldgate’s stands beside the client’s under a name that none of them has', () => {
      expect(toolNamesIn(samples.tools.list)).toEqual(samples.tools.names)
      const tool = recallTool(new Set(toolNamesIn(samples.tools.list)))
      expect(toolNamesIn([dialect.recallTool(tool)])).toEqual([tool.name])
    })
  })
}

function saidBy(events: readonly AnswerEvent[]): Said & { readonly silent: number } {
  const all = events.flatMap((event) => (event.kind === 'facts' ? [event.facts] : []))
  const first = events.findIndex((event) => event.kind === 'facts' && event.facts.hasOutput)
  const usage = all.findLast((each) => each.usage !== null)?.usage ?? null
  return {
    hasOutput: first !== -1,
    finish: all.findLast((each) => each.finish !== null)?.finish ?? null,
    isError: all.some(({ isError }) => isError),
    ...(usage === null ? {} : { usage }),
    silent: first === -1 ? events.length : first,
  }
}

/** A stream as the client gets it that did not ask for usage. */
function withoutUsage({ answers }: Dialect, events: readonly string[]): string {
  const hider = answers.usageHider?.() ?? expect.fail('streams of this dialect are never asked for usage')
  return [...events.flatMap((event) => hider.take(event)), hider.release()].join('')
}

const pickSaid = ({ hasOutput, finish: end, isError = false, usage }: Said): object => ({
  hasOutput,
  finish: end,
  isError,
  ...(usage === undefined ? {} : { usage }),
})
