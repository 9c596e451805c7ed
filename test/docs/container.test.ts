import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands, flags } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
import { storeLocation } from '../../src/storage/open-store.ts'
import { readDockerfile } from '../runs/image/dockerfile.ts'
import { root } from './pages.ts'

const text = await readFile(join(root, 'Dockerfile'), 'utf8')

const stages = readDockerfile(text)
const last = stages.at(-1)?.instructions ?? []

const instruction = (name: string): readonly string[] =>
  last.filter((each) => each.name === name).map((each) => each.text)

/** The texts of all instructions of this name, in all stages. */
const everywhere = (name: string): readonly string[] =>
  stages.flatMap(({ instructions }) =>
    instructions.filter((each) => each.name === name).map((each) => each.text),
  )

describe('the image', () => {
  test('is made in stages: the last one has no compiler, no development dependency and no npm', () => {
    expect(stages.length).toBeGreaterThan(1)
    expect(instruction('RUN').filter((command) => /\b(?:npm|npx|yarn) [a-z]/.test(command))).toEqual([])
    expect(instruction('RUN').find((command) => command.startsWith('rm '))).toMatch(
      / \/usr\/local\/lib\/node_modules \/usr\/local\/bin\/npm /,
    )
    expect(copies().filter(({ from }) => from !== null)).toEqual([
      { from: 'dependencies', paths: ['/build/node_modules'] },
      { from: 'build', paths: ['/build/dist'] },
    ])
    const dependencies = stages.find(({ name }) => name === 'dependencies')
    const without = 'npm pkg delete devDependencies peerDependenciesMeta'
    expect(dependencies?.instructions).toContainEqual({ name: 'RUN', text: without })
  })

  // Kubernetes refuses `runAsNonRoot` for a user by name: it could be root's.
  test('runs no install script, and as an unprivileged user, by number', () => {
    const npm = everywhere('RUN').filter((command) => /^npm (?!pkg )/.test(command))
    expect(npm).toEqual(['npm ci --ignore-scripts', 'npm run build', 'npm ci --ignore-scripts'])
    expect(instruction('USER')).toEqual(['1000:1000'])
  })

  // With a read-only root and no such place, records ended with the process.
  test('has one place to write to, which is its user’s and where records go by default', () => {
    const [variable] = /\bXDG_STATE_HOME=\S+/.exec(instruction('ENV').join(' ')) ?? []
    const env = { XDG_STATE_HOME: variable?.split('=')[1] }
    const location = storeLocation(settingsSchema.parse({}).store.url, { env, platform: 'linux' })
    const volume = instruction('VOLUME').join(' ')
    expect(location).toEqual({ kind: 'sqlite', path: `${volume}/foldgate.sqlite` })
    const user = instruction('USER').at(-1)
    expect(instruction('RUN')).toContain(`mkdir -m 0700 ${volume} && chown ${user} ${volume}`)
  })

  test('starts, and probes itself, by a command that Foldgate has', () => {
    expect(instruction('ENTRYPOINT')).toEqual(['["node", "dist/main.js"]'])
    const probe = /CMD \["node", "dist\/main\.js", "(\w+)"\]/.exec(instruction('HEALTHCHECK').join(' '))
    expect(Object.keys(commands)).toContain(probe?.[1])
  })

  test('listens where other containers reach it, on the port that it says, and sets only variables that are read', () => {
    expect(instruction('ENV').join(' ')).toMatch(/\bFOLDGATE_HOST=0\.0\.0\.0\b/)
    expect(instruction('EXPOSE')).toEqual([String(settingsSchema.parse({}).port)])
    const known = new Set<string | undefined>(flags.map(({ environment }) => environment))
    const named = instruction('ENV').flatMap((each) => each.match(/\bFOLDGATE_\w+(?==)/g) ?? [])
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  test('copies nothing that .dockerignore keeps out, and nothing that is not there', async () => {
    const kept = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')
    const copied = copies().flatMap(({ from, paths }) => (from === null ? paths : []))
    expect(copied.length).toBeGreaterThan(5)
    expect(copied.filter((path) => !kept.includes(`!${path}`))).toEqual([])
    for (const path of copied) await stat(join(root, path))
  })
})

/** What the stages copy: from which other stage, or null for the build's context. */
const copies = () =>
  everywhere('COPY').map((words) => {
    const [, from = null, sources = ''] = /^(?:--from=(\S+) )?(.+) \S+$/.exec(words) ?? []
    return { from, paths: sources.split(' ') }
  })
