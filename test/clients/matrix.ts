import { readFile } from 'node:fs/promises'

/** What a client is shown to do through Foldgate: the columns of the page, in order. */
const features = {
  chat: 'plain',
  stream: 'streamed',
  loop: 'tools',
  streamedLoop: 'tools, streamed',
  wholeWindow: 'whole window',
  strict: 'strict template',
  structured: 'structured answers',
  errors: 'errors',
  abort: 'abort',
  embeddings: 'embeddings',
  files: 'files',
} as const

export type Feature = keyof typeof features

export type ShowFeature = (
  feature: Feature | readonly Feature[],
  run: () => Promise<unknown>,
) => () => Promise<void>

/** What a program that works by itself has no call for. */
export const programsLack: readonly Feature[] = ['chat', 'structured', 'abort', 'embeddings', 'files']

type ClientOptions = {
  /** Whether it cannot run on this machine. Its tests are to skip then, and its row stands as it stood. Default false. */
  readonly isAbsent?: boolean
  readonly lacks?: readonly Feature[]
  /** Tells the version of its package. Default: what npm has installed. */
  readonly versionOf?: (packageName: string) => string | Promise<string>
}

export type Matrix = {
  readonly client: (name: string, packageName: string, options?: ClientOptions) => ShowFeature
  /** The page: what tests have shown so far, and nothing else. `standing` is the page as it is. */
  readonly page: (standing: string) => Promise<string>
  readonly missing: () => readonly string[]
}

/** Collects what the tests of all clients show. A test that fails or does not run leaves its cells at "not tried". */
export function openMatrix(): Matrix {
  const rows: ((standing: string) => Promise<string>)[] = []
  const missing: string[] = []

  return {
    client: function addClient(
      name,
      packageName,
      { isAbsent = false, lacks = [], versionOf = npmVersionOf } = {},
    ) {
      const shown = new Set<string>()
      rows.push(async (standing) => {
        if (isAbsent) return standing.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? ''
        const cells = columns.map((feature) =>
          shown.has(feature)
            ? 'yes'
            : lacks.some((lack) => lack === feature)
              ? 'no such feature'
              : 'not tried',
        )
        return `| ${name} | \`${packageName}\` ${await versionOf(packageName)} | ${cells.join(' | ')} |`
      })
      return function shows(feature, run) {
        const what = `${name}: ${[feature].flat().join(', ')}`
        if (!isAbsent) missing.push(what)
        return async () => {
          await run()
          for (const each of [feature].flat()) shown.add(each)
          missing.splice(missing.indexOf(what), 1)
        }
      }
    },
    page: async function page(standing) {
      return [...head, ...(await Promise.all(rows.map((row) => row(standing)))), ...foot].join('\n')
    },
    missing: () => missing,
  }
}

const columns: readonly string[] = Object.keys(features)

const head = [
  '# Clients',
  '',
  'Clients that people use, each run against a server that refuses what OpenAI or Anthropic refuses: a broken sequence of messages, items or blocks, a prompt over its window. Each holds a conversation that outgrows that window. Nothing of the client is changed but its base URL.',
  '',
  'Written by `npm run clients` from the tests that passed: *yes* stands where no request was refused and the client got its answers. [How to set each of them up](connect.md#clients).',
  '',
  `| client | package | ${Object.values(features).join(' | ')} |`,
  `|---|---${columns.map(() => '|---').join('')}|`,
]

const foot = [
  '',
  'What stands for *tried* here was run by `npm run clients`; the page of a client says what was tried by hand.',
  '',
  '- *tools*: an agent loop of several turns; the recap stands in its last request.',
  '- *Responses API*: the same there, the model thinking before each step. The server leaves out reasoning that comes back behind a changed prefix, as OpenAI does: it had none to leave out. Straight at the server each of these ends with the window. All of them send all of the conversation ([how](connect.md#conversations-that-the-server-keeps)).',
  '- *Messages API*: the same there. The model signs each thought over all that it was sent, and the server refuses one that comes back behind anything else: there was none. Straight at the server each library ends with the window. The tool runner of the SDK keeps its conversation at the server unless it is told not to ([how](connect.md#conversations-that-the-server-keeps)).',
  '- *whole window*: an agent whose system prompt and tools leave little of a small window (of 30,000 tokens, where the row names no other) reads a file a round. Each request shows the model all of the file just read and the task, none is the same as the one before, and compactions are as few as the room allows.',
  '- *strict template*: the same, before a model whose template wants user and assistant by turns.',
  '- *structured answers*: the client parses and checks what the model wrote, by a schema.',
  "- *errors*: the server's refusals and Foldgate's own arrive as the client's errors, with status and code.",
  '- *abort*: whoever leaves ends the request to the server.',
  '- *embeddings*: relayed; what the server received is what the client sends to the server itself, byte for byte.',
  '- *files*: an upload and a download, relayed; their content is the same behind Foldgate as before it.',
  '',
  'The last rows are programs rather than libraries: coding agents without a person at them, whose model has them read files until the window would have overflowed; pi then writes one. Straight at the server the work of pi, opencode and Codex ends with the window, and Qwen Code is refused and has its history summarised, again and again. Codex with its own compaction on has it summarised before it is refused; behind Foldgate it has no reason to, as long as what Foldgate keeps free (`window.output_reserve`) is more than the tenth at which it begins and a file. With its built-in provider it asks for a WebSocket first, which Foldgate refuses, and goes on over HTTP.',
  '',
  'Claude Code comes with 11,400 tokens of its own, and asks for 32,000 or 64,000 of output whatever the window: a quarter of the window is kept free for it, or half once a server has refused such a sum. Straight at the server it is refused and has its history summarised, again and again. Its `/compact` takes place past the window, and what follows outgrows the window once more; the one thought that it keeps from before its summary is refused, through Foldgate as straight at the server, and sent no more. Claude Code Router passes its requests on to Foldgate in the Messages API.',
  '',
]

async function npmVersionOf(packageName: string): Promise<string> {
  const file = new URL(`node_modules/${packageName}/package.json`, import.meta.url)
  const described: { readonly version: string } = JSON.parse(await readFile(file, 'utf8'))
  return described.version
}
