import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { unescaped } from '../../../src/admin/page/message-line.ts'
import { chromiumProgram, openBrowser, withoutChromium } from '../../support/browser.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { type FoldgateOptions, startFoldgate } from '../../support/foldgate.ts'
import { adminPlace } from '../../admin/ask-admin.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { watchPage } from './open-page.ts'

const windowTokens = 8_000

/** A Foldgate before an upstream that writes down and counts what it receives, and its admin listener. */
async function stand(settings: object, more: Pick<FoldgateOptions, 'env' | 'profile'> = {}) {
  const upstream = await exactUpstream(windowTokens)
  const admin = await adminPlace()
  const profile = { window: { tokens: windowTokens }, ...more.profile }
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    flags: admin.flags,
    settings,
    ...more,
    profile,
  })
  onTestFinished(async () => {
    await foldgate.close()
    await upstream.close()
  })
  async function ask(messages: readonly TestMessage[], label: string): Promise<void> {
    const body = chatOf(messages, { model: 'gpt-4o', max_tokens: 500 })
    const headers = { authorization: 'Bearer sk-any', 'x-foldgate-conversation': label }
    expect((await postChat(foldgate.url, body, headers)).status).toBe(200)
  }
  return { origin: admin.origin, upstream, ask }
}

/** The names of the conversations in the list, the first one first. */
const listed = async (page: Page): Promise<readonly string[]> =>
  page.locator('#conversations th a').allTextContents()

/** The numbers in a column of the table under the chart, the oldest request first. */
async function column(page: Page, number: number): Promise<readonly number[]> {
  const cells = await page.locator(`#requests tbody tr > :nth-child(${number})`).allTextContents()
  return cells.map((text) => Number(text.replaceAll(',', ''))).toReversed()
}

