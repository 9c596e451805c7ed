import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { lookUpWindow } from '../../src/commands/look-up-window.ts'
import { checkConfiguration } from '../../src/commands/check.ts'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { fencedBlocks, root } from './pages.ts'

const builtInDirectory = join(root, 'profiles')
const examples = join(root, 'examples')
/** As the start reads the examples. */
const options = { flags: {}, env: {}, cwd: examples, builtInDirectory }

test('the example of settings and its profile are valid', async () => {
  const configuration = await loadConfiguration(options)
  expect(configuration.ok ? [] : configuration.problems).toEqual([])
  const trouble: string[] = []
  const place = { env: { HOME: await temporaryFolder({}) }, platform: 'linux' }
  const { text } = await checkConfiguration({
    ...options,
    model: 'qwen3:8b',
    resolveWindow: (profile, model, settings) =>
      lookUpWindow({ settings, place, onTrouble: (message) => trouble.push(message) }, profile, model),
  })
  expect(text).toContain('profile  small-qwen')
  expect(text).toContain('16,384 tokens')
  expect(trouble).toEqual([])
})

test.each([
  'README.md',
  'docs/profiles.md',
  'docs/troubleshooting.md',
  'docs/migrate.md',
  'docs/gateways.md',
])('every profile and every setting of %s is valid, and says which file it stands in', async (page) => {
  const blocks = fencedBlocks(await readFile(join(root, page), 'utf8'), 'yaml')
  expect(blocks.length).toBeGreaterThan(0)
  const settings = blocks.filter((text) => text.startsWith('# foldgate.yaml\n'))
  const upstreams = Object.assign({}, ...settings.map(upstreamsIn))
  const wrong: unknown[] = []
  for (const text of blocks) {
    const [, file = ''] = /^# (foldgate\.yaml|profiles\/[\w-]+\.yaml)\n/.exec(text) ?? []
    if (file === '') wrong.push(['no file is named', text])
    // A profile may name an upstream that the page sets in another block.
    const around = file === 'foldgate.yaml' ? {} : { 'foldgate.yaml': stringify({ upstreams }) }
    const cwd = await temporaryFolder({ ...around, ...keyFiles, [file]: text })
    const env = { DEEPSEEK_API_KEY: 'key' }
    const configuration = await loadConfiguration({ flags: {}, env, cwd, builtInDirectory })
    if (!configuration.ok) wrong.push([text, configuration.problems])
  }
  expect(wrong).toEqual([])
})

test('the compose file mounts what Foldgate reads, gives the shutdown its time, and takes no tag that moves', async () => {
  const compose: unknown = parse(await readFile(join(examples, 'compose.yaml'), 'utf8'))
  expect(compose).toMatchObject({
    services: {
      application: { environment: { OPENAI_BASE_URL: 'http://foldgate:3653/v1' } },
      foldgate: {
        build: '..',
        environment: { FOLDGATE_CONFIG: '/etc/foldgate/foldgate.yaml' },
        volumes: ['.:/etc/foldgate:ro', 'foldgate:/var/lib/foldgate'],
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      },
    },
  })
  const { services } = composeServices.parse(compose)
  const configuration = await loadConfiguration(options)
  if (!configuration.ok) throw new Error('not valid')
  const { delay_s, timeout_s } = configuration.settings.drain
  const [, seconds = ''] = /^(\d+)s$/.exec(services['foldgate']?.stop_grace_period ?? '') ?? []
  expect(Number(seconds)).toBeGreaterThanOrEqual(delay_s + timeout_s + 5)
  const images = Object.values(services).flatMap(({ image = [] }) => image)
  expect(images.length).toBeGreaterThan(0)
  for (const image of images) expect(image).toMatch(/^[\w./-]+:\d[\w.-]*$/)
})

/** Files that settings of the pages name. */
const keyFiles = { 'secrets/openai': 'sk-openai', 'secrets/ci': 'fg-ci' }

const composeServices = z.object({
  services: z.record(
    z.string(),
    z.looseObject({ image: z.string().optional(), stop_grace_period: z.string().optional() }),
  ),
})

const upstreamsIn = (settings: string): object =>
  z.looseObject({ upstreams: z.looseObject({}).default({}) }).parse(parse(settings)).upstreams
