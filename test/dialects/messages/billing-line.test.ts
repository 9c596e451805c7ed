import { expect, test } from 'vitest'
import { finish } from '../../../src/conversation/source.ts'
import { messages as dialect } from '../../../src/dialects/messages/messages.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { sourceOf } from '../../support/source.ts'

const name = 'x-anthropic-billing-header:'
const line = `{"type": "text", "text":"${name} cc_version=2.1.197.a35; cch=00a1b;"}`
const other = '{"type":"text","text":"You are careful.","cache_control":{"type":"ephemeral"}}'

/** The system of a body, given as JSON, without the line. */
function without(system: string): string {
  const text = `{"system": ${system} ,"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Go."}]}`
  const found = finish(dialect.bodies.read(sourceOf(text), bodyLimits, null))
  if (!found.read) throw new Error(found.reason)
  const { billingLine } = found.body
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
