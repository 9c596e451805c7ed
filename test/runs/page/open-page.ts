import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { pageStand, type PageStand, type Shown } from '../../admin/page/page-stand.ts'

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

export const isFocused = async (page: Page, selector: string): Promise<boolean> =>
  (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) === true

/** The classes of all elements that are seen and have something red about them: text, ground, border or drawing. */
export const redIn = async (page: Page, within = 'body'): Promise<unknown> =>
  page.evaluate(`(${findRed})(${JSON.stringify(within)})`)

/** Runs in the page, where there are the types of none of ours. Red is a hue between 340 and 20 degrees that is no grey. */
const findRed = `(within) => {
  const isRed = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\\d.]+/g)?.map(Number) ?? []
    if (red === undefined || alpha === 0) return false
    const spread = red - Math.min(green, blue)
    return red > Math.max(green, blue) && spread > 40 && Math.abs(green - blue) < spread / 3
  }
  const found = []
  for (const root of document.querySelectorAll(within)) {
    for (const element of [root, ...root.querySelectorAll('*')]) {
      if (!element.checkVisibility()) continue
      const style = getComputedStyle(element)
      const colors = [style.color, style.backgroundColor, style.borderTopColor, style.borderLeftColor]
      const drawn = element instanceof SVGElement ? [style.fill, style.stroke] : []
      for (const mark of ['::before', '::after']) {
        const made = getComputedStyle(element, mark)
        if (made.content !== 'none') colors.push(made.color, made.backgroundColor)
      }
      if ([...colors, ...drawn].some(isRed)) found.push(String(element.getAttribute('class')))
    }
  }
  return found
}`

/**
 * The texts of a page whose contrast is below what WCAG 2.2 wants at level AA (1.4.3): 4.5 to 1. Large text may have
 * less, which nothing here makes use of.
 */
export const lowContrast = async (page: Page): Promise<unknown> => page.evaluate(`(${findLowContrast})()`)

/** Runs in the page, where there are the types of none of ours. */
const findLowContrast = `() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const linear = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor)
      if (color.length < 4 || color[3] === 1) return color
    }
    return [255, 255, 255]
  }
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode() !== null) {
    const element = walker.currentNode.parentElement
    if (walker.currentNode.data.trim() === '' || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const color = channels(element instanceof SVGElement ? style.fill : style.color)
    const [light, dark] = [luminance(color), luminance(behind(element))].sort((one, other) => other - one)
    const contrast = (light + 0.05) / (dark + 0.05)
    if (contrast < 4.5) found.push(element.className + ': ' + walker.currentNode.data.trim() + ' ' + contrast.toFixed(2))
  }
  return found
}`
