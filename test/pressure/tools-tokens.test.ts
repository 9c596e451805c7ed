import { expect, test } from 'vitest'
import { finish } from '../../src/conversation/source.ts'
import { loadCounter } from '../../src/pressure/encodings.ts'
import { schemaTokens, toolsTokens } from '../../src/pressure/tools-tokens.ts'

const counter = await loadCounter('o200k_base')
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { name: 'get_weather', description: 'The weather in a city.', parameters }

test.each([undefined, null, []])('no tools (%j) cost nothing', (tools) => {
  expect(finish(toolsTokens(tools, counter))).toBe(0)
})

test('tools cost 16, and 8 each beside their texts, and a tenth on top', () => {
  const one =
    8 +
    counter.count('get_weather') +
    counter.count(weather.description) +
    counter.count(JSON.stringify(parameters))
  const tool = { type: 'function', function: weather }
  expect(finish(toolsTokens([tool], counter))).toBe(Math.ceil((16 + one) * 1.1))
  expect(finish(toolsTokens([tool, tool, tool], counter))).toBe(Math.ceil((16 + 3 * one) * 1.1))
})

test('legacy functions cost what the same tools cost', () => {
  expect(finish(toolsTokens([weather], counter))).toBe(
    finish(toolsTokens([{ type: 'function', function: weather }], counter)),
  )
})

test.each([
  [[{ type: 'web_search', filters: { domains: ['example.org'] } }]],
  [[null]],
  [['text']],
  [[[1, 2]]],
  [{ odd: true }],
  ['text'],
  [7],
])('tools of a shape that is not known (%j) cost something', (tools) => {
  expect(finish(toolsTokens(tools, counter))).toBeGreaterThan(16)
})

test('a schema nested too deep to be written does not stop the counting', () => {
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  expect(
    finish(toolsTokens([{ type: 'function', function: { name: 'deep', parameters: deep } }], counter)),
  ).toBeGreaterThan(16)
})

test('a response format costs something only where it carries a schema', () => {
  expect(finish(schemaTokens(undefined, counter))).toBe(0)
  expect(finish(schemaTokens({ type: 'json_object' }, counter))).toBe(0)
  expect(
    finish(
      schemaTokens({ type: 'json_schema', json_schema: { name: 'answer', schema: parameters } }, counter),
    ),
  ).toBeGreaterThan(counter.count(JSON.stringify(parameters)))
})