describe.skipIf(chromiumProgram === undefined)(`the page of a running Foldgate${withoutChromium}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  test('conversations appear and move without a reload', async () => {
    const { origin, ask } = await stand({})
    const { page, errors, origins } = await watchPage(browser, origin)
    await page.getByText('Ready for a first request.').waitFor()
    await page.evaluate('window.isTheSame = true')
    const run = longRun(3, 1)
    await ask(run.slice(0, 2), 'first')
    await page.getByRole('link', { name: 'first' }).waitFor()
    await ask([{ role: 'user', content: 'Another matter.' }], 'second')
    await expect.poll(() => listed(page)).toEqual(['second', 'first'])
    await ask(run, 'first')
    await expect.poll(() => listed(page)).toEqual(['first', 'second'])
    expect(await page.evaluate('window.isTheSame')).toBe(true)
    expect(errors).toEqual([])
    expect([...origins]).toEqual([origin])
  })

  test('the chart and the side by side show what the upstream truly received', async () => {
    const { origin, upstream, ask } = await stand({ admin: { show_content: true } })
    const requests = [...growing(longRun(26, 5))]
    for (const messages of requests.slice(0, -1)) await ask(messages, 'repair')
    const home = await watchPage(browser, origin)
    await home.page.locator('#conversations th a').click()
    const { page, errors } = home
    await page.locator('#connection.live').waitFor()
    await page.evaluate('window.isTheSame = true')
    await ask(requests.at(-1) ?? [], 'repair')
    const sent = upstream.requests
    await page.locator(`#request-${sent.length}`).waitFor({ state: 'attached' })

    expect(await column(page, 5)).toEqual(sent.map(({ promptTokens }) => promptTokens))
    expect(await column(page, 6)).toEqual(sent.map(({ cachedTokens }) => cachedTokens))
    const compactions = sent.flatMap(({ rawMessages }, at) => {
      const before = sent[at - 1]?.rawMessages ?? []
      return before.every((raw, index) => raw === rawMessages[index]) ? [] : [at + 1]
    })
    expect(compactions.length).toBeGreaterThan(1)
    const marked = await page
      .locator('#requests tbody tr')
      .evaluateAll((rows) =>
        rows.flatMap((row) =>
          row.lastElementChild?.textContent === '' ? [] : [Number(row.id.slice('request-'.length))],
        ),
      )
    expect(marked.toReversed()).toEqual(compactions)
    expect(await page.locator('svg line.compaction').count()).toBe(compactions.length)

    const shown = await page
      .locator(
        '#messages pre:is([aria-label="what was sent as JSON"], [aria-label="the message as JSON"], [aria-label="its text as JSON"])',
      )
      .allTextContents()
    expect(shown).toEqual(sent.at(-1)?.rawMessages.map(unescaped))
    expect(await page.evaluate('window.isTheSame')).toBe(true)
    expect(errors).toEqual([])
    expect([...home.origins]).toEqual([origin])
  })

  // A browser sends a password unasked only at and below the path where it was asked for it: a page that was opened by
  // its own address had neither style nor script.
  test('a conversation’s own address opens whole where there is a token, which is the password', async () => {
    const env = { TOKEN: 'planted-token' }
    const { origin, ask } = await stand({ admin: { token_env: 'TOKEN' } }, { env })
    await ask([{ role: 'user', content: 'Hello.' }], 'guarded')
    const bearer = { headers: { authorization: 'Bearer planted-token' } }
    const answered: unknown = await fetch(`${origin}/conversations`, bearer).then((answer) => answer.json())
    const [, id = ''] = /"id":"([\w-]{16})"/.exec(JSON.stringify(answered)) ?? []
    const httpCredentials = { username: 'operator', password: 'planted-token' }
    const { page, errors } = await watchPage(browser, `${origin}/conversations/${id}`, { httpCredentials })
    expect(await page.locator('h1').textContent()).toContain('guarded')
    expect(errors).toEqual([])
  })

  test('a profile that only observes says on the page what it would have done', async () => {
    const profile = { observe: true, window: { tokens: 4_000 } }
    const { origin, upstream, ask } = await stand({}, { profile })
    for (const messages of growing(longRun(9, 5))) await ask(messages, 'watched')
    expect(upstream.requests.at(-1)?.rawMessages).toHaveLength(longRun(9, 5).length)
    const { page } = await watchPage(browser, origin)
    await page.getByText(/Profiles that only observe would have left out [\d,]+ tokens/).waitFor()
    await page
      .getByText(/observed: [\d,]+ would be sent/)
      .first()
      .waitFor()
  })

  test('without admin.show_content nothing that a conversation says is on the page', async () => {
    const { origin, ask } = await stand({})
    await ask([{ role: 'user', content: 'PLANTED-SECRET' }], 'quiet')
    const { page } = await watchPage(browser, origin)
    await page.getByRole('link', { name: 'quiet' }).click()
    await page.locator('#messages').waitFor()
    expect(await page.content()).not.toContain('PLANTED-SECRET')
    await page.getByText('admin: {show_content: true}').waitFor()
  })

  test('a conversation is compacted at its next request, and deleted, by the buttons', async () => {
    const { origin, upstream, ask } = await stand({})
    const requests = [...growing(longRun(6, 2))]
    for (const messages of requests.slice(0, -1)) await ask(messages, 'small')
    expect(upstream.requests.at(-1)?.rawMessages).toHaveLength(requests.at(-2)?.length ?? 0)
    const { page } = await watchPage(browser, origin)
    await page.locator('#conversations th a').click()
    await page.locator('button[data-method="POST"]').click()
    await page.getByText('Asked for').waitFor()
    await ask(requests.at(-1) ?? [], 'small')
    expect(upstream.requests.at(-1)?.promptTokens).toBeLessThan(upstream.requests.at(-2)?.promptTokens ?? 0)
    page.on('dialog', (dialog) => void dialog.accept())
    await page.locator('button[data-method="DELETE"]').click()
    await page.getByText('Deleted: the records').waitFor()
    await page.goto(origin)
    await page.getByText('Conversations').first().waitFor()
    expect(await listed(page)).toEqual([])
  })
})
