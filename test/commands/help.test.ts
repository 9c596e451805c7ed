import { expect, test } from 'vitest'
import { help } from '../../src/commands/help.ts'
import { commands, flags, takesFlag } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'

const names = ['serve', 'run', 'demo', 'check', 'explain', 'compare', 'status', 'health', 'purge'] as const

/** The line of a flag. */
const lineOf = (command: (typeof names)[number], flag: string): string =>
  help(command).match(new RegExp(`^  --${flag} .*$`, 'm'))?.[0] ?? ''

test('there is one of every command', () => {
  expect(Object.keys(commands)).toEqual(names)
})

// All but one printed the general page, without a default.
test.each(names)('%s has its own, with every flag that it takes and none of the others', (command) => {
  const text = help(command)
  for (const flag of flags)
    expect([flag.name, lineOf(command, flag.name) !== '']).toEqual([flag.name, takesFlag(command, flag)])
  expect(text).toContain(commands[command].usage)
  expect(text).toContain(commands[command].meaning)
})

test('a flag is told with its default, from the table or from the settings', () => {
  const { port, admin, host } = settingsSchema.parse({})
  expect(lineOf('serve', 'port')).toMatch(new RegExp(`Default: ${port}$`))
  expect(lineOf('serve', 'admin-port')).toMatch(new RegExp(`Default: ${admin.port}$`))
  expect(lineOf('health', 'host')).toMatch(new RegExp(`Default: ${host}$`))
  expect(lineOf('serve', 'upstream')).toMatch(/Default: https:\/\/api\.openai\.com\/v1$/)
  expect(lineOf('check', 'store')).toMatch(/Default: sqlite:, a file in the state directory/)
  expect(lineOf('compare', 'pairs')).toMatch(/Default: 60$/)
  expect(lineOf('run', 'port')).toContain('run takes a free one')
  expect(lineOf('run', 'keep')).not.toContain('Default')
})
