import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { windowFigures } from '../../scripts/windows/figures.ts'
import { readPackage } from '../../scripts/windows/read-package.ts'
import { figuresSource } from '../../scripts/windows/source.ts'
import { figuresIn as windowsByName } from '../../src/models/table/window-table.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'

type Model = {
  readonly id: string
  readonly contextWindow?: number
  readonly maxTokens?: number
} & { readonly [Key in 'baseUrl' | 'api' | 'type']?: string }

type Providers = Readonly<Record<string, readonly Model[]>>

/** A folder like the unpacked package's, with these models by provider. */
async function packageFolder(
  providers: Providers,
  described: object = { name: '@earendil-works/pi-ai', version: '7.8.9', license: 'MIT' },
): Promise<string> {
  const folder = await temporaryFolder()
  const dataFolder = join(folder, 'dist', 'providers', 'data')
  await mkdir(dataFolder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify(described))
  await writeFile(join(dataFolder, '.manifest.json'), JSON.stringify({ schemaVersion: 1 }))
  for (const [provider, models] of Object.entries(providers)) {
    const apis: Record<string, Record<string, object>> = {}
    for (const { api = 'openai-completions', ...model } of models) {
      apis[api] ??= {}
      const usual = { type: 'chat', contextWindow: 64_000, maxTokens: 4000 }
      apis[api][`chat:${model.id}`] = { ...usual, baseUrl: `https://${provider}.example.com/v1`, ...model }
    }
    await writeFile(join(dataFolder, `${provider}.json`), JSON.stringify(apis))
  }
  return folder
}

async function sourceOf(folder: string): Promise<string> {
  const dataSet = await readPackage(folder)
  return figuresSource(dataSet, windowFigures(dataSet.rows))
}

/** The generated figures of a host, or `*` for the names, as lines. */
async function figuresOf(host: string, providers: Providers): Promise<readonly string[]> {
  const { hosts, names } = await figuresIn(providers)
  const found = Object.entries(hosts).find(([patterns]) => patterns.split(' ').includes(host))
  return linesOf(host === '*' ? names : (found?.[1] ?? {}))
}

const figuresIn = async (providers: Providers) =>
  FigureFile.parse(JSON.parse(await sourceOf(await packageFolder(providers))))

const linesOf = (rows: z.output<typeof Rows>): readonly string[] =>
  [...windowsByName(rows)]
    .map(([name, { tokens, kind }]) => `${name} ${tokens}${kind === 'input' ? ' input' : ''}`)
    .toSorted()

const Rows = z.record(z.string(), z.string())
const FigureFile = z.object({ hosts: z.record(z.string(), Rows), names: Rows })

describe('what is written', () => {
  test('a header with source, version and licence, then a host a line, and a window a line for the names', async () => {
    const folder = await packageFolder({
      zebra: [{ id: 'maker/Model-2.5', contextWindow: 32_768 }],
      alpha: [{ id: 'model-10' }, { id: 'model-1' }, { id: 'gemini-7', contextWindow: 1000 }],
    })
    expect(await sourceOf(folder)).toMatchInlineSnapshot(`
      "{
        "source": "Generated from @earendil-works/pi-ai 7.8.9 (MIT), whose data come from models.dev (MIT): see NOTICE. Not to be edited: node scripts/window-table.ts FOLDER writes it, corrections are in scripts/windows/corrections.ts.",
        "hosts": {
          "alpha.example.com": { "64000": "model-1 model-10", "input 1000": "gemini-7" },
          "zebra.example.com": { "32768": "model-2-5" }
        },
        "names": {
          "32768": "model-2-5",
          "64000": "model-1 model-10",
          "input 1000": "gemini-7"
        }
      }
      "
    `)
  })

  test('the same data give the same bytes, in whatever order they are read', async () => {
    const one: Model = { id: 'one-1', contextWindow: 1000 }
    const two: Model = { id: 'two-2', contextWindow: 2000, api: 'anthropic-messages' }
    const inOrder = await packageFolder({ a: [one, two], b: [two] })
    const reversed = await packageFolder({ b: [two], a: [two, one] })
    expect(await sourceOf(inOrder)).toBe(await sourceOf(inOrder))
    expect(await sourceOf(reversed)).toBe(await sourceOf(inOrder))
  })

  test('no classifiers, no image models, nothing that is reached by another protocol only', async () => {
    const types = ['classifier', 'image'].map((type) => ({ id: type, type }))
    const apis = ['pi-messages', 'openai-codex-responses'].map((api) => ({ id: api, api }))
    const providers = { a: [{ id: 'm-1' }, ...types, ...apis] }
    for (const host of ['a.example.com', '*']) expect(await figuresOf(host, providers)).toEqual(['m-1 64000'])
  })

  test('hosts that differ by region or resource are one, however many files name them', async () => {
    const baseUrl = 'https://bedrock-runtime.us-east-1.amazonaws.com'
    const providers = {
      'amazon-bedrock': [
        { id: 'us.anthropic.claude-opus-4-6-v1', baseUrl },
        { id: 'eu.anthropic.claude-opus-4-6-v1', baseUrl, contextWindow: 60_000 },
      ],
      azure: [{ id: 'gpt-4', baseUrl: '' }],
    }
    expect(await figuresOf('bedrock-runtime.*.amazonaws.com', providers)).toEqual(['claude-opus-4-6 60000'])
    expect(await figuresOf('*.openai.azure.com', providers)).toEqual(['gpt-4 64000'])
  })
})

