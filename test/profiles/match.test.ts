import { expect, test } from 'vitest'
import { type MatchRequest, matchProfile } from '../../src/profiles/match.ts'
import { resolveProfiles } from '../../src/profiles/resolve.ts'

const match = (raws: Record<string, unknown>, request: Partial<MatchRequest>) => {
  const { profiles, problems } = resolveProfiles(new Map(Object.entries(raws)))
  expect(problems).toEqual([])
  return matchProfile(profiles, { model: null, headers: {}, requested: null, ...request })
}

const nameOf = (raws: Record<string, unknown>, request: Partial<MatchRequest>) => {
  const found = match(raws, request)
  return found.kind === 'found' ? found.profile.name : found
}

test('a name asked for wins over every match', () => {
  expect(nameOf({ a: { models: ['m'] }, b: {} }, { model: 'm', requested: 'b' })).toBe('b')
})

test('a name that does not exist says what does', () => {
  expect(match({ explorer: {} }, { requested: 'explrer' })).toEqual({
    kind: 'unknown',
    message: 'there is no profile "explrer"; did you mean "explorer"?',
  })
})

test('the pattern with the most literal characters wins, an exact name before all', () => {
  const raws = {
    a: { models: ['*'] },
    b: { models: ['qwen*'] },
    c: { models: ['qwen3*'] },
    d: { models: ['qwen3'] },
  }
  expect(nameOf(raws, { model: 'Qwen3' })).toBe('d')
  expect(nameOf(raws, { model: 'qwen3-coder' })).toBe('c')
  expect(nameOf(raws, { model: 'qwen2' })).toBe('b')
  expect(nameOf(raws, { model: 'llama' })).toBe('a')
  expect(nameOf(raws, { model: null })).toBe('a')
})

test('equally specific profiles go by name, whatever the order of their files', () => {
  expect(nameOf({ b: { models: ['m*'] }, a: { models: ['m*'] } }, { model: 'mm' })).toBe('a')
})

test('matching headers go before any pattern on the model', () => {
  const raws = { plain: { models: ['m'] }, agent: { headers: { 'X-Agent': 'explor*' } } }
  expect(nameOf(raws, { model: 'm', headers: { 'x-agent': 'Explorer' } })).toBe('agent')
  expect(nameOf(raws, { model: 'm', headers: { 'x-agent': ['other', 'explorer'] } })).toBe('agent')
  expect(nameOf(raws, { model: 'm', headers: { 'x-agent': 'writer' } })).toBe('plain')
  expect(nameOf(raws, { model: 'm' })).toBe('plain')
})

test('a profile with headers and models needs both to match', () => {
  const raws = { agent: { models: ['m*'], headers: { 'x-agent': 'a', 'x-team': 'b' } } }
  const headers = { 'x-agent': 'a', 'x-team': 'b' }
  expect(nameOf(raws, { model: 'mm', headers })).toBe('agent')
  expect(nameOf(raws, { model: 'other', headers })).toBe('default')
  expect(nameOf(raws, { model: 'mm', headers: { 'x-agent': 'a' } })).toBe('default')
})

test('a profile without models and headers is chosen by name only', () => {
  expect(nameOf({ quiet: {} }, { model: 'quiet' })).toBe('default')
})

test('it says why', () => {
  const raws = { agent: { models: ['m*'], headers: { 'x-agent': 'a' } } }
  expect(match(raws, { model: 'mm', headers: { 'x-agent': 'a' } })).toMatchObject({
    why: 'the headers match "x-agent: a" and the model matches "m*", and no other profile matches more specifically',
  })
  expect(match(raws, { model: 'x' })).toMatchObject({
    why: 'no other profile matches this model and these headers',
  })
})
