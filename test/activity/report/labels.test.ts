import { expect, test } from 'vitest'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { reportStand } from './report-stand.ts'

const first = [{ role: 'user', content: 'hello' }]
const second = [...first, { role: 'assistant', content: 'fine' }, { role: 'user', content: 'more' }]

test('a label of the client’s own names the conversation on its row and its card, and goes no further', async () => {
  await using at = await reportStand(completion('fine'))
  const label = 'Réparation of build 7'
  const headers = { 'x-foldgate-conversation': label }
  const reply = await postChat(at.url, chatOf(first), headers)
  const id = reply.header('x-foldgate-conversation')
  expect(id).toMatch(/^[\w-]{16}$/)
  expect((await at.row()).label).toBe(label)
  // One that comes without keeps the name that it has.
  await postChat(at.url, chatOf(second))
  expect((await at.row(2)).label).toBeNull()
  const { conversations } = JSON.parse((await at.admin('/conversations')).text)
  expect(conversations).toMatchObject([{ id, label, requests: 2 }])
  expect(JSON.parse((await at.admin(`/conversations/${id}`)).text)).toMatchObject({ id, label })
  for (const { rawHeaders, body } of at.upstream.requests) {
    const sent = rawHeaders.join('\n').toLowerCase() + body.toString()
    expect(sent).not.toContain('x-foldgate')
    expect(sent).not.toContain('paration')
  }
})

test('a label stands with a request that failed, too, and with none that was not read', async () => {
  await using at = await reportStand(completion('fine'), { upstream: 'http://127.0.0.1:9/v1' })
  const headers = { 'x-foldgate-conversation': 'nightly' }
  await postChat(at.url, chatOf(first), headers)
  expect(await at.row()).toMatchObject({ action: 'refused', label: 'nightly' })
})

test('one that is too long is refused before anything is sent', async () => {
  await using at = await reportStand(completion('fine'))
  const reply = await postChat(at.url, chatOf(first), { 'x-foldgate-conversation': 'x'.repeat(129) })
  expect(reply.status).toBe(400)
  expect(at.upstream.requests).toEqual([])
})
