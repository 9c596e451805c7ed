import { expect, test } from 'vitest'
import { help } from '../../src/commands/help.ts'
import { type CommandName, commands, flags, takesFlag } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'

const names = ['serve', 'run', 'demo', 'check', 'explain', 'compare', 'status', 'health', 'purge'] as const

const flagsOf = (command: CommandName): string =>
  flags.flatMap((flag) => (takesFlag(command, flag) ? flag.name : [])).join(' ')

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
  expect(lineOf('serve', 'port')).toMatch(new RegExp(`Default: ${port}; with run any free one$`))
  expect(lineOf('serve', 'admin-port')).toMatch(new RegExp(`Default: ${admin.port}$`))
  expect(lineOf('health', 'host')).toMatch(new RegExp(`Default: ${host}$`))
  expect(lineOf('serve', 'upstream')).toMatch(
    /Default: https:\/\/api\.openai\.com\/v1; with demo an upstream of its own$/,
  )
  expect(lineOf('check', 'store')).toMatch(/Default: sqlite:, a file in the state directory/)
  expect(lineOf('compare', 'pairs')).toMatch(/Default: 60$/)
  // They were told as if the command had them.
  expect(lineOf('run', 'port')).toContain('with run any free one')
  expect(lineOf('demo', 'upstream')).toContain('with demo an upstream of its own')
  expect(flagsOf('status')).toBe('port admin-host admin-port config json version help')
  expect(flagsOf('health')).toBe('host port config version help')
  expect(flagsOf('purge')).toBe('store config conversation version help')
  expect(lineOf('run', 'keep')).not.toContain('Default')
})