const at = (contextWindow: number, id = 'some/kimi-k9'): readonly Model[] => [{ id, contextWindow }]

const ofA = (contextWindow: number) =>
  at(contextWindow).map((model) => ({ ...model, baseUrl: 'https://a.example.com' }))

describe('where hosts disagree on a name', () => {
  test.each<[string, Providers, string]>([
    ['the maker’s own host is believed', { moonshotai: at(9000), a: at(5000), b: at(5000) }, 'kimi-k9 9000'],
    ['else what most hosts say', { a: at(5000), b: at(7000), c: at(7000) }, 'kimi-k9 7000'],
    ['of equally many the smallest', { a: at(7000), b: at(6000), c: at(8000) }, 'kimi-k9 6000'],
    [
      'a host has one vote',
      { a: at(7000), 'a-too': ofA(8000), 'a-again': ofA(7000), b: at(6000), c: at(6000) },
      'kimi-k9 6000',
    ],
    [
      'a maker’s host has no more to say of others’ models than any other',
      { mistral: at(9000, 'glm-9'), a: at(5000, 'glm-9'), b: at(5000, 'glm-9') },
      'glm-9 5000',
    ],
    [
      'a name without a version is its host’s own business',
      { a: [{ id: 'auto' }, { id: 'k2' }] },
      'k2 64000',
    ],
    ['unless the maker says it', { google: [{ id: 'gemini-pro-latest' }] }, 'gemini-pro-latest 64000 input'],
  ])('%s', async (_, providers, told) => {
    expect(await figuresOf('*', providers)).toEqual([told])
  })

  test('of a host’s own figures the smaller counts', async () => {
    const providers = { a: at(7000), 'a-too': ofA(8000), 'a-again': ofA(7000) }
    expect(await figuresOf('a.example.com', providers)).toEqual(['kimi-k9 7000'])
  })
})

