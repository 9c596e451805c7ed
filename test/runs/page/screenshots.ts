import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser } from '../../support/browser.ts'
import { picturedFoldgate } from './pictured-foldgate.ts'

export type ScreenshotOptions = {
  /** Where the admin listener is: `http://127.0.0.1:3654`. */
  readonly origin: string
  readonly folder: string
  /** Width of the pages in CSS pixels. Default 1,200. */
  readonly width?: number
  /** What the names of the files begin with. Default `admin`. */
  readonly name?: string
}

/**
 * Pictures of the pages of a running admin listener, in light and dark: `admin-light.png` and `admin-dark.png` of the
 * first page, `admin-conversation-light.png` and `-dark.png` of the conversation that is first in its list. Gives back
 * their paths.
 */
export async function takeScreenshots(options: ScreenshotOptions): Promise<readonly string[]> {
  const { origin, folder, width = 1_200, name = 'admin' } = options
  await mkdir(folder, { recursive: true })
  await using browser = await openBrowser()
  const taken: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 800 },
      deviceScaleFactor: 1.25,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const take = async (which: string) => {
      await page.locator('#connection.live').waitFor()
      const path = join(folder, `${which}-${colorScheme}.png`)
      const heightPixels = Number(await page.evaluate('document.documentElement.scrollHeight'))
      const clip = { x: 0, y: 0, width, height: Math.min(heightPixels, HEIGHT_PIXELS_MAX) }
      await page.screenshot({ path, fullPage: true, clip })
      taken.push(path)
    }
    await page.goto(origin)
    await take(name)
    const first = page.locator('#conversations th a').first()
    if ((await first.count()) > 0) {
      await first.click()
      await page.locator('#messages').waitFor()
      await take(`${name}-conversation`)
    }
    await context.close()
  }
  return taken
}

/** What is below is more of the same. */
const HEIGHT_PIXELS_MAX = 1_700

if (import.meta.main) {
  const [origin, folder = 'docs'] = process.argv.slice(2)
  const own = origin === undefined ? await picturedFoldgate() : null
  for (const path of await takeScreenshots({ origin: own?.origin ?? origin ?? '', folder }))
    process.stdout.write(`${path}\n`)
  await own?.close()
}
