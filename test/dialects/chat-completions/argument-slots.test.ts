import { describe, expect, test } from 'vitest'
import { slotsOf } from '../../../src/dialects/chat-completions/slots.ts'
import { parseMessage, factsOf } from '../../support/chat-completions.ts'
import { finish } from '../../../src/conversation/source.ts'
import { sourceOf } from '../../support/source.ts'

/** The arguments of a message's calls: what they are read as, and the bytes that stand where they are said to. */
function argumentsOf(message: string) {
  const body = `[1, ${message}]`
  const source = sourceOf(body)
  const span = { start: 4, end: Buffer.byteLength(body) - 1 }
  const parsed = parseMessage(source, { ...span, facts: factsOf(message) })
  const slots = finish(slotsOf(source, span, parsed)).filter(({ kind }) => kind === 'arguments')
  return slots.map(({ text, spans, isJson, writtenAs }) => ({
    text,
    bytes: spans.map(({ start, end }) => source.text(start, end)).join(),
    kind: writtenAs === 'json' ? 'value' : isJson ? 'encoded' : 'text',
  }))
}

function listed(...calls: readonly string[]): string {
  return `{"role":"assistant","content":"ä","tool_calls" : [ ${calls.join(' , ')} ]}`
}

describe('the arguments of calls stand where they were read from', () => {
  test('in the order of the calls, those without any left out', () => {
    expect(
      argumentsOf(
        listed(
          '{"id":"a","function":{"name":"look","arguments":"{\\"x\\":1}"}}',
          '{"id":"b","function":{"name":"look"}}',
          '7',
          '{"function":{"arguments":"{}"}}',
        ),
      ),
    ).toEqual([
      { text: '{"x":1}', bytes: '"{\\"x\\":1}"', kind: 'encoded' },
      { text: '{}', bytes: '"{}"', kind: 'encoded' },
    ])
  })

  // A patch of five thousand tokens was booked as cut and sent whole: only `function.arguments` was looked for.
  test('in a custom tool’s input, which is free text', () => {
    const patch = '{"id":"a","type":"custom","custom":{"name":"apply_patch","input":"*** Begin"}}'
    expect(argumentsOf(listed(patch))).toEqual([{ text: '*** Begin', bytes: '"*** Begin"', kind: 'text' }])
  })

  test('as a value that is no string', () => {
    expect(argumentsOf(listed('{"function":{"arguments":{ "x" : 1 }}}'))).toEqual([
      { text: '{"x":1}', bytes: '{ "x" : 1 }', kind: 'value' },
    ])
  })

  // A `tool_calls` of null was taken for the list of calls, so the one call there was could not be cut.
  test.each(['', '"tool_calls":null,', '"tool_calls":[],', '"tool_calls":{},'])(
    'in a legacy function_call behind %j',
    (before) => {
      const message = `{"role":"assistant",${before}"function_call":{"arguments":"{}","name":"f"}}`
      expect(argumentsOf(message)).toEqual([{ text: '{}', bytes: '"{}"', kind: 'encoded' }])
    },
  )

  test('in the list where both are there', () => {
    const both = listed('{"function":{"arguments":"[]"}}').replace(
      '}]',
      '}],"function_call":{"arguments":"{}"}',
    )
    expect(argumentsOf(both).map(({ bytes }) => bytes)).toEqual(['"[]"'])
  })

  test('under the last of equal keys, as JSON.parse has it', () => {
    const twice = '{"function":{"arguments":"1"},"function":{"arguments":"2","argument\\u0073":"3"}}'
    expect(argumentsOf(listed(twice))).toEqual([{ text: '3', bytes: '"3"', kind: 'encoded' }])
  })

  test('are none where nothing is called', () => {
    expect(argumentsOf('{"role":"assistant","content":"arguments"}')).toEqual([])
    expect(argumentsOf('{"role":"user","tool_calls":[{"function":{"arguments":"{}"}}]}')).toEqual([])
  })
})