describe('what is put right', () => {
  const long = { contextWindow: 1_050_000, maxTokens: 128_000 }
  const short = { contextWindow: 400_000, maxTokens: 272_000 }

  test.each<[provider: string, model: Model, written: string]>([
    ['openai', { id: 'gpt-5', ...short }, 'gpt-5 272000 input'],
    ['openai', { id: 'gpt-5.4', contextWindow: 272_000 }, 'gpt-5-4 922000 input'],
    ['openai', { id: 'gpt-5-chat-latest', contextWindow: 128_000 }, 'gpt-5-chat-latest 128000'],
    ['openai', { id: 'gpt-4.1', contextWindow: 1_047_576 }, 'gpt-4-1 1047576'],
    ['a', { id: 'openai/gpt-6-astra', ...long }, 'gpt-6-astra 922000 input'],
    ['a', { id: 'openai/gpt-5.3-codex', ...long }, 'gpt-5-3-codex 272000 input'],
    ['a', { id: 'openai/gpt-5.4', contextWindow: 272_000 }, 'gpt-5-4 272000'],
    ['a', { id: 'google/gemini-9-flash' }, 'gemini-9-flash 64000 input'],
    ['google', { id: 'gemma-9-it' }, 'gemma-9-it 64000 input'],
    ['xai', { id: 'grok-9' }, 'grok-9 64000 input'],
    ['a', { id: 'x-ai/grok-9' }, 'grok-9 64000'],
    ['github-copilot', { id: 'claude-opus-9' }, 'claude-opus-9 60000 input'],
    ['qwen-token-plan', { id: 'qwen9-plus', contextWindow: 1_000_000 }, 'qwen9-plus 983616 input'],
    ['qwen-token-plan', { id: 'glm-9', contextWindow: 1_000_000 }, 'glm-9 1000000'],
  ])('at %s, %o', async (provider, model, written) => {
    const { hosts } = await figuresIn({ [provider]: [model] })
    const [first] = Object.values(hosts).flatMap(linesOf)
    expect(first).toBe(written)
  })

  // One host ran them stretched to 65,536 tokens, and everybody else's were believed to be.
  test('open weights take what they take without being stretched, except at a host that says otherwise', async () => {
    const providers = { a: [{ id: 'mistralai/Mistral-7B-Instruct-v0.3', contextWindow: 65_536 }] }
    expect(await figuresOf('a.example.com', providers)).toEqual(['mistral-7b-instruct-v0-3 65536'])
    expect(await figuresOf('*', providers)).toEqual(['mistral-7b-instruct-v0-3 32768'])
  })

  test('the aliases of DeepSeek’s own host mean its current model', async () => {
    const providers = { deepseek: [{ id: 'deepseek-v9' }], a: [{ id: 'deepseek-chat', contextWindow: 5000 }] }
    expect(await figuresOf('*', providers)).toEqual([
      'deepseek-chat 1000000',
      'deepseek-reasoner 1000000',
      'deepseek-v9 64000',
    ])
    expect(await figuresOf('a.example.com', providers)).toEqual(['deepseek-chat 5000'])
  })
})

describe('what is refused', () => {
  const name = '@earendil-works/pi-ai'

  test.each<[what: string, model: Model, described?: object]>([
    ['another package', { id: 'm' }, { name: 'another', version: '1.0.0', license: 'MIT' }],
    ['another licence', { id: 'm' }, { name, version: '1.0.0', license: 'BUSL-1.1' }],
    ['no licence', { id: 'm' }, { name, version: '1.0.0' }],
    ['an id that would break the file', { id: 'm` ${1}' }],
    ['an id with a line break', { id: 'm\n@ api.openai.com' }],
    ['a window that is none', { id: 'm', contextWindow: 0 }],
    ['a window that is no number of tokens', { id: 'm', contextWindow: 1.5 }],
  ])('%s', async (_what, model, described) => {
    const refused = readPackage(await packageFolder({ a: [model] }, described))
    await expect(refused).rejects.toThrow(/name|license|id|contextWindow/)
  })

  test.each(['http://localhost:11434/v1', 'http://127.0.0.1/v1', 'http://[::1]/v1', 'http://ollama/v1'])(
    'a model of %s, which is another one everywhere',
    async (baseUrl) => {
      const folder = await packageFolder({ a: [{ id: 'm', baseUrl }] })
      await expect(sourceOf(folder)).rejects.toThrow(/not a public host/)
    },
  )
})

// Needs the package, which nothing here depends on: `FOLDGATE_PI_AI=FOLDER npx vitest run test/scripts`.
const piAiFolder = process.env['FOLDGATE_PI_AI']

test.skipIf(piAiFolder === undefined)(
  'the committed figures are what the package that they name gives (skipped unless FOLDGATE_PI_AI names its folder)',
  async () => {
    const figures = new URL('../../src/models/table/window-figures.json', import.meta.url)
    expect(await sourceOf(piAiFolder ?? '')).toBe(await readFile(figures, 'utf8'))
  },
)
