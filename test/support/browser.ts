import { spawnSync } from 'node:child_process'
import { chromium, type Browser } from 'playwright-core'

/** A Chromium of this machine; undefined where none is installed. `CHROMIUM_PATH` names one elsewhere. */
export const chromiumProgram = [
  process.env['CHROMIUM_PATH'] ?? '',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
  .map(placeOf)
  .find((path) => path !== null)

/** What a test that is skipped says. */
export const withoutChromium =
  chromiumProgram === undefined ? ' (skipped: no chromium on PATH, and CHROMIUM_PATH names none)' : ''

/** A browser of the test's own. Closing it ends it. */
export function openBrowser(): Promise<Browser> {
  if (chromiumProgram === undefined) throw new Error('No chromium is here: install it or set CHROMIUM_PATH.')
  return chromium.launch({
    executablePath: chromiumProgram,
    // Chromium refuses to build its sandbox as root.
    chromiumSandbox: process.getuid?.() !== 0,
  })
}

/** The path of a program that starts; null where there is none. A name is looked up as a shell would. */
function placeOf(program: string): string | null {
  if (program === '' || spawnSync(program, ['--version'], { timeout: 10_000 }).status !== 0) return null
  if (program.includes('/')) return program
  return spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim() || null
}
