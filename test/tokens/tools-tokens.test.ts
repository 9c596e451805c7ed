import { describe, expect, test } from 'vitest'
import { finish } from '../../src/conversation/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { encodingFor } from '../../src/tokens/families.ts'
import { toolRuleOf } from '../../src/tokens/tool-rules.ts'
import { schemaTokens, toolsTokens } from '../../src/tokens/tools-tokens.ts'
import { object, recordedTools, text } from './recorded-tools.ts'

const counter = await loadCounter('o200k_base')
const parameters = object({ city: text }, ['city'])
const weather = { name: 'get_weather', description: 'Tell the weather of a place', parameters }
const tool = { type: 'function', function: weather }

function withMargin(tokens: number): number {
  return tokens + Math.ceil(tokens * 0.1)
}

async function tokensOf(tools: unknown, model: string): Promise<number> {
  return finish(toolsTokens(tools, await loadCounter(encodingFor(model)), model))
}

test.each([undefined, null, []])('no tools (%j) cost nothing, with any model', async (tools) => {
  for (const model of ['gpt-4o', 'claude-opus-5', 'llama-3.3-70b', 'm'])
    expect(await tokensOf(tools, model)).toBe(0)
})

test.each(recordedTools)(
  '$model: OpenAI counted $tokens for $tools.0.name, as is counted here',
  async (example) => {
    const { model, tokens, tools } = example
    const over = 'over' in example ? (example.over ?? 0) : 0
    expect(await tokensOf(tools, model)).toBe(tokens + over)
  },
)

describe('a function with OpenAI', () => {
  test('costs the same as a tool, as a legacy function and in the flat shape', async () => {
    const asTool = await tokensOf([tool], 'gpt-4o')
    expect(await tokensOf([weather], 'gpt-4o')).toBe(asTool)
    expect(await tokensOf([{ type: 'function', ...weather }], 'gpt-4o')).toBe(asTool)
  })

  test.each([
    ['const', { const: 'fixed' }, '"fixed"'],
    ['a choice', { anyOf: [text, { type: 'null' }] }, 'string | null'],
    ['oneOf', { oneOf: [{ type: 'integer' }, object({ a: text })] }, 'number | {\n  a?: string,\n}'],
    ['several types', { type: ['string', 'null'] }, 'string | null'],
    ['a list of choices', { type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    ['a list of anything', { type: 'array' }, 'any[]'],
    ['an object of anything', { type: 'object' }, 'object'],
    ['a default', { type: 'number', default: 5 }, 'number, // default: 5'],
    ['limits, which are not shown', { type: 'number', minimum: 1, maximum: 9, examples: [1, 2] }, 'number'],
    ['no schema', true, 'any'],
  ])('is shown %s as a type', async (_, field, type) => {
    const comma = type.includes('//') ? '' : ','
    const shownAs = `namespace functions {\n\ntype f = (_: {\nx?: ${type}${comma}\n}) => any;\n\n} // namespace functions`
    expect(await tokensOf([{ name: 'f', parameters: object({ x: field }) }], 'gpt-4o')).toBe(
      9 + counter.count(shownAs),
    )
  })

  test('costs its definitions, too, and what refers to them', async () => {
    const point = object({ x: { type: 'number' }, y: { type: 'number' } })
    const bare = await tokensOf([{ name: 'f', parameters: object({ at: text }) }], 'gpt-4o')
    const schema = { ...object({ at: { $ref: '#/$defs/point' } }), $defs: { point } }
    expect(await tokensOf([{ name: 'f', parameters: schema }], 'gpt-4o')).toBeGreaterThan(
      bare + counter.count(JSON.stringify(point)),
    )
  })
})

describe('other families', () => {
  const python =
    '{"type": "function", "function": {"name": "get_weather", "description": "Tell the weather of a place", ' +
    '"parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}'

  test('templates of open models show a line of JSON as Python writes it, between instructions', async () => {
    expect(await tokensOf([tool], 'qwen2.5-72b')).toBe(87 + withMargin(counter.count(python)))
    expect(await tokensOf([tool, tool], 'mistral-large-2512')).toBe(
      10 + withMargin(counter.count(`${python}\n${python}`)),
    )
  })

  test('Claude has a hidden prompt for tools, and each function as JSON', async () => {
    const one = await tokensOf([tool], 'claude-sonnet-4-5')
    expect(one).toBeGreaterThan(497 + counter.count(JSON.stringify(weather)))
    expect(one).toBeLessThan(497 + 1.5 * counter.count(JSON.stringify(weather)))
    expect(await tokensOf([tool], 'claude-opus-4-7')).toBe(one - 497 + 675)
    expect(await tokensOf([tool], 'claude-opus-5')).toBe(one - 497 + 354)
  })

  test('Claude counted 711 for a message and two functions of which one had to be called', async () => {
    const tools = [
      { name: 'get_user_country', description: '', input_schema: object({}) },
      {
        name: 'final_result',
        description: 'What is said last of all here',
        input_schema: object({ city: text, country: text }, ['city', 'country']),
      },
    ]
    // A forced call costs 92 more. Counted here in o200k_base, of which Claude's own makes up to a fifth more.
    const tokens = 497 + ((await tokensOf(tools, 'claude-sonnet-4-5')) - 497) * 1.2 + 92 + 14
    expect(tokens / 711).toBeGreaterThan(0.95)
    expect(tokens / 711).toBeLessThan(1.08)
  })

  test('a model that nobody knows costs no less than most open ones', async () => {
    for (const model of ['qwen3-coder', 'glm-4.6', 'mistral-large', 'kimi-k2', 'gpt-4o', 'gpt-5']) {
      expect(await tokensOf([tool, tool, tool], 'a-model-nobody-knows')).toBeGreaterThanOrEqual(
        await tokensOf([tool, tool, tool], model),
      )
    }
  })
})

describe.each(['gpt-4o', 'claude-opus-5', 'a-model-nobody-knows'])('with %s', (model) => {
  test.each([
    [[{ type: 'web_search', filters: { domains: ['example.org'] } }]],
    [
      [
        {
          type: 'custom',
          custom: { name: 'sql', format: { type: 'grammar', grammar: { definition: 'a: b' } } },
        },
      ],
    ],
    [[null]],
    [['text']],
    [[[1, 2]]],
    [{ odd: true }],
    ['text'],
    [7],
  ])('tools of a shape that is not known (%j) cost something', async (tools) => {
    const { frameTokens } = toolRuleOf(model)
    expect(await tokensOf(tools, model)).toBeGreaterThan(frameTokens)
  })

  test('a schema nested too deep to be written does not stop the counting', async () => {
    const lists: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    const objects: unknown = JSON.parse('{"items":'.repeat(100_000) + '1' + '}'.repeat(100_000))
    const choices: unknown = JSON.parse('{"anyOf":['.repeat(100_000) + ']}'.repeat(100_000))
    for (const deep of [lists, objects, choices, object({ x: choices }), object({ x: objects })]) {
      expect(await tokensOf([{ name: 'deep', parameters: deep }], model)).toBeGreaterThan(3)
      expect(finish(schemaTokens(format('deep', { deep }), counter, model))).toBeGreaterThan(3)
    }
  })

  test('a list of very many tools is counted in many steps', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({
      ...tool,
      function: { ...weather, name: `f_${at}` },
    }))
    const steps = toolsTokens(many, counter, model)
    let pauses = 0
    while (steps.next().done !== true) pauses += 1
    expect(pauses).toBeGreaterThan(2_000)
  })
})

