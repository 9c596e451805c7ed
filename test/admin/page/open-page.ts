import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { pageStand, type PageStand, type Shown } from './page-stand.ts'

export type WatchedPage = {
  readonly page: Page
  /** What the console said as an error, and what was thrown. */
  readonly errors: string[]
  /** Where everything that was asked for went to. */
  readonly origins: Set<string>
}

export type OpenPage = WatchedPage & { readonly stand: PageStand }

/** A page of a stand of its own, when it says that it is live. */
export async function openPage(
  browser: Browser,
  options: { path?: string; shown?: Partial<Shown>; context?: BrowserContextOptions } = {},
): Promise<OpenPage> {
  const stand = await pageStand(options.shown)
  onTestFinished(() => stand[Symbol.asyncDispose]())
  return { ...(await watchPage(browser, stand.origin + (options.path ?? '/'), options.context)), stand }
}

/** A page at an address, when it says that it is live, and what it asks for and complains of. */
export async function watchPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1_200, height: 800 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const errors: string[] = []
  const origins = new Set<string>()
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())))
  page.on('pageerror', (error) => void errors.push(String(error)))
  page.on('request', (request) => void origins.add(new URL(request.url()).origin))
  await page.goto(address)
  await page.locator('#connection.live').waitFor()
  return { page, errors, origins }
}

/** Goes on with the Tab key until this is focused. Rejects where it never is. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const target = page.locator(selector)
  for (let steps = 0; steps < 200; steps += 1) {
    await page.keyboard.press('Tab')
    if ((await target.count()) === 1 && (await isFocused(page, selector))) return
  }
  throw new Error(`${selector} is not reached with the Tab key.`)
}

export async function isFocused(page: Page, selector: string): Promise<boolean> {
  return (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) === true
}
