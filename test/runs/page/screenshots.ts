import packageFile from '../../../package.json' with { type: 'json' }
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser } from '../../support/browser.ts'
import { profileSchema, type Profile } from '../../../src/profiles/schema.ts'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { chatOf as messagesChat } from '../../support/messages/chat.ts'
import { startMessagesUpstream } from '../../support/messages/messages-upstream.ts'
import type { WireBlock } from '../../support/messages/wire-block.ts'
import { chatOf as responsesChat } from '../../support/responses/items.ts'
import { startResponsesUpstream } from '../../support/responses/responses-upstream.ts'
import { adminPlace } from '../../admin/ask-admin.ts'

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

/** An agent's conversation as it is shown: `rounds` long, and by which API and client it comes. */
type Shown = {
  readonly path: string
  readonly client: string
  readonly model: string
  readonly task: string
  readonly rounds: number
  readonly seed: number
  readonly bodyOf: (messages: readonly TestMessage[]) => object
  /** Another way that the conversation takes from about its middle on. */
  readonly branchRounds?: number
}

const windowTokens = 16_000

/** Its path and its body, its client and its model, its task, how many rounds it has and its seed. */
const agentOf = (
  [path, bodyOf]: readonly [string, Shown['bodyOf']],
  [client, model]: readonly [string, string],
  task: string,
  { rounds, seed, branchRounds = 0 }: Pick<Shown, 'rounds' | 'seed' | 'branchRounds'>,
): Shown => ({ path, bodyOf, client, model, task, rounds, seed, branchRounds })

const chats = ['/v1/chat/completions', chatBody] as const
const mail = 'Sort the inbox of the support team: what is urgent, what is a question, what can wait?'
const upgrade = 'Upgrade the build to the newest compiler and mend what breaks.'
const notes = 'Write the release notes of 2.4 from the merged changes.'
const repair = 'The nightly tests of the retry queue fail one time in ten. Find out why and repair it.'
const codexAgent = 'codex_cli_rs/0.169.0 (Debian 12.0.0; x86_64) xterm'
const opencode = 'opencode/1.4.2 ai-sdk/provider-utils/4.0.1'
const claudeAgent = 'claude-cli/2.1.332 (external, cli)'

const shown: readonly Shown[] = [
  agentOf(chats, ['OpenAI/Python 2.8.0', 'gpt-5-mini'], mail, { rounds: 8, seed: 11 }),
  agentOf(['/u/codex/v1/responses', responsesBody], [codexAgent, 'gpt-5'], upgrade, { rounds: 34, seed: 12 }),
  agentOf(chats, [opencode, 'qwen3:8b'], notes, { rounds: 20, seed: 13, branchRounds: 3 }),
  agentOf(['/u/claude/v1/messages', messagesBody], [claudeAgent, 'claude-sonnet-4-5'], repair, {
    rounds: 64,
    seed: 14,
  }),
]

/** A Foldgate through which conversations of made-up agents have gone, by all three APIs, for pictures of its pages. */
async function picturedFoldgate() {
  const { count } = await loadCounter('o200k_base')
  const upstream = await exactUpstream(windowTokens)
  const strict = { windowTokens, outputReserveChecked: true, count }
  const codex = await startResponsesUpstream({
    ...strict,
    reply: () => ({ output: [{ type: 'message', text: 'Done.' }] }),
  })
  const claude = await startMessagesUpstream({
    ...strict,
    reply: () => ({ content: [{ type: 'text', text: 'Done.' }] }),
  })
  const admin = await adminPlace()
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    flags: admin.flags,
    version: packageFile.version,
    profiles: new Map([profileNamed('default'), profileNamed('local', 'qwen*')]),
    upstreams: { codex: { url: codex.url }, claude: { url: claude.url } },
    settings: { admin: { show_content: true } },
  })
  const origin = new URL(foldgate.url).origin
  await askStateful(`${origin}/u/codex/v1/responses`)
  for (const each of shown) await live(origin, each)
  return {
    origin: admin.origin,
    close: async () => {
      await foldgate.close()
      await Promise.all([upstream.close(), codex.close(), claude.close()])
    },
  }
}

