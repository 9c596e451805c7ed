import { expect, test } from 'vitest'
import { resolveProfiles } from '../../src/profiles/resolve.ts'

const resolve = (raws: Record<string, unknown>) => resolveProfiles(new Map(Object.entries(raws)))
const messages = (raws: Record<string, unknown>) => resolve(raws).problems.map(({ message }) => message)

test('a profile named default is always there', () => {
  const { profiles, problems } = resolve({})
  expect(problems).toEqual([])
  expect([...profiles.keys()]).toEqual(['default'])
  expect(profiles.get('default')?.name).toBe('default')
})

test('every profile extends the default one unless it says otherwise', () => {
  const { profiles } = resolve({ default: { trigger: 0.9 }, a: {}, b: { extends: null } })
  expect(profiles.get('a')?.trigger).toBe(0.9)
  expect(profiles.get('b')?.trigger).toBe(1)
})

test('groups merge key by key along the chain, lists and single values replace', () => {
  const { profiles, problems } = resolve({
    base: { keep: { recent_messages: 4 }, clear: { except_tools: ['a', 'b'] }, window: { tokens: 8192 } },
    middle: { extends: 'base', keep: { task: false }, clear: { except_tools: ['c'] } },
    leaf: { extends: 'middle', window: { tokens: 'auto' } },
  })
  expect(problems).toEqual([])
  expect(profiles.get('leaf')).toMatchObject({
    name: 'leaf',
    extends: 'middle',
    keep: { recent_messages: 4, task: false },
    clear: { except_tools: ['c'], keep_results: 3 },
    window: { tokens: 'auto' },
  })
})

test('models and headers are not inherited', () => {
  const { profiles } = resolve({
    base: { models: ['a'], headers: { 'x-a': 'b' } },
    leaf: { extends: 'base' },
  })
  expect(profiles.get('leaf')).toMatchObject({ models: [], headers: {} })
})

test('the default profile may say that it extends itself, as the template does', () => {
  const { profiles, problems } = resolve({ default: { extends: 'default', observe: true } })
  expect(problems).toEqual([])
  expect(profiles.get('default')?.observe).toBe(true)
})

test('circles and unknown parents are told where they are, and once', () => {
  const { profiles, problems } = resolve({
    a: { extends: 'b' },
    b: { extends: 'a' },
    c: { extends: 'a' },
    d: { extends: 'smal' },
    small: {},
  })
  expect(
    problems.map(({ profile, path, message, suggestion }) => [profile, path, message, suggestion]),
  ).toEqual([
    ['a', ['extends'], '"extends" goes in a circle: a -> b -> a', 'end the circle with extends: null'],
    ['b', ['extends'], '"extends" goes in a circle: b -> a -> b', 'end the circle with extends: null'],
    ['d', ['extends'], '"extends" names the profile "smal", which does not exist', 'did you mean "small"?'],
  ])
  expect([...profiles.keys()]).toEqual(['small', 'default'])
})

test('a mistake in a parent is told once, not again for each child', () => {
  expect(messages({ base: { trigger: 'of' }, a: { extends: 'base' }, b: { extends: 'base' } })).toHaveLength(
    1,
  )
  expect(messages({ base: { trigger: 0.4, target: 0.5 }, a: { extends: 'base' } })).toHaveLength(1)
})

test('a target that an inherited trigger falls below is told at the key that the profile sets', () => {
  const { problems } = resolve({ base: { target: 0.5 }, leaf: { extends: 'base', trigger: 0.4 } })
  expect(problems).toMatchObject([{ profile: 'leaf', path: ['trigger'] }])
  expect(problems[0]?.message).toContain('"target" (0.5) must be below "trigger" (0.4)')
})

test('a child may mend what its own values and the parent together would break', () => {
  expect(messages({ base: { target: 0.7 }, leaf: { extends: 'base', trigger: 0.6, target: 0.3 } })).toEqual(
    [],
  )
})

test.each([
  [
    { strategy: 'summarise' },
    '"strategy" must be one of auto, summarize, truncate; found "summarise"',
    'did you mean "summarize"?',
  ],
  [[], 'the file must be a group of keys; found a list', null],
])('%j: %s', (raw, message, suggestion) => {
  expect(resolve({ p: raw }).problems).toMatchObject([{ profile: 'p', message, suggestion }])
})

test('no phrase of the schema library reaches the reader', () => {
  const everythingWrong = [
    {
      models: [1],
      headers: { 'a b': 1 },
      extends: 1,
      upstream: '',
      window: { tokens: {}, max: 'a', ratio: 99 },
    },
    { trigger: [], target: null, every: { turns: -1 }, keep: { task: 'yes' }, strategy: 1, repair: 'no' },
    { render: { at: 'x' }, preview: { at: -1 }, summary: { parameters: { a: Number.NaN }, mode: false } },
    { headers: [], models: {}, overflow: { attempts: 99, clamp_output: 'x' }, observe: 0, window: [] },
  ]
  for (const raw of everythingWrong) {
    const found = resolve({ p: raw }).problems
    expect(found.length).toBeGreaterThan(3)
    for (const { message } of found) expect(message).not.toMatch(/invalid|expected|received|too small/i)
  }
})

// YAML can spell keys that JavaScript objects treat specially.
test('a key named __proto__ is an unknown key like any other, and changes no object', () => {
  const raw: unknown = JSON.parse('{"__proto__": {"observe": true}, "constructor": 1}')
  const { problems, profiles } = resolve({ p: raw })
  expect(problems.map(({ message }) => message)).toEqual([
    'unknown key "__proto__"',
    'unknown key "constructor"',
  ])
  expect(profiles.get('default')?.observe).toBe(false)
})

test('a profile named as no header could name it is refused', () => {
  expect(messages({ 'my profile': {} })).toHaveLength(1)
})
