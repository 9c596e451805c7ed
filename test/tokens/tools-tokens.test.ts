import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../src/json/source.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { encodingFor } from '../../src/tokens/tokenizer-families.ts'
import { schemaTokens, toolsTokens } from '../../src/tokens/tools-tokens.ts'

const text = { type: 'string' }
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const described = (schema: object, description: string) => ({ ...schema, description })

const counter = await loadCounter('o200k_base')
const parameters = object({ city: text }, ['city'])
const weather = { name: 'get_weather', description: 'Tell the weather of a place', parameters }
const tool = { type: 'function', function: weather }

const withMargin = (tokens: number): number => tokens + Math.ceil(tokens * 0.1)

const tokensOf = async (tools: unknown, model: string): Promise<number> =>
  runAtOnce(toolsTokens(tools, await loadCounter(encodingFor(model)), model))

test.each([undefined, null, []])('no tools (%j) cost nothing, with any model', async (tools) => {
  for (const model of ['gpt-4o', 'claude-opus-5', 'llama-3.3-70b', 'm'])
    expect(await tokensOf(tools, model)).toBe(0)
})

const inner = (properties: object) =>
  object({ object_1: described(object(properties), 'All of this goes in one object') }, ['object_1'])
const mood = { ...text, enum: ['Happy', 'Sad'] }
const list = { type: 'array', items: text }
const nothing = object({})
const anything = { description: 'Whatever it may be, given back' }
const ingredient = {
  name: text,
  unit: { ...text, enum: ['grams', 'ml', 'cups', 'pieces', 'teaspoons'] },
  amount: { type: 'number' },
}
const recipe = {
  ingredients: { type: 'array', items: object(ingredient, ['name', 'unit', 'amount']) },
  instructions: described(list, 'What to do in order (no bullets)'),
  time_to_cook: described({ type: 'number' }, 'How many minutes it takes from start on'),
}
const place = {
  location: described(text, 'Town, then country, as in Oslo, Norway, please'),
  unit: described({ ...text, enum: ['celsius', 'fahrenheit'] }, 'In which scale to give degrees'),
}
const words = described(text, "Words to look for in the index, such as: 'long holiday'")
const within = described(text, 'This one is deep inside of it')
const choices = object({ bar: { ...text, enum: ['a', 'b', 'c'] }, baz: { type: 'boolean' } })

const bingBong = (properties: object) => made('bing_bong', 'Ring a bing bong', object(properties))
const sources = (schema?: object) => made('search_sources', 'Find pages in the index of the company', schema)
const shownData = (schema: object) => made('data_demonstration', 'Shows what the data looks like', schema)
const country = made('get_user_country', '', nothing)
const town = object({ city: text, country: text }, ['city', 'country'])
const finalResult = made('final_result', 'What is said last of all here', town)
const cookbook = made(
  'get_current_weather',
  'Tell the present weather at a certain place',
  object(place, ['location']),
)

// What OpenAI's API counted for functions beside a single user message, as published projects recorded it from `usage` (the
// prompt less what its messages cost). The descriptions are of our own wording, of as many tokens as those recorded. Last in a
// row: what is counted here above that.
test.each([
  ['gpt-3.5-turbo', 23, [made('foo', undefined, nothing)], 0],
  ['gpt-3.5-turbo', 28, [made('foo', 'Run a foo', nothing)], 0],
  ['gpt-3.5-turbo', 24, [made('do_stuff', undefined, nothing)], 0],
  ['gpt-3.5-turbo', 41, [bingBong({ foo: text })], 0],
  ['gpt-3.5-turbo', 49, [bingBong({ foo: text, bar: described({ type: 'number' }, 'Any amount') })], 0],
  ['gpt-3.5-turbo', 60, [bingBong({ foo: choices })], 0],
  ['gpt-3.5-turbo', 98, [made('get_recipe', undefined, object(recipe, Object.keys(recipe)))], 0],
  ['gpt-35-turbo', 34, [sources()], 0],
  ['gpt-35-turbo', 41, [sources(object({ search_query: text }))], 1],
  ['gpt-35-turbo', 58, [sources(object({ search_query: words }, ['search_query']))], 0],
  ['gpt-35-turbo', 45, [shownData(object({ integer_enum: { type: 'integer', enum: [-1, 1] } }))], 1],
  ['gpt-35-turbo', 56, [shownData(inner({ string1: text }))], 2],
  ['gpt-35-turbo', 64, [shownData(inner({ string_2a: mood }))], 1],
  ['gpt-35-turbo', 80, [shownData(inner({ string_2a: mood, string_2b: within }))], 3],
  [
    'gpt-35-turbo',
    50,
    [
      made(
        'get_no_type',
        'Give something without a type',
        object({ no_type_value: anything }, ['no_type_value']),
      ),
    ],
    0,
  ],
  [
    'gpt-35-turbo',
    46,
    [
      made(
        'get_null',
        'Give back a null',
        object({ null_value: described({ type: 'null' }, 'What is given back, null') }, ['null_value']),
      ),
    ],
    0,
  ],
  ['gpt-4', 75, [cookbook], 0],
  ['gpt-4o', 72, [cookbook], 0],
  ['gpt-4o', 25, [country], 0],
  ['gpt-4o', 51, [country, finalResult], 1],
  ['gpt-4.1-mini', 37, [made('get_weather', 'Tell the weather of a place', object({ location: text }))], 1],
  ['gpt-4.1-mini', 30, [made('get_temperature', undefined, object({ city: text }, ['city']))], 1],
  ['gpt-5-mini', 106, [made('get_mixed_content', '', nothing)], 0],
  ['gpt-5-mini', 104, [made('get_file', '', nothing)], 0],
] as const)(
  '%s: OpenAI counted %d for %j, as is counted here but for %d',
  async (model, tokens, tools, over) => {
    expect(await tokensOf(tools, model)).toBe(tokens + over)
  },
)

