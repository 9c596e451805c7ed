export const text = { type: 'string' }
export const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const described = (schema: object, description: string) => ({ ...schema, description })

const bingBong = 'Ring a bing bong'
const index = 'Find pages in the index of the company'
const shown = 'Shows what the data looks like'
const inner = (properties: object) =>
  object({ object_1: described(object(properties), 'All of this goes in one object') }, ['object_1'])
const mood = { ...text, enum: ['Happy', 'Sad'] }

/**
 * What OpenAI's API counted for functions beside a single user message, as published projects recorded it from `usage` (the
 * prompt less what its messages cost). The descriptions are of our own wording, of as many tokens as those recorded.
 */
export const recordedTools = [
  { model: 'gpt-3.5-turbo', tokens: 23, tools: [{ name: 'foo', parameters: object({}) }] },
  {
    model: 'gpt-3.5-turbo',
    tokens: 28,
    tools: [{ name: 'foo', description: 'Run a foo', parameters: object({}) }],
  },
  { model: 'gpt-3.5-turbo', tokens: 24, tools: [{ name: 'do_stuff', parameters: object({}) }] },
  {
    model: 'gpt-3.5-turbo',
    tokens: 41,
    tools: [{ name: 'bing_bong', description: bingBong, parameters: object({ foo: text }) }],
  },
  {
    model: 'gpt-3.5-turbo',
    tokens: 49,
    tools: [
      {
        name: 'bing_bong',
        description: bingBong,
        parameters: object({ foo: text, bar: described({ type: 'number' }, 'Any amount') }),
      },
    ],
  },
  {
    model: 'gpt-3.5-turbo',
    tokens: 60,
    tools: [
      {
        name: 'bing_bong',
        description: bingBong,
        parameters: object({
          foo: object({ bar: { ...text, enum: ['a', 'b', 'c'] }, baz: { type: 'boolean' } }),
        }),
      },
    ],
  },
  {
    model: 'gpt-3.5-turbo',
    tokens: 98,
    tools: [
      {
        name: 'get_recipe',
        parameters: object(
          {
            ingredients: {
              type: 'array',
              items: object(
                {
                  name: text,
                  unit: { ...text, enum: ['grams', 'ml', 'cups', 'pieces', 'teaspoons'] },
                  amount: { type: 'number' },
                },
                ['name', 'unit', 'amount'],
              ),
            },
            instructions: described({ type: 'array', items: text }, 'What to do in order (no bullets)'),
            time_to_cook: described({ type: 'number' }, 'How many minutes it takes from start on'),
          },
          ['ingredients', 'instructions', 'time_to_cook'],
        ),
      },
    ],
  },
  { model: 'gpt-35-turbo', tokens: 34, tools: [{ name: 'search_sources', description: index }] },
  {
    model: 'gpt-35-turbo',
    tokens: 41,
    tools: [{ name: 'search_sources', description: index, parameters: object({ search_query: text }) }],
    over: 1,
  },
  {
    model: 'gpt-35-turbo',
    tokens: 58,
    tools: [
      {
        name: 'search_sources',
        description: index,
        parameters: object(
          { search_query: described(text, "Words to look for in the index, such as: 'long holiday'") },
          ['search_query'],
        ),
      },
    ],
  },
  {
    model: 'gpt-35-turbo',
    tokens: 45,
    tools: [
      {
        name: 'data_demonstration',
        description: shown,
        parameters: object({ integer_enum: { type: 'integer', enum: [-1, 1] } }),
      },
    ],
    over: 1,
  },
  {
    model: 'gpt-35-turbo',
    tokens: 56,
    tools: [{ name: 'data_demonstration', description: shown, parameters: inner({ string1: text }) }],
    over: 2,
  },
  {
    model: 'gpt-35-turbo',
    tokens: 64,
    tools: [{ name: 'data_demonstration', description: shown, parameters: inner({ string_2a: mood }) }],
    over: 1,
  },
  {
    model: 'gpt-35-turbo',
    tokens: 80,
    tools: [
      {
        name: 'data_demonstration',
        description: shown,
        parameters: inner({ string_2a: mood, string_2b: described(text, 'This one is deep inside of it') }),
      },
    ],
    over: 3,
  },
  {
    model: 'gpt-35-turbo',
    tokens: 50,
    tools: [
      {
        name: 'get_no_type',
        description: 'Give something without a type',
        parameters: object({ no_type_value: { description: 'Whatever it may be, given back' } }, [
          'no_type_value',
        ]),
      },
    ],
  },
  {
    model: 'gpt-35-turbo',
    tokens: 46,
    tools: [
      {
        name: 'get_null',
        description: 'Give back a null',
        parameters: object({ null_value: described({ type: 'null' }, 'What is given back, null') }, [
          'null_value',
        ]),
      },
    ],
  },
  // OpenAI's own cookbook, the same tool with both encodings.
  ...(
    [
      ['gpt-4', 75],
      ['gpt-4o', 72],
    ] as const
  ).map(([model, tokens]) => ({
    model,
    tokens,
    tools: [
      {
        name: 'get_current_weather',
        description: 'Tell the present weather at a certain place',
        parameters: object(
          {
            location: described(text, 'Town, then country, as in Oslo, Norway, please'),
            unit: described({ ...text, enum: ['celsius', 'fahrenheit'] }, 'In which scale to give degrees'),
          },
          ['location'],
        ),
      },
    ],
  })),
  {
    model: 'gpt-4o',
    tokens: 25,
    tools: [{ name: 'get_user_country', description: '', parameters: object({}) }],
  },
  {
    model: 'gpt-4o',
    tokens: 51,
    tools: [
      { name: 'get_user_country', description: '', parameters: object({}) },
      {
        name: 'final_result',
        description: 'What is said last of all here',
        parameters: object({ city: text, country: text }, ['city', 'country']),
      },
    ],
    over: 1,
  },
  {
    model: 'gpt-4.1-mini',
    tokens: 37,
    tools: [
      {
        name: 'get_weather',
        description: 'Tell the weather of a place',
        parameters: object({ location: text }),
      },
    ],
    over: 1,
  },
  {
    model: 'gpt-4.1-mini',
    tokens: 30,
    tools: [{ name: 'get_temperature', parameters: object({ city: text }, ['city']) }],
    over: 1,
  },
  {
    model: 'gpt-5-mini',
    tokens: 106,
    tools: [{ name: 'get_mixed_content', description: '', parameters: object({}) }],
  },
  {
    model: 'gpt-5-mini',
    tokens: 104,
    tools: [{ name: 'get_file', description: '', parameters: object({}) }],
  },
]
