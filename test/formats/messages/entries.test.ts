import { describe, expect, test } from 'vitest'
import type { Message } from '../../../src/conversation/message.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { structureOf } from '../../../src/conversation/structure.ts'
import { parseEntry } from '../../../src/formats/entry-facts.ts'
import { messages as dialect } from '../../../src/formats/messages/messages.ts'
import { factsOfBody, readBody, repairedBody, splicedBody } from '../../support/read-body.ts'
import { sourceOf } from '../../support/source.ts'

const bodyOf = (history: readonly object[], fields: object = {}): string =>
  JSON.stringify({ model: 'm', max_tokens: 9, messages: history, ...fields })

function read(history: readonly object[], fields: object = {}) {
  const text = bodyOf(history, fields)
  const whole = readBody(dialect, text)
  return { ...whole, text, entries: whole.messages }
}

const roles = (entries: readonly Message[]) => entries.map(({ facts }) => facts.role)
const textBlock = (said: string) => ({ type: 'text', text: said })
const userSays = (...content: readonly object[]) => ({ role: 'user', content })
const reply = (...content: readonly object[]) => ({ role: 'assistant', content })
const go = { role: 'user', content: 'Go.' }
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'Eq0=' }
const call = (id: string) => ({ type: 'tool_use', id, name: 'read', input: { path: `${id}.ts` } })
const result = (id: string, content: unknown = 'found') => ({ type: 'tool_result', tool_use_id: id, content })
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
}

const meanings = (mark: object, id: string, signature: string) =>
  read([
    userSays({ ...textBlock('Go.'), ...mark }),
    reply({ ...thinking, signature }, { ...call(id), input: {} }),
    userSays({ ...result(id, [textBlock('x')]), ...mark }),
  ]).entries.map(({ facts }) => facts.meaning)
const repaired = (history: readonly object[]): unknown =>
  JSON.parse(repairedBody(dialect, bodyOf(history)) ?? '{"messages":null}').messages

describe('what is one entry', () => {
  test('what a user says at a time is one, and each result, thought and call is one by itself', () => {
    const { entries, source } = read([
      userSays(textBlock('A reminder.'), textBlock('The task.'), image),
      reply(thinking, textBlock('Both.'), call('a'), call('b')),
      userSays(result('a'), result('b'), textBlock('And hurry.')),
      { role: 'system', content: [{ type: 'tool_addition', name: 'x' }, textBlock('More.')] },
      { role: 'assistant', content: 'Done.' },
    ])
    const replied = ['assistant', 'assistant', 'assistant', 'assistant']
    expect(roles(entries)).toEqual(['user', ...replied, 'tool', 'tool', 'user', 'system', 'assistant'])
    expect(parseEntry(dialect, source, entries[0] ?? expect.fail()).text).toBe('A reminder.\nThe task.')
    expect(entries[0]?.facts.media).toHaveLength(1)
    expect(entries.map(({ facts }) => facts.bound)).toEqual([
      undefined,
      'whole',
      ...Array.from({ length: 8 }, () => undefined),
    ])
    expect(entries[8]?.facts.survives).toBe('each')
  })

  test('a round is a reply with all of its results, and what is said beside them; the request was made before its first block', () => {
    const { entries } = read([
      go,
      reply(thinking, call('a'), call('b')),
      userSays(result('a'), result('b'), textBlock('Quick.')),
      reply(textBlock('Done.')),
    ])
    const structure = runAtOnce(structureOf(entries))
    expect(structure.requestPoints).toEqual([1, 7, 8])
    expect([1, 2, 3, 4, 5, 6].map((index) => structure.unitStart(index))).toEqual([1, 1, 1, 1, 1, 1])
    expect(structure.turns).toEqual([0, 6])
  })

  // A reminder behind results was pinned as what the user said last, and the user's own words were folded.
  test('a reminder beside results is no turn of the user’s, unless it hands on what the user typed', () => {
    expect(turnsWith('   ')).toEqual([0])
    const reminder = '<system-reminder>The list of tasks is empty.</system-reminder>'
    expect(turnsWith(reminder)).toEqual([0])
    expect(turnsWith(`${reminder}\n`.repeat(2))).toEqual([0])
    expect(turnsWith(`${reminder} Stop there.`)).toEqual([0, 3])
    expect(turnsWith('<system-reminder>\nThe user sent a message: stop.</system-reminder>')).toEqual([0, 3])
    expect(turnsWith('<system-reminder>Never closed.')).toEqual([0, 3])
  })

  test('what is left of a message stands in its own braces, byte for byte', () => {
    const whole = read([
      go,
      { role: 'assistant', id: 'x', content: [thinking, call('a'), call('b')] },
      userSays(result('a'), { ...result('b'), cache_control: { type: 'ephemeral' } }),
    ])
    const spliced = (...kept: readonly number[]) =>
      splicedBody(
        whole,
        kept.map((index) => ({ kind: 'kept', index })),
      )
    expect(spliced(0, 1, 2, 3, 4, 5)).toBe(whole.text)
    expect(JSON.parse(spliced(0, 3, 5))).toMatchObject({
      messages: [
        go,
        { role: 'assistant', id: 'x', content: [call('b')] },
        userSays({ ...result('b'), cache_control: { type: 'ephemeral' } }),
      ],
    })
  })
})

