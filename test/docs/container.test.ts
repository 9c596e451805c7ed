import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands, flags } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
import { storeLocation } from '../../src/stores/store-location.ts'
import { root } from './pages.ts'

const text = await readFile(join(root, 'Dockerfile'), 'utf8')

/** The instructions, continued lines joined, by stage. */
const stages = text
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line))
  .reduce<string[][]>((all, line) => {
    if (line.startsWith('FROM ')) all.push([line])
    else all.at(-1)?.push(line)
    return all
  }, [])
const last = stages.at(-1) ?? []

function instruction(name: string): readonly string[] {
  return last.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
}

describe('the image', () => {
  test('is made in stages: the last one has no compiler and no development dependency', () => {
    expect(stages.length).toBeGreaterThan(1)
    expect(last.some((line) => /\bnpm\b/.test(line))).toBe(false)
    expect(stages.flat().filter((line) => line.includes('npm ci'))).toContain(
      'RUN npm ci --omit=dev --ignore-scripts',
    )
  })

  test('runs as an unprivileged user', () => {
    const user = instruction('USER').at(-1)
    expect(user).toBeDefined()
    expect(user).not.toMatch(/^(?:root|0)\b/)
  })

  // With a read-only root and no such place, records ended with the process.
  test('has one place to write to, which is its user’s and where records go by default', () => {
    const [variable] = /\bXDG_STATE_HOME=\S+/.exec(instruction('ENV').join(' ')) ?? []
    const location = storeLocation(settingsSchema.parse({}).store.url, {
      env: { XDG_STATE_HOME: variable?.split('=')[1] },
      platform: 'linux',
    })
    const volume = instruction('VOLUME').join(' ')
    expect(location).toEqual({ kind: 'sqlite', path: `${volume}/foldgate.sqlite` })
    const user = instruction('USER').at(-1)
    expect(instruction('RUN')).toContain(`mkdir -m 0700 ${volume} && chown ${user}:${user} ${volume}`)
  })

  test('starts, and probes itself, by a command that Foldgate has', () => {
    expect(instruction('ENTRYPOINT')).toEqual(['["node", "dist/main.js"]'])
    const probe = /CMD \["node", "dist\/main\.js", "(\w+)"\]/.exec(instruction('HEALTHCHECK').join(' '))
    expect(Object.keys(commands)).toContain(probe?.[1])
  })

  test('listens where other containers reach it, on the port that it says', () => {
    expect(instruction('ENV').join(' ')).toMatch(/\bFOLDGATE_HOST=0\.0\.0\.0\b/)
    expect(instruction('EXPOSE')).toEqual([String(settingsSchema.parse({}).port)])
  })

  test('sets only variables that are read', () => {
    const known = new Set<string | null>(flags.map(({ environment }) => environment))
    const named = [
      ...instruction('ENV')
        .join(' ')
        .matchAll(/\b(FOLDGATE_\w+)=/g),
    ].map((found) => found[1] ?? '')
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  test('copies nothing that .dockerignore keeps out, and nothing that is not there', async () => {
    const kept = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')
    const copied = stages
      .flat()
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1))
    expect(copied.length).toBeGreaterThan(5)
    expect(copied.filter((path) => !kept.includes(`!${path}`))).toEqual([])
    for (const path of copied) await stat(join(root, path))
  })
})