/** A function; what is not given stands nowhere. */
function made(name: string, description?: string, schema?: object) {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { parameters: schema }),
  }
}

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
    const tools = [country, finalResult].map(({ parameters: schema, ...named }) => ({
      ...named,
      input_schema: schema,
    }))
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
  const grammar = { type: 'grammar', grammar: { definition: 'a: b' } }
  test('tools of a shape that is not known cost something', async () => {
    const frameTokens = await tokensOf([''], model)
    const webSearch = { type: 'web_search', filters: { domains: ['example.org'] } }
    const custom = { type: 'custom', custom: { name: 'sql', format: grammar } }
    const odd = [[webSearch], [custom], [null], ['text'], [[1, 2]], { odd: true }, 'text', 7]
    const tokens = await Promise.all(odd.map((tools) => tokensOf(tools, model)))
    expect(odd.filter((_, at) => !(Number(tokens[at]) > frameTokens))).toEqual([])
  })

  test('a schema nested too deep to be written does not stop the counting', async () => {
    const deepness = 30_000
    const lists: unknown = JSON.parse('['.repeat(deepness) + ']'.repeat(deepness))
    const objects: unknown = JSON.parse('{"items":'.repeat(deepness) + '1' + '}'.repeat(deepness))
    const eithers: unknown = JSON.parse('{"anyOf":['.repeat(deepness) + ']}'.repeat(deepness))
    for (const deep of [lists, objects, eithers, object({ x: eithers }), object({ x: objects })]) {
      expect(await tokensOf([{ name: 'deep', parameters: deep }], model)).toBeGreaterThan(3)
      expect(runAtOnce(schemaTokens(format('deep', { deep }), counter, model))).toBeGreaterThan(3)
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

const kind = (name: string, data: object) => ({
  ...object({ kind: { const: name, type: 'string' }, data }, ['kind', 'data']),
  additionalProperties: false,
})

describe('a response format', () => {
  const city = { ...town, additionalProperties: false }
  const language = {
    ...object({ country: text, language: text }, ['country', 'language']),
    additionalProperties: false,
  }
  const either = {
    ...object({ result: { anyOf: [kind('CityLocation', city), kind('CountryLanguage', language)] } }, [
      'result',
    ]),
    additionalProperties: false,
  }

  // Two figures that OpenAI's API gave for gpt-4o: the prompt with the format less the prompt without.
  test.each([
    [37, format('CityLocation', city, 'A town and its land.')],
    [106, format('final_result', either)],
  ])('costs %d with gpt-4o', (tokens, responseFormat) => {
    expect(runAtOnce(schemaTokens(responseFormat, counter, 'gpt-4o'))).toBe(tokens)
  })

  test('costs something only where it carries a schema', () => {
    for (const model of ['gpt-4o', 'claude-opus-5']) {
      expect(runAtOnce(schemaTokens(undefined, counter, model))).toBe(0)
      expect(runAtOnce(schemaTokens({ type: 'json_object' }, counter, model))).toBe(0)
      expect(runAtOnce(schemaTokens({ type: 'json_schema' }, counter, model))).toBeGreaterThan(0)
    }
    expect(runAtOnce(schemaTokens(format('place', city), counter, 'claude-opus-5'))).toBeGreaterThan(
      counter.count(JSON.stringify(city)),
    )
  })

  test('a property that bears a keyword as its name is shown', () => {
    const named = format('f', object({ required: text, additionalProperties: text }))
    const bare = format('f', object({ a: text }))
    expect(runAtOnce(schemaTokens(named, counter, 'gpt-4o'))).toBeGreaterThan(
      runAtOnce(schemaTokens(bare, counter, 'gpt-4o')) + 5,
    )
  })
})
