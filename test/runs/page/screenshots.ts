import packageFile from '../../../package.json' with { type: 'json' }
import { join } from 'node:path'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { adminPlace } from '../../admin/ask-admin.ts'
import { openBrowser } from '../../support/browser.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { chatOf, toolsOf } from '../../support/messages/chat.ts'
import { messageTexts, openLife } from '../../support/messages/living.ts'
import { startMessagesUpstream } from '../../support/messages/messages-upstream.ts'

/**
 * The pictures of the README, in light and dark: the page of a conversation that an agent has held through Foldgate.
 *
 *   npm run screenshots [-- FOLDER]
 */
const [folder = 'docs'] = process.argv.slice(2)

const WINDOW_TOKENS = 16_000
const ROUNDS = 64
const TASK = 'The nightly tests of the retry queue fail one time in ten. Find out why and repair it.'

/** What is below is more of the same. */
const HEIGHT_PIXELS_MAX = 1_700
const WIDTH_PIXELS = 1_200

const { count } = await loadCounter('o200k_base')
const upstream = await startMessagesUpstream({
  windowTokens: WINDOW_TOKENS,
  outputReserveChecked: true,
  count,
  reply: () => ({ content: [{ type: 'text', text: 'Done.' }] }),
})
const admin = await adminPlace()
const foldgate = await startFoldgate({
  upstream: upstream.url,
  flags: admin.flags,
  version: packageFile.version,
  profile: { window: { tokens: WINDOW_TOKENS } },
  settings: { admin: { show_content: true } },
})
const run = longRun(ROUNDS, 14).map((message) =>
  message.role === 'user' ? { ...message, content: TASK } : message,
)
for (const messages of growing(run)) await ask(messages)
await using browser = await openBrowser()
for (const colorScheme of ['light', 'dark'] as const) await take(colorScheme)
await foldgate.close()
await upstream.close()

async function take(colorScheme: 'light' | 'dark'): Promise<void> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width: WIDTH_PIXELS, height: 800 },
    deviceScaleFactor: 1.25,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(admin.origin)
  await page.locator('#conversations th a').first().click()
  await page.locator('#messages').waitFor()
  await page.locator('#connection.live').waitFor()
  const path = join(folder, `admin-conversation-${colorScheme}.png`)
  const heightPixels = Number(await page.evaluate('document.documentElement.scrollHeight'))
  const clip = { x: 0, y: 0, width: WIDTH_PIXELS, height: Math.min(heightPixels, HEIGHT_PIXELS_MAX) }
  await page.screenshot({ path, fullPage: true, clip })
  process.stdout.write(`${path}\n`)
  await context.close()
}

/** As Claude Code sends it: the provider keeps all up to the end. */
async function ask(messages: readonly TestMessage[]): Promise<void> {
  const { system, steps } = chatOf(messages, { thinkingTokens: 0 })
  const texts = messageTexts(openLife({ steps }).before(steps.length), {
    marksNewest: true,
    shortensTexts: false,
  })
  const parameters = { type: 'object', properties: { path: { type: 'string' } } }
  const tools = toolsOf([
    { function: { name: 'read_file', description: 'Reads a file of the repository.', parameters } },
    { function: { name: 'run_tests', description: 'Runs the tests of a folder.', parameters } },
  ])
  const answer = await fetch(`${foldgate.url}/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-any',
      'anthropic-version': '2023-06-01',
      'user-agent': 'claude-cli/2.1.332 (external, cli)',
    },
    body: JSON.stringify({
      model: 'claude-sonnet-4-5',
      system: `${system ?? ''}\nWorking directory: /home/ada/queue`,
      max_tokens: 800,
      tools,
      messages: texts.map((text): unknown => JSON.parse(text)),
    }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
}
