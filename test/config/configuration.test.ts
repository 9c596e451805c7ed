import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatProblem } from '../../src/config/problem.ts'
import { readProfileFiles } from '../../src/config/configuration.ts'
import { profileSchema } from '../../src/profiles/schema.ts'
import { temporaryFolder } from './temporary-folder.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

async function read(files: Readonly<Record<string, string>>, upstreams: readonly string[] = ['default']) {
  const directory = await temporaryFolder(files)
  const options = { builtInDirectory, directory, shownDirectory: 'profiles', upstreams: new Set(upstreams) }
  const result = await readProfileFiles(options)
  return { ...result, lines: result.problems.map(formatProblem) }
}

test('the built-in profiles are valid, and the default one is the defaults', async () => {
  const { profiles, lines } = await read({})
  expect(lines).toEqual([])
  expect([...profiles.keys()].sort()).toEqual(['default', 'small-local'])
  expect(profiles.get('default')).toEqual({ ...profileSchema.parse({}), name: 'default' })
  // No model gets another one than default by itself.
  for (const { models, headers } of profiles.values()) expect([models, headers]).toEqual([[], {}])
})

const keysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, child]) => [key, ...keysOf(child)])
    : []

test('default.yaml, the template that people copy, shows every key', async () => {
  const text = await readFile(join(builtInDirectory, 'default.yaml'), 'utf8')
  for (const key of keysOf(profileSchema.parse({}))) expect(text).toMatch(new RegExp(`\\b${key}:`))
})

test("a file's name is the profile's name; YAML and JSON are read, other files are not", async () => {
  const { profiles, lines } = await read({
    'a.yaml': 'trigger: off\n',
    'b.yml': '',
    'c.json': '{"models": ["m"]}',
    '.a.yaml.swp': ':',
    '.hidden.yaml': ':::',
    'profile.schema.json': '{}',
    'notes.md': '# notes',
    'a.yaml~': ':',
  })
  expect(lines).toEqual([])
  expect([...profiles.keys()].sort()).toEqual(['a', 'b', 'c', 'default', 'small-local'])
  expect(profiles.get('a')?.trigger).toBe('off')
})

test("the user's profile replaces a built-in one of the same name, for those that extend it as well", async () => {
  const { profiles } = await read({ 'default.yaml': 'observe: true\n' })
  expect(profiles.get('small-local')?.observe).toBe(true)
})

test('the problems of all files are told at once', async () => {
  const { lines } = await read({
    'a.yaml': '# comment\ntrigger: 2.5\nkeep: {recent: 3}\n',
    'b.yaml': 'trigger: 0.5\ntrigger: 0.6\n',
    'c.yaml': 'extends: b\nmodels: [*qwen]\n',
    'd.yaml': '\ttarget: 1\n',
    'e.json': '{"observe": "yes"}',
  })
  expect(lines).toEqual([
    'profiles/a.yaml:2:10: "trigger" must be a ratio above 0 and up to 1, or a whole number of tokens above 1, or off; found 2.5',
    'profiles/a.yaml:3:8: unknown key "recent" in "keep" — did you mean "recent_messages"?',
    'profiles/b.yaml:2:1: cannot be read: this key stands twice in its group — remove one of the two',
    'profiles/c.yaml:2:10: cannot be read: this alias (*name) has no anchor before it — put text that begins with * in quotes',
    'profiles/d.yaml:1:1: cannot be read: a tab in the indentation — indent with spaces',
    'profiles/e.json:1:13: "observe" must be true or false; found "yes"',
  ])
})

// A few lines of aliases of aliases unfold into gigabytes.
test('a file of nested aliases is refused', async () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
    bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`)
  }
  const { lines } = await read({ 'x.yaml': bomb.join('\n') })
  expect(lines).toEqual(['profiles/x.yaml: its aliases (*name) lead too far — write the values out'])
})

// A proxy watches the folder. Whoever put another program's data there had it stand still for three minutes, while every
// one of twenty thousand keys was compared with all the others, and looked for among them.
test('a file with thousands of keys is the wrong one', async () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`)
  const { lines } = await read({ 'x.yaml': keys.join('\n'), 'y.json': `{"a": "${'x'.repeat(300_000)}"}` })
  expect(lines).toEqual([
    'profiles/x.yaml: holds more than 5000 keys — is it the right file?',
    'profiles/y.json: is larger than 262144 bytes',
  ])
})

// What is wrong is told on a terminal, which obeyed what stood in the file: here it would have cleared the screen.
test('what a terminal would act on is not printed', async () => {
  const { lines } = await read({ 'x.yaml': '"\u009b2J": 1\nmodels: ["\u0085"]\ntrigger: "\u007f"\n' })
  expect(lines[0]).toContain(String.raw`unknown key "\u009b2J"`)
  for (const line of lines) expect(line).not.toMatch(/\p{Cc}/u)
})

test('an upstream that foldgate.yaml does not have is told where it is named', async () => {
  const files = { 'a.yaml': 'upstream: cheep\n', 'b.yaml': 'extends: a\nsummary: {upstream: other}\n' }
  const { lines } = await read(files, ['default', 'cheap'])
  expect(lines).toEqual([
    'profiles/a.yaml:1:11: "upstream" names the upstream "cheep", which foldgate.yaml does not have — did you mean "cheap"?',
    'profiles/b.yaml:2:21: "summary.upstream" names the upstream "other", which foldgate.yaml does not have — foldgate.yaml has: cheap, default',
  ])
})

test('a fallback has to name a model, and an upstream that there is', async () => {
  const files = {
    'b.yaml': 'models: [small-1]\noverflow: {fallback: {model: small-1, upstream: clowd}}\n',
    'c.yaml': 'models: ["small-2*"]\noverflow: {fallback: {modle: large}}\n',
  }
  const { lines } = await read(files, ['default', 'cloud'])
  expect(lines).toEqual([
    'profiles/b.yaml:2:49: "overflow.fallback.upstream" names the upstream "clowd", which foldgate.yaml does not have — did you mean "cloud"?',
    'profiles/c.yaml:2:22: "overflow.fallback.model" is missing; it must be text: a model\'s name',
    'profiles/c.yaml:2:23: unknown key "modle" in "overflow.fallback" — did you mean "model"?',
  ])
})

test('two files for one profile are a problem', async () => {
  const { lines } = await read({ 'x.json': '{}', 'x.yaml': '' })
  expect(lines).toEqual([
    'profiles/x.yaml: there is another file for the profile "x" — remove one of the two',
  ])
})

test('a folder that is not there is none, unless it has to be', async () => {
  const directory = join(await temporaryFolder(), 'nowhere')
  const options = { builtInDirectory, directory, upstreams: new Set(['default']) }
  expect((await readProfileFiles(options)).problems).toEqual([])
  expect((await readProfileFiles({ ...options, required: true })).problems).toHaveLength(1)
})