const profileNamed = (name: string, ...models: readonly string[]): [string, Profile] => [
  name,
  { ...profileSchema.parse({ models, window: { tokens: windowTokens } }), name },
]

async function live(
  origin: string,
  { path, client, model, task, rounds, seed, bodyOf, branchRounds = 0 }: Shown,
): Promise<void> {
  const run = longRun(rounds, seed).map((message) =>
    message.role === 'user' ? { ...message, content: task } : message,
  )
  for (const messages of growing(run)) await ask(origin + path, client, { model, ...bodyOf(messages) })
  const trunk = run.slice(0, run.length / 2)
  const end = trunk.findLastIndex(({ role }) => role === 'tool')
  for (let round = 1; round <= branchRounds; round += 1) {
    const asked = Array.from({ length: round }, (_, at) => [
      { role: 'assistant', content: `Draft ${at + 1} is ready.` },
      { role: 'user', content: `Shorter, please (${at + 1}).` },
    ]).flat()
    await ask(origin + path, client, { model, ...bodyOf([...trunk.slice(0, end + 1), ...asked]) })
    await ask(origin + path, client, { model, ...bodyOf(run) })
  }
}

const tools = [
  tool('read_file', 'Reads a file of the repository.'),
  tool('run_tests', 'Runs the tests of a folder and gives back what they print.'),
]

function tool(name: string, description: string) {
  return { name, description, parameters: { type: 'object', properties: { path: { type: 'string' } } } }
}

function chatBody(messages: readonly TestMessage[]): object {
  return { messages, max_tokens: 800, tools: tools.map((each) => ({ type: 'function', function: each })) }
}

function responsesBody(messages: readonly TestMessage[]): object {
  const { instructions, steps } = responsesChat(messages, { system: 'instructions', reasoningTokens: 0 })
  const context = '<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>'
  return {
    instructions,
    store: false,
    max_output_tokens: 800,
    tools: tools.map((each) => ({ type: 'function', ...each })),
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: context }] },
      ...steps.flatMap((step) => (step.kind === 'input' ? step.items : step.told)),
    ],
  }
}

function messagesBody(messages: readonly TestMessage[]): object {
  const { system, steps } = messagesChat(messages, { thinkingTokens: 0 })
  const sent: { role: string; content: WireBlock[] }[] = []
  for (const step of steps) {
    const content = step.kind === 'input' ? step.blocks : step.told
    const role = step.kind === 'input' ? 'user' : 'assistant'
    if (content.length === 0) continue
    const last = sent.at(-1)
    if (last !== undefined && last.role === role) last.content.push(...content)
    else sent.push({ role, content: [...content] })
  }
  const last = sent.at(-1)?.content
  const end = last?.pop()
  // As Claude Code has it: the provider keeps all up to the end.
  if (end !== undefined) last?.push({ ...end, cache_control: { type: 'ephemeral' } })
  return {
    system: `${system ?? ''}\nWorking directory: /home/ada/queue`,
    max_tokens: 800,
    tools: tools.map(({ parameters, ...each }) => ({ ...each, input_schema: parameters })),
    messages: sent,
  }
}

/** A conversation that is left at the server from its second request on. */
async function askStateful(url: string): Promise<void> {
  const client = 'OpenAI/JS 7.55.0'
  const first = await ask(url, client, { model: 'gpt-5', input: 'Say hello to the team.' })
  const [, id] = /"id":"(resp_\w+)"/.exec(first) ?? []
  await ask(url, client, { model: 'gpt-5', input: 'And in French?', previous_response_id: id })
}

async function ask(url: string, client: string, body: object): Promise<string> {
  const named = { authorization: 'Bearer sk-any', 'anthropic-version': '2023-06-01', 'user-agent': client }
  const headers = { 'content-type': 'application/json', ...named }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
  return text
}

if (import.meta.main) {
  const [origin, folder = 'docs'] = process.argv.slice(2)
  const own = origin === undefined ? await picturedFoldgate() : null
  for (const path of await takeScreenshots({ origin: own?.origin ?? origin ?? '', folder }))
    process.stdout.write(`${path}\n`)
  await own?.close()
}
