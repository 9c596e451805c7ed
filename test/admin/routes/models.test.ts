import fc from 'fast-check'
import { modelKeyOf } from '../../../src/models/model-record.ts'
import { type Beliefs } from '../../../src/models/lifetimes.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { modelCard, type ModelCard } from '../../../src/admin/model-cards.ts'
import { chatOf, postChat, rawMessages } from '../../support/post-chat.ts'
import { longRun, type TestMessage } from '../../support/conversations.ts'
import { completion, windowedAt } from '../../support/fake-upstream.ts'
import { modelsOn } from '../../support/models.ts'
import { adminStand, type AdminStand } from '../admin-stand.ts'
import { forAll } from '../../support/property-runs.ts'

const windowTokens = 4_096
const roomy = { window: { tokens: 30_000, output_reserve: 1_000 } }
const growing = longRun(16, 1)

const windowed = windowedAt(windowTokens, (tokens) => completion('fine', { prompt_tokens: tokens }))

const told = z.strictObject({
  value: z.unknown(),
  from: z.string(),
  since: z.iso.datetime(),
  until: z.iso.datetime().nullable(),
  changed_by: z.string().min(10),
})

const fields = z.looseObject({
  window: told.optional(),
  answered: told.optional(),
  accepted: told.optional(),
})

const modelSchema = z.strictObject({
  id: z.string(),
  upstream: z.string(),
  credential: z.string().max(8),
  model: z.string(),
  window_in_force: z.unknown(),
  fields,
})

type Listed = z.output<typeof modelSchema>

async function listed(at: AdminStand): Promise<readonly Listed[]> {
  const answer = await at.ask('/models')
  expect(answer.status).toBe(200)
  return z.strictObject({ models: z.array(modelSchema) }).parse(JSON.parse(answer.text)).models
}

async function ask(at: AdminStand, model: string, messages: readonly TestMessage[], credential = 'one') {
  const headers = { authorization: `Bearer ${credential}` }
  expect((await postChat(at.url, { ...chatOf(messages), model }, headers)).status).toBe(200)
}

const hello = [{ role: 'user', content: 'hello' }]

/** The model that was used last, as soon as this is believed of it. */
async function believed(at: AdminStand, field: 'window' | 'accepted'): Promise<Listed> {
  await expect.poll(async () => (await listed(at))[0]?.fields[field]).toBeDefined()
  const [first] = await listed(at)
  if (first === undefined) throw new Error('No model is listed.')
  return first
}

const remove = (at: AdminStand, id: string) => at.ask(`/models/${id}`, { method: 'DELETE' })

describe('GET /models', () => {
  test('has nothing before the first answer, then the model that was used last first', async () => {
    await using at = await adminStand()
    expect(await listed(at)).toEqual([])
    for (const model of ['first', 'second', 'first']) await ask(at, model, hello)
    await expect.poll(async () => (await listed(at)).map(({ model }) => model)).toEqual(['first', 'second'])
    await ask(at, 'first', hello, 'two')
    await expect.poll(async () => (await listed(at)).length).toBe(3)
    const [newest, ...others] = await listed(at)
    expect(others.map(({ model }) => model)).toEqual(['first', 'second'])
    expect([newest?.model, newest?.credential]).not.toEqual(['first', others[0]?.credential])
  })

  test('says what a refusal stated, until when, and which setting it overrules', async () => {
    await using at = await adminStand({ script: windowed, profile: roomy })
    await ask(at, 'm', growing)
    const { window_in_force, fields: beliefs, ...model } = await believed(at, 'window')
    expect(model).toMatchObject({ upstream: 'default', model: 'm' })
    expect(beliefs.window).toMatchObject({ value: { tokens: windowTokens, kind: 'total' }, from: 'refusal' })
    const { since, until } = beliefs.window ?? {}
    expect(Date.parse(until ?? '') - Date.parse(since ?? '')).toBe(3_600_000)
    const overruling = { source: 'learnt', profile: 'default', overruled_tokens: 30_000 }
    expect(window_in_force).toEqual({ tokens: windowTokens, kind: 'total', ...overruling })
    const page = (await at.ask('/')).text
    expect(page).toMatch(/your setting overruled.*30,000 → 4,096/s)
    // And of the conversation, too.
    await ask(at, 'm', [...growing, { role: 'user', content: 'And now?' }])
    const [, id = ''] = /"id":"([\w-]{16})"/.exec((await at.ask('/conversations')).text) ?? []
    await expect
      .poll(async () => (await at.ask(`/conversations/${id}`, { headers: { accept: 'text/html' } })).text)
      .toContain('30,000 → 4,096')
  })
})

