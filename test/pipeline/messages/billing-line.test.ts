import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../src/json/json-value.ts'
import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { openStand, post, readTool, roundsOf, user, type StandOptions } from './stand.ts'

const instructions = { type: 'text', text: 'You are a careful engineer. '.repeat(40) }

/** Claude Code's line, which is another one at each request. */
const line = (turn: number) => ({
  type: 'text',
  text: `x-anthropic-billing-header: cc_version=2.1.197.a35; cc_entrypoint=cli; cch=${(turn * 7919).toString(16)};`,
})

const request = (rounds: number, more: object = {}): JsonObject => ({
  system: [line(rounds), instructions],
  tools: [readTool],
  messages: [user('Read all parts.'), ...roundsOf(rounds)],
  ...more,
})

const local: StandOptions = {
  reply: () => ({ content: [{ type: 'text', text: 'Done.' }] }),
  windowTokens: 16_000,
  imitator: { template: 'lenient' },
}

/** An agent of nine rounds: what its requests were told, and of each prompt the share that came from the cache. */
async function walk(options: StandOptions) {
  const stand = await openStand(options)
  const actions: (string | null)[] = []
  for (let rounds = 1; rounds <= 9; rounds += 1) {
    const { status, headers } = await post(stand, request(rounds))
    expect(status).toBe(200)
    actions.push(headers.get('x-foldgate-action'))
  }
  const prompts = stand.upstream.requests.filter(({ path }) => path.includes('/messages'))
  return {
    actions,
    bodies: prompts.map(({ body }) => body.toString()),
    cached: prompts.map(({ promptTokens, cache }) => cache.read / promptTokens),
  }
}

// Before a local server each request of Claude Code was read anew from its third token on, minutes of it.
test('a server that is not Anthropic’s keeps its prefix without the line, and reads all anew with it', async () => {
  const kept = await walk(local)
  const lost = await walk({ ...local, profile: { messages: { blank_billing: 'never' } } })
  expect(kept.cached.slice(1).every((share) => share > 0.4)).toBe(true)
  expect(lost.cached.slice(1).every((share) => share < 0.1)).toBe(true)
  expect(lost.bodies.map((body) => JSON.parse(body))).toEqual(
    kept.bodies.map((body, at) => ({ ...JSON.parse(body), system: [line(at + 1), instructions] })),
  )
  expect(new Set(kept.actions)).toEqual(new Set(['relayed;reason=billing-line']))
  expect(new Set(lost.actions)).toEqual(new Set(['relayed']))
})

describe('the line', () => {
  test('is missing in every form that is sent, and all around it keeps its bytes', async () => {
    const stand = await openStand({ ...local, windowTokens: 8_000, profile: { window: { tokens: 40_000 } } })
    const { headers } = await post(stand, request(14))
    expect(headers.get('x-foldgate-action')).toBe('recovered')
    const sent = stand.upstream.requests.filter(({ path }) => path.includes('/messages'))
    expect(sent.length).toBeGreaterThan(1)
    for (const { body } of sent) {
      expect(body.toString()).toContain(`"system":[${JSON.stringify(instructions)}],"tools":`)
    }
  })

  test('stays if the request asks to be left alone', async () => {
    const stand = await openStand(local)
    await post(stand, request(2), { 'x-foldgate-bypass': '1' })
    expect(stand.upstream.requests.at(-1)?.body.toString()).toContain(JSON.stringify(request(2)).slice(1))
  })

  test.each([
    ['auto', true],
    ['always', false],
  ])('stays at Anthropic itself with %s: %s', async (when, stays) => {
    // An HTTP proxy gets what was meant for any host.
    await using upstream = await fakeUpstream(json({ type: 'message', content: [], usage: {} }))
    const foldgate = await startFoldgate({
      upstream: 'http://api.anthropic.com/v1',
      profile: { window: { tokens: 16_000 }, messages: { blank_billing: when } },
      httpProxy: upstream.origin,
    })
    const answer = await fetch(`${foldgate.url}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'key' },
      body: JSON.stringify(request(2)),
    })
    await answer.text()
    await foldgate.close()
    const sent: unknown = JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '{}')
    expect(isJsonObject(sent) && sent['system']).toEqual(stays ? [line(2), instructions] : [instructions])
    expect(answer.headers.get('x-foldgate-action')).toBe(stays ? 'relayed' : 'relayed;reason=billing-line')
  })
})