describe('what an entry means', () => {
  test('marks of a cache, ids and signatures make no other conversation', () => {
    expect(meanings({ cache_control: { type: 'ephemeral', ttl: '1h' } }, 'a', 'one')).toEqual(
      meanings({}, 'b', 'two'),
    )
  })

  test('the server’s compaction begins the history anew, and a search of the server’s stays with what it found', () => {
    const { entries, source } = read([
      go,
      {
        role: 'assistant',
        content: [
          { type: 'compaction', content: 'So far.' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [
              { type: 'web_search_result', url: 'https://a.example', encrypted_content: 'E'.repeat(90) },
            ],
          },
          textBlock('Found.'),
        ],
      },
    ])
    expect(roles(entries)).toEqual(['user', 'other', 'assistant', 'assistant', 'assistant'])
    expect(entries[1]?.facts.startsHistory).toBe(true)
    expect(entries.flatMap(({ facts }) => [...facts.callIds, ...facts.answers])).toEqual([])
    const found = parseEntry(dialect, source, entries[3] ?? expect.fail())
    expect(found.opaqueCharacters).toBe(90)
    expect(found.uncut).toContain('https://a.example')
    expect(found.uncut).not.toContain('EEE')
  })

  test('tools that a search of the client’s has found survive, and what says so is never cleared', () => {
    const { entries, source } = read([
      go,
      reply(call('a')),
      userSays(result('a', [{ type: 'tool_reference', tool_name: 'x' }])),
    ])
    const found = entries[2] ?? expect.fail()
    expect(found.facts).toMatchObject({ survives: 'each-with-call', media: [] })
    expect(runAtOnce(dialect.entries.slots(source, found, parseEntry(dialect, source, found)))).toEqual([])
  })
})

describe('how a request is treated', () => {
  test.each([
    [{ thread: { type: 'create' } }, 'stateful'],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, 'native'],
    [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, 'native'],
  ])('%j is left to the server', (fields, reason) => {
    expect(() => read([go], fields)).toThrow(reason)
  })

  test('thoughts that the server clears change nothing, and system, tools and schema are found', () => {
    const { body } = read([go], {
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      system: [textBlock('Be brief.')],
      tools: [{ name: 'read', input_schema: {} }],
      output_config: { format: { type: 'json_schema', schema: {} } },
      tool_choice: { type: 'any' },
    })
    expect([body.system, body.tools, body.schema].map((span) => span === null)).toEqual([false, false, false])
    expect([body.isToolForced, body.outputLimit?.tokens, body.outputLeastTokens]).toEqual([true, 9, 1])
  })
})

describe('a broken history', () => {
  const none = '[no result was recorded for this call]'

  test('an unanswered call gets a result beside those of its round, or in a message of its own', () => {
    expect(
      repaired([
        go,
        reply(call('a'), call('b')),
        userSays(result('b'), textBlock('Well?')),
        reply(call('c')),
        { role: 'user', content: 'Stop.' },
      ]),
    ).toEqual([
      go,
      reply(call('a'), call('b')),
      userSays(result('b'), result('a', none), textBlock('Well?')),
      reply(call('c')),
      userSays(result('c', none)),
      { role: 'user', content: 'Stop.' },
    ])
  })

  test('results come first, and one without a call is what a user says', () => {
    expect(
      repaired([
        go,
        reply(call('a')),
        userSays(textBlock('Here:'), result('gone', [textBlock('old')]), result('a')),
      ]),
    ).toEqual([
      go,
      reply(call('a')),
      userSays(
        result('a'),
        textBlock('Here:'),
        textBlock('[result of a tool call that is not in this conversation]\nold'),
      ),
    ])
  })

  test('an open round is the client’s to answer', () => {
    const open = [go, reply(call('a'), call('b')), userSays(result('a'))]
    expect(repaired(open)).toBeNull()
  })
})

/** Where turns begin in a round with a text beside its result. */
function turnsWith(beside: string): readonly number[] {
  const { entries } = read([go, reply(call('a')), userSays(result('a'), textBlock(beside))])
  return runAtOnce(structureOf(entries)).turns
}

const name = 'x-anthropic-billing-header:'
const line = `{"type": "text", "text":"${name} cc_version=2.1.197.a35; cch=00a1b;"}`
const other = '{"type":"text","text":"You are careful.","cache_control":{"type":"ephemeral"}}'

/** The system of a body, given as JSON, without the line. */
function without(system: string): string {
  const text = `{"system": ${system} ,"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Go."}]}`
  const { billingLine } = factsOfBody(dialect, sourceOf(text))
  if (billingLine === null) return system
  const { at } = billingLine
  const edited = `${text.slice(0, at.start)}${billingLine.text}${text.slice(at.end)}`
  return edited.slice('{"system": '.length, edited.indexOf(' ,"model"'))
}

test.each([
  ['goes with its comma', `[ ${line} , ${other}]`, `[ ${other}]`],
  ['goes from behind another one', `[${other},\n${line} ]`, `[${other} ]`],
  ['keeps its name if it is all there is', `[${line}]`, `[{"type": "text", "text":"${name}"}]`],
  ['goes from the beginning of a text', `"${name} cch=1;\\n\\nYou are careful."`, '"You are careful."'],
  ['keeps its name if it is all of a text', `"${name} cch=1;"`, `"${name}"`],
])('the line %s', (_, system, expected) => {
  expect(without(system)).toBe(expected)
  expect(without(expected)).toBe(expected)
})

test.each([
  ['a system without it', `[${other}]`],
  ['a text that only names it', `[{"type":"text","text":"The ${name} is a header."},${other}]`],
  ['a text that quotes one', `[{"type":"text","text":"\\"${name} cch=1;\\""}]`],
  ['a text that goes on in the same line', `"${name} cch=1; \\"quoted\\""`],
  ['no list of blocks', '[]'],
])('%s stays as it is', (_, system) => {
  expect(without(system)).toBe(system)
})