describe('DELETE /models/ID', () => {
  test('forgets the model: the next request goes on as it came, up to the window from settings', async () => {
    await using at = await adminStand({ script: windowed, profile: roomy })
    await ask(at, 'other', hello)
    await ask(at, 'm', growing)
    const { id } = await believed(at, 'window')
    /** How many messages the first form had that was sent of a new conversation. */
    async function firstSent(messages: readonly TestMessage[]): Promise<number> {
      const before = at.upstream.requests.length
      await ask(at, 'm', messages)
      return rawMessages(at.upstream.requests[before]).length
    }
    const [one, other] = [longRun(16, 2), longRun(16, 3)]
    expect(await firstSent(one)).toBeLessThan(one.length)
    expect((await remove(at, id)).status).toBe(204)
    expect((await listed(at)).map(({ model }) => model)).toEqual(['other'])
    expect(await firstSent(other)).toBe(other.length)
    await believed(at, 'window')
    expect((await remove(at, id)).status).toBe(204)
    expect(at.foldgate.log.filter((line) => line.includes('what was believed of a model'))).toHaveLength(2)
  })

  test('of what is none, or was forgotten already, is a 404', async () => {
    await using at = await adminStand()
    await ask(at, 'm', hello)
    const { id } = await believed(at, 'accepted')
    expect((await remove(at, id)).status).toBe(204)
    for (const wrong of [id, 'nothing', 'a%2Fb', '%00', 'x'.repeat(500)]) {
      const answer = await remove(at, wrong)
      expect([wrong, answer.status, answer.code]).toEqual([wrong, 404, 'unknown_model'])
      expect(answer.text).toContain('GET /models lists the ids')
      expect(answer.text).toContain('"param":"id"')
    }
  })
})

test('of a credential’s digest never more than eight characters are said, whatever is believed', () => {
  forAll(
    50,
    fc.stringMatching(/^[\w-]{22}$/),
    fc.string({ maxLength: 64 }),
    fc.integer({ min: 1, max: 1_000_000 }),
    (credential, mark, tokens) => {
      const models = modelsOn()
      const key = modelKeyOf('default', credential, 'm', 'http://upstream')
      models.set(key, 'window', { tokens, kind: 'input' }, 'cut')
      models.set(key, 'stated', { tokens, kind: 'total', isLoaded: false, hasChanged: false }, 'server')
      models.set(key, 'answered', tokens, 'answer')
      models.set(key, 'accepted', `mark-${mark}`, 'answer')
      models.set(key, 'usage', 'guessed', 'refusal')
      models.set(key, 'overhead', { encoding: 'o200k_base', samples: [] }, 'answer')
      const said = JSON.stringify(models.list().map((model) => modelCard({ ...model, window: null })))
      expect(said).not.toContain(credential.slice(0, 9))
      // With which held key it was accepted is nobody's business either.
      expect(said).not.toContain('mark-')
      expect(said).toContain('"accepted":{"value":true')
      expect(said).not.toContain('overhead')
    },
  )
})

const held = { from: 'answer', sinceMs: 0, untilMs: Infinity } as const

function fieldsOf(beliefs: Beliefs): ModelCard['fields'] {
  const key = modelKeyOf('default', 'a-digest-of-22-letters', 'm', 'http://upstream')
  return modelCard({ id: 'id', key, beliefs, window: null }).fields
}

test('what is said of how a model counts and what it refuses, without the guess that it began with', () => {
  const growth = { encoding: 'e', promptTokens: 1_200, ownTokens: 1_000, startingTokens: 1_000 }
  expect(fieldsOf({ ratio: { ...held, value: growth } }).ratio).toMatchObject({
    value: { ratio: 1.2, own_tokens: 1_000 },
    until: null,
    changed_by: 'each answer that states its usage',
  })
  // Nothing before anything was seen.
  const unseen = { encoding: 'e', promptTokens: 0, ownTokens: 0, startingTokens: 2_000 }
  const none = { ...held, value: { encoding: 'e', samples: [] } }
  expect(fieldsOf({ ratio: { ...held, value: unseen }, overhead: none })).toEqual({})
  const samples = [
    [{ aroundTokens: 5_000, ownTokens: 5_000, promptTokens: 5_010 }],
    [{ aroundTokens: 100, ownTokens: 100, promptTokens: 900 }],
  ]
  const { overhead } = fieldsOf({ overhead: { ...held, value: { encoding: 'e', samples } } })
  expect(overhead?.value).toEqual({ surroundings: 2, newest_tokens: 800 })
  const { refuses } = fieldsOf({ usage: { ...held, value: 'named' }, recall: { ...held, value: 'any' } })
  expect([refuses?.usage?.value, refuses?.recall?.value]).toEqual(['named', 'any'])
  expect(fieldsOf({ recall: { ...held, value: 'any' } }).refuses?.recall?.value).toBe('any')
  expect(fieldsOf({ usage: { ...held, value: 'named' } }).refuses?.usage?.value).toBe('named')
})

// One damaged record in the store made an error of the list and of the page.
test('a damaged record is told as far as it can be', () => {
  const growth = { encoding: 'e', promptTokens: 1e9, ownTokens: 1e-300, startingTokens: 0 }
  const { value, since } = fieldsOf({ ratio: { ...held, sinceMs: -1e308, value: growth } }).ratio ?? {}
  expect([value, since]).toEqual([{ ratio: 3, own_tokens: 0 }, '1970-01-01T00:00:00.000Z'])
})
