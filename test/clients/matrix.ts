import { readFile } from 'node:fs/promises'

/** What a client is shown to do through Foldgate, in the order in which the page says it. */
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

type ClientOptions = {
  /** Whether it cannot run on this machine. Its tests are to skip then, and its row stands as it stood. Default false. */
  readonly isAbsent?: boolean
  /** Tells the version of its package. Default: what npm has installed. */
  readonly versionOf?: (packageName: string) => string | Promise<string>
}

export type Matrix = {
  readonly client: (name: string, packageName: string, options?: ClientOptions) => ShowFeature
  /** The page: what tests have shown so far, and nothing else. `standing` is the page as it is. */
  readonly page: (standing: string) => Promise<string>
  readonly missing: () => readonly string[]
}

/** Collects what the tests of all clients show. What a test that fails or does not run would have shown is missing on the page. */
export function openMatrix(): Matrix {
  const rows: ((standing: string) => Promise<string>)[] = []
  const missing: string[] = []

  return {
    client: function addClient(name, packageName, { isAbsent = false, versionOf = npmVersionOf } = {}) {
      const shown = new Set<string>()
      rows.push(async (standing) => {
        if (isAbsent) return standing.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? ''
        const told = Object.entries(features).flatMap(([feature, words]) =>
          shown.has(feature) ? [words] : [],
        )
        return `| ${name} | \`${packageName}\` ${await versionOf(packageName)} | ${told.join(' · ')} |`
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

const head = [
  '# Clients',
  '',
  'Clients that people use, each run against a server that refuses what OpenAI or Anthropic refuses: a broken sequence of messages, items or blocks, a prompt over its window. Each holds a conversation that outgrows that window. Nothing of the client is changed but its base URL.',
  '',
  'Written by `npm run clients` from the tests that passed: a row has what was tried, where no request was refused and the client got its answers. Anything else was not tried, or the client has no such thing. [How to set each of them up](connect.md#clients), and on its page what was tried by hand.',
  '',
  '| client | package | shown |',
  '|---|---|---|',
]

const foot = [
  '',
  '- *tools*: an agent loop of several turns; the recap stands in its last request.',
  '- *Responses API*: the same there, the model thinking before each step. The server leaves out reasoning that comes back behind a changed prefix, as OpenAI does: it had none to leave out.',
  '- *Messages API*: the same there. The model signs each thought over all that it was sent, and the server refuses one that comes back behind anything else: there was none.',
  '- *whole window*: an agent whose system prompt and tools leave little of a small window (of 30,000 tokens, where the row names no other) reads a file a round. Each request shows the model all of the file just read and the task, none is the same as the one before, and compactions are as few as the room allows.',
  '- *strict template*: the same, before a model whose template wants user and assistant by turns.',
  '- *structured answers*: the client parses and checks what the model wrote, by a schema.',
  "- *errors*: the server's refusals and Foldgate's own arrive as the client's errors, with status and code.",
  '- *abort*: whoever leaves ends the request to the server.',
  '- *embeddings*, *files*: relayed; both sides get the same bytes as without Foldgate.',
  '',
  'Straight at the server the libraries end with the window, in all three APIs. All of them send all of the conversation ([how](connect.md#conversations-that-the-server-keeps)).',
  '',
  "The clients of Ollama's own API ask for a window of 4,096, before a server that drops the oldest messages without a word, as Ollama does. Straight at it each was answered from a prompt that lacked what it had been told at the beginning; through Foldgate that stood in every prompt, and nothing was cut.",
  '',
  'The coding agents run without a person at them, and their model has them read files until the window would have overflowed; pi then writes one. Straight at the server the work of pi, opencode and Codex ends with the window; Qwen Code and Claude Code are refused and have their history summarised, again and again. Codex with its own compaction on has no reason to begin one behind Foldgate, as long as what is kept free (`window.output_reserve`) is more than the tenth at which it begins and a file.',
  '',
  'Claude Code comes with 11,400 tokens of its own, and asks for 32,000 or 64,000 of output whatever the window ([what is kept free](decisions/claude-code.md)). Its `/compact` takes place past the window, and what follows outgrows the window once more; the one thought that it keeps from before its summary is refused, through Foldgate as straight at the server, and sent no more. Claude Code Router passes its requests on in the Messages API.',
  '',
]

async function npmVersionOf(packageName: string): Promise<string> {
  const file = new URL(`node_modules/${packageName}/package.json`, import.meta.url)
  const described: { readonly version: string } = JSON.parse(await readFile(file, 'utf8'))
  return described.version
}
