import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumProgram, openBrowser, withoutChromium } from '../../support/browser.ts'
import {
  agentEvents,
  before,
  cardWith,
  detailWith,
  modelWith,
  someConversations,
  someModels,
} from '../../admin/page/made-up.ts'
import { isFocused, lowContrast, openPage, redIn, tabTo } from './open-page.ts'
import { pageStand } from '../../admin/page/page-stand.ts'

const one = cardWith({ id: 'one0000000000000', label: 'one', last_seen: before(10) })
const two = cardWith({ id: 'two0000000000000', label: 'two', last_seen: before(20) })
const path = '/conversations/kX2v9QmT4rLz81ab'
const compact = 'button[data-method="POST"]'
const remove = 'button[data-method="DELETE"]'

const outage = {
  kind: 'upstream',
  what: '21 of the last 21 requests failed: default cannot be reached',
  since: before(90),
  advice: 'check that it runs',
} as const

/** Runs in the page. */
const unfoldAll = `document.querySelectorAll('details').forEach((details) => { details.open = true })`

describe.skipIf(chromiumProgram === undefined)(`the page in a browser${withoutChromium}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  // That conversations appear, and that nobody else is asked for anything, is told of a running Foldgate's page.
  describe('without a reload', () => {
    test('conversations move, and the focus moves with the one that has it', async () => {
      const { page, stand } = await openPage(browser, { shown: { conversations: [one, two] } })
      await tabTo(page, '#conversation-two0000000000000 a')
      stand.show({ conversations: [one, { ...two, last_seen: before(1), requests: 99 }] }, two.id)
      await page.locator('tbody tr:first-child#conversation-two0000000000000').waitFor()
      const requests = page.locator('#conversation-two0000000000000 [data-name=requests]')
      expect(await requests.textContent()).toContain('99')
      expect(await isFocused(page, '#conversation-two0000000000000 a')).toBe(true)
    })

    test('a conversation that ends its answer, is gone or is new leaves the others alone', async () => {
      const shown = { conversations: [{ ...one, answering: true }, two] }
      const { page, stand } = await openPage(browser, { shown })
      await page.getByText('answering').waitFor()
      await page.evaluate(`void (window.row = document.getElementById('conversation-one0000000000000'))`)
      stand.show({ conversations: [one] })
      await page.locator('#conversation-two0000000000000').waitFor({ state: 'detached' })
      expect(await page.getByText('answering').count()).toBe(0)
      expect(await page.evaluate('window.row.isConnected')).toBe(true)
    })

    test('what the reader opened stays open, and where it was scrolled to', async () => {
      const { page, stand } = await openPage(browser, { path })
      const details = page.locator('#message-53 > details')
      await details.locator('> summary').click()
      await page.locator('#requests > summary').click()
      await page.evaluate(`void (document.querySelector('.wide').scrollTop = 120)`)
      const scrolled = await page.evaluate('window.scrollY')
      stand.show({ detail: detailWith({ label: 'another label', compactions: 9 }) }, detailWith().id)
      await page.getByRole('heading', { name: 'another label' }).waitFor()
      expect(await details.getAttribute('open')).not.toBeNull()
      expect(await page.evaluate(`document.querySelector('.wide').scrollTop`)).toBe(120)
      expect(await page.evaluate('window.scrollY')).toBe(scrolled)
    })

    test('a page of one conversation is left alone by changes of others', async () => {
      const { page, stand } = await openPage(browser, { path })
      // The one for what had changed before it listened.
      await expect.poll(() => stand.asked.filter((asked) => asked === `GET ${path}`).length).toBe(2)
      stand.show({}, 'another')
      await page.waitForTimeout(1_200)
      expect(stand.asked.filter((asked) => asked === `GET ${path}`)).toHaveLength(2)
    })

    test('many changes at once are fetched at most once a second', async () => {
      const { page, stand } = await openPage(browser)
      const beganMs = performance.now()
      for (let requests = 1; requests <= 40; requests += 1) {
        stand.show({ conversations: [{ ...one, requests }] })
        await page.waitForTimeout(50)
      }
      await page.locator('#conversations td', { hasText: /^\s*40\s*$/ }).waitFor()
      const seconds = (performance.now() - beganMs) / 1_000
      const pages = stand.asked.filter((asked) => asked === 'GET /')
      expect(pages.length).toBeLessThanOrEqual(seconds + 3)
    })
  })

  test('a lost connection is said, and comes back by itself with what was missed', async () => {
    const { page, stand } = await openPage(browser, { shown: { conversations: [one] } })
    await stand.vanish()
    await page.getByText('Connection lost. What you see is as it was; trying again.').waitFor()
    expect(await page.getByRole('link', { name: 'one' }).count()).toBe(1)
    stand.show({ conversations: [two] })
    await stand.return()
    await page.locator('#connection.live').waitFor()
    await page.getByRole('link', { name: 'two' }).waitFor()
  })

  test('markup that got into a page all the same runs nothing', async () => {
    const { page, errors } = await openPage(browser)
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="/x" onerror="window.ran = true">')`,
    )
    await expect.poll(() => errors.join(' ')).toContain('Content Security Policy')
    expect(await page.evaluate('window.ran')).toBeUndefined()
  })

  describe('with the keyboard alone', () => {
    test('the first step leads past the head of the page', async () => {
      const { page } = await openPage(browser)
      await page.keyboard.press('Tab')
      expect(await isFocused(page, '.skip')).toBe(true)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await isFocused(page, '#headline a')).toBe(true)
    })

    test('a conversation is opened from the list, in the order in which it is read', async () => {
      const { page } = await openPage(browser)
      const links = page.locator('#conversations a')
      const reached: unknown[] = []
      await tabTo(page, '.filter button')
      for (let at = 0; at < (await links.count()); at += 1) {
        await page.keyboard.press('Tab')
        reached.push(await page.evaluate('document.activeElement.textContent'))
      }
      expect(reached).toEqual(await links.allTextContents())
      await tabTo(page, '#events tbody tr:first-child a')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'migrate the billing service' }).waitFor()
    })

    test('the list is searched, and stays so while it is renewed', async () => {
      const { page, stand } = await openPage(browser)
      await page.getByRole('searchbox', { name: 'Search' }).fill('triage')
      await page.keyboard.press('Enter')
      const links = page.locator('#conversations th a')
      await expect.poll(() => links.allTextContents()).toEqual(['nightly triage'])
      expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('triage')
      stand.show({})
      await expect.poll(() => links.allTextContents()).toEqual(['nightly triage'])
    })

    test('compacting is asked for, and the answer is said where the focus need not go', async () => {
      const { page, stand } = await openPage(browser, { path })
      await tabTo(page, compact)
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('the next request of this conversation is compacted').waitFor()
      expect(stand.asked).toContain(`POST ${path}/compact`)
      expect(await isFocused(page, compact)).toBe(true)
    })

    test('deleting asks first', async () => {
      const { page, stand } = await openPage(browser, { path })
      const questions: string[] = []
      page.once('dialog', (dialog) => {
        questions.push(dialog.message())
        void dialog.dismiss()
      })
      await tabTo(page, remove)
      await page.keyboard.press('Space')
      await expect.poll(() => questions).toHaveLength(1)
      expect(questions[0]).toContain('Delete the records and summaries')
      expect(stand.asked).not.toContain(`DELETE ${path}`)

      page.once('dialog', (dialog) => void dialog.accept())
      stand.answer = { status: 204 }
      await page.keyboard.press('Space')
      await page.getByText('Deleted: the records and summaries').waitFor()
      expect(stand.asked).toContain(`DELETE ${path}`)
    })

    test('a model is forgotten without a reload, and the focus stays in the table that it has left', async () => {
      const { page, stand, errors } = await openPage(browser)
      const forget = '#model-m2 button'
      const [first, ...others] = someModels()
      stand.answer = { status: 204 }
      await tabTo(page, forget)
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineWidth')).toBe('2px')
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('Forgotten.').waitFor()
      expect(stand.asked).toContain(`DELETE /models/${first?.id}`)
      expect(await isFocused(page, forget)).toBe(true)
      stand.show({ models: others })
      await page.locator('#model-m2').waitFor({ state: 'detached' })
      expect(await isFocused(page, '#models')).toBe(true)
      // What was said is not taken away by what is renewed.
      expect(await page.getByRole('status').getByText('Forgotten.').count()).toBe(1)
      await page.keyboard.press('Tab')
      expect(await isFocused(page, '#models button')).toBe(true)
      expect(errors).toEqual([])
    })

    test('messages are opened and their texts scrolled, and what has the focus is seen to have it', async () => {
      const { page } = await openPage(browser, { path })
      for (const selector of ['.brand', 'nav a', compact, '#requests > summary', '#message-0 summary.line']) {
        await tabTo(page, selector)
        const width = await page.evaluate('getComputedStyle(document.activeElement).outlineWidth')
        expect([selector, width]).toEqual([selector, '2px'])
      }
      await tabTo(page, '#message-53 summary.line')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await isFocused(page, '#message-53 pre')).toBe(true)
    })
  })

  test('what fails is said in the words of the answer', async () => {
    const { page, stand } = await openPage(browser, { path })
    const said = () => page.locator('#said').textContent()
    stand.answer = { status: 404, message: 'There is no such conversation.' }
    await page.locator(compact).click()
    await expect.poll(said).toBe('That failed: There is no such conversation.')
    stand.answer = { status: 502 }
    await page.locator(compact).click()
    await expect.poll(said).toBe('That failed: the answer was 502.')
    await stand.vanish()
    await page.locator(compact).click()
    await expect.poll(said).toBe('That failed: Foldgate does not answer. Is it running?')
  })

  test('a conversation that is no longer kept is said to be so, and what was shown of it stays', async () => {
    const { page, stand } = await openPage(browser, { path })
    stand.show({ detail: null }, detailWith().id)
    await page.getByText('This is no longer kept. What you see is as it was.').waitFor()
    expect(await page.getByRole('heading', { name: 'migrate the billing service' }).count()).toBe(1)
  })

  test('branches fold under their root, stay open while the list moves, and are reached with the keyboard', async () => {
    const branch = cardWith({ id: 'branch0000000000', parent: one.id, requests: 7, last_seen: before(1) })
    const { page, stand } = await openPage(browser, { shown: { conversations: [two, one, branch] } })
    expect(await page.locator('#conversations tbody tr').count()).toBe(2)
    await tabTo(page, '#branches-one0000000000000 > summary')
    await page.keyboard.press('Enter')
    await page.locator('#conversation-branch0000000000 a').waitFor({ state: 'visible' })
    stand.show({ conversations: [two, one, { ...branch, requests: 8 }] })
    await page.getByText('8 requests').waitFor({ state: 'visible' })
    expect(await page.locator('#conversation-one0000000000000 [data-name=requests]').textContent()).toBe('12')
  })

  // A page of red told of a day on which all went well.
  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    test('a healthy day has no red in it, and what failed has', async () => {
      const healthy = someConversations().filter(({ action }) => action !== 'failed-open')
      const events = agentEvents().filter(({ type }) => type !== 'failure')
      const models = someModels().filter(({ window_in_force: window }) => window?.overruled_tokens === null)
      const conversations = [...healthy, cardWith({ id: 'sixfold', pressure: 6.2, sent_pressure: 0.97 })]
      const shown = { conversations, events, models }
      const { page, stand } = await openPage(browser, { shown, context: { colorScheme } })
      expect(await redIn(page)).toEqual([])
      // The page is as light as its reader asked for.
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(Number(/\d+/.exec(String(ground))?.[0]) > 128).toBe(colorScheme === 'light')
      stand.show({ conversations: [cardWith({ id: 'failed', status: 502 })] })
      await page.locator('#conversation-failed').waitFor()
      expect(await redIn(page)).toContain('state failed')
      await page.goto(`${stand.origin}${path}`)
      await page.locator('#connection.live').waitFor()
      expect(await redIn(page, '#facts, #chart')).toEqual([])
    })

    // The head said "Live" in green over an outage.
    test('the head is green only where all is well, and says in words what is not; at 390 pixels too', async () => {
      const context = { colorScheme, viewport: { width: 390, height: 800 } }
      const { page, stand } = await openPage(browser, { context })
      const dot = `getComputedStyle(document.getElementById('status'), '::before').backgroundColor`
      const green = await page.evaluate(dot)
      expect((await page.locator('#status').innerText()).trim()).toBe('All well')
      expect(await page.locator('#troubles').isVisible()).toBe(false)
      stand.show({ status: { well: false, troubles: [outage] } })
      await page.getByRole('link', { name: '1 thing is not well' }).waitFor()
      expect(await page.evaluate(dot)).not.toBe(green)
      expect(await page.locator('#troubles').innerText()).toBe(
        '21 of the last 21 requests failed: default cannot be reached since 14:28:30 UTC: check that it runs.',
      )
      expect(await lowContrast(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      // How things stood when Foldgate was last heard of is not how they stand.
      stand.show({ status: { well: true, troubles: [] } })
      await page.getByText('All well').waitFor()
      await stand.vanish()
      await page.locator('#connection.lost').waitFor()
      expect(await page.locator('#status').isVisible()).toBe(false)
    })

    test.each(['/', path])('every text of %s has the contrast that WCAG wants at AA', async (where) => {
      const { page } = await openPage(browser, { path: where, context: { colorScheme } })
      await page.evaluate(unfoldAll)
      expect(await lowContrast(page)).toEqual([])
    })
  })

  test.each([360, 640, 900, 1_600])('nothing sticks out at %s pixels', async (width) => {
    for (const where of ['/', path]) {
      const names = { id: 'long', model: 'y'.repeat(200) }
      const shown = {
        conversations: [...someConversations(), cardWith({ ...names, label: 'x'.repeat(200) })],
        models: [...someModels(), modelWith(names)],
        detail: detailWith({ label: 'x'.repeat(200) }),
      }
      const context = { viewport: { width, height: 700 } }
      const { page } = await openPage(browser, { path: where, shown, context })
      await page.evaluate(unfoldAll)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
  })

  // At 400 pixels the list showed two of its seven columns, and the rest was scrolled beside the screen.
  test('on a narrow screen every column is seen', async () => {
    const { page } = await openPage(browser, { context: { viewport: { width: 400, height: 800 } } })
    const cut = await page.evaluate(
      `[...document.querySelectorAll('section, section > div')].filter((at) => at.scrollWidth > at.clientWidth).map((at) => at.id)`,
    )
    expect(cut).toEqual([])
    expect(await page.locator('#conversations [data-name=compactions]').first().isVisible()).toBe(true)
  })

  test('without its script the page is there, and says that it stays as it is', async () => {
    await using stand = await pageStand()
    await using context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(stand.origin)
    expect(await page.locator('.top').innerText()).toContain('Without its script this page stays as it was')
    await page.locator('#conversations a').first().click()
    expect(await page.locator('.drawing').first().getAttribute('aria-label')).toContain('Requests 8 to 71.')
  })
})