function format(name: string, schema: object, description?: string) {
  const more = description === undefined ? {} : { description }
  return { type: 'json_schema', json_schema: { name, schema, strict: true, ...more } }
}

function kind(name: string, data: object) {
  return {
    ...object({ kind: { const: name, type: 'string' }, data }, ['kind', 'data']),
    additionalProperties: false,
  }
}

describe('a response format', () => {
  const place = { ...object({ city: text, country: text }, ['city', 'country']), additionalProperties: false }
  const language = {
    ...object({ country: text, language: text }, ['country', 'language']),
    additionalProperties: false,
  }
  const either = {
    ...object({ result: { anyOf: [kind('CityLocation', place), kind('CountryLanguage', language)] } }, [
      'result',
    ]),
    additionalProperties: false,
  }

  // Two figures that OpenAI's API gave for gpt-4o: the prompt with the format less the prompt without.
  test.each([
    [37, format('CityLocation', place, 'A town and its land.')],
    [106, format('final_result', either)],
  ])('costs %d with gpt-4o', (tokens, responseFormat) => {
    expect(finish(schemaTokens(responseFormat, counter, 'gpt-4o'))).toBe(tokens)
  })

  test('costs something only where it carries a schema', () => {
    for (const model of ['gpt-4o', 'claude-opus-5']) {
      expect(finish(schemaTokens(undefined, counter, model))).toBe(0)
      expect(finish(schemaTokens({ type: 'json_object' }, counter, model))).toBe(0)
      expect(finish(schemaTokens({ type: 'json_schema' }, counter, model))).toBeGreaterThan(0)
    }
    expect(finish(schemaTokens(format('place', place), counter, 'claude-opus-5'))).toBeGreaterThan(
      counter.count(JSON.stringify(place)),
    )
  })

  test('a property that bears a keyword as its name is shown', () => {
    const named = format('f', object({ required: text, additionalProperties: text }))
    const bare = format('f', object({ a: text }))
    expect(finish(schemaTokens(named, counter, 'gpt-4o'))).toBeGreaterThan(
      finish(schemaTokens(bare, counter, 'gpt-4o')) + 5,
    )
  })
})
