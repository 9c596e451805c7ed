import { expect, test } from 'vitest'
import { z } from 'zod'
import { profileSchema } from '../../src/profiles/schema.ts'
import { flags } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'

test('profile.schema.json is what the schema says', async () => {
  await expect(profileJsonSchema()).toMatchFileSnapshot('../../profiles/profile.schema.json')
})

test('settings.schema.json is what the schema says', async () => {
  await expect(settingsJsonSchema()).toMatchFileSnapshot('../../profiles/settings.schema.json')
})

test('docs/configuration.md lists what the schemas and the flag table hold', async () => {
  await expect(configurationPage()).toMatchFileSnapshot('../../docs/configuration.md')
})

/** The editor's schema of a profile, as checked in at profiles/profile.schema.json. */
export const profileJsonSchema = (): string =>
  schemaText('Foldgate profile', 'One file is one profile; the file is named as the profile.', profileSchema)

/** The editor's schema of foldgate.yaml, as checked in at profiles/settings.schema.json. */
export const settingsJsonSchema = (): string =>
  schemaText('Foldgate settings', 'foldgate.yaml', settingsSchema)

/** The page that lists every flag, variable and key, as checked in at docs/configuration.md. */
export function configurationPage(): string {
  return `${[
    '# Configuration',
    'Generated from the schemas in `src/profiles/schema.ts` and `src/config/`; `npx vitest run test/config -u` writes it anew.',
    'Flags go before environment variables, these before `foldgate.yaml`, that before the defaults. A key that is not listed here is refused, with its line and what was probably meant; `foldgate check` tells without starting.',
    '## Flags and environment',
    flagTable(),
    '`HTTPS_PROXY`, `NO_PROXY` and `NODE_EXTRA_CA_CERTS` are honoured.',
    '## Settings: `foldgate.yaml`',
    'All optional. `NAME` stands for a name of your own, `[]` for an entry of a list. For completion in an editor, make this the first line: `# yaml-language-server: $schema=PATH/TO/foldgate/profiles/settings.schema.json`.',
    keyTable(settingsSchema),
    '### What confines a client key',
    ...confinement,
    '## Profiles: `profiles/NAME.yaml`',
    'One file is one profile, all keys optional; JSON is YAML. Copy `profiles/default.yaml` to begin with. Thresholds are ratios up to 1 and tokens above. A request gets the profile that it names in `x-foldgate-profile`, else the most specific match: one whose `headers` match before one without, then the pattern with the most literal characters, an exact name first; else `default`.',
    keyTable(profileSchema),
  ].join('\n\n')}\n`
}

const confinement = [
  'A key whose `profiles` are not all of them reaches models only by a chat completion, or a request for a response or a message, that Foldgate has read and that belongs to one of its profiles. Everything else is refused with 403, and nothing of it goes to an upstream:',
  [
    '- `endpoint_not_allowed`: another path or method, whatever it would do (completions, `count_tokens`, embeddings, images, files, batches), and another spelling of `…/chat/completions`, `…/responses`, `…/messages` or `/api/chat`; a query other than `api-version` and `beta`; a body that is said to be no JSON or is encoded other than by gzip or zstd; a header by which servers and gateways take another method, path or model. `GET …/models`, `GET …/models/ID` and `GET /api/tags` go on.',
    '- `unread_not_allowed`: a body that cannot be read with certainty, and `x-foldgate-bypass`.',
    '- `model_not_allowed`: a `model` that is no single name, and every field that is not known to choose none: the documented ones of OpenAI and Anthropic and the usual ones of vLLM, SGLang, llama.cpp, Ollama and providers go on ([which](../src/formats/chat/chat.ts), [for responses](../src/formats/responses/responses.ts), [for messages](../src/formats/messages/messages.ts), [for Ollama](../src/formats/ollama/ollama.ts)), `models`, `fallbacks`, `lora_path`, `api_base` or a field nobody here knows do not, and the message names it; a profile asked for by name with a model that its `models` do not list.',
    '- `override_not_allowed`: a model, deployment or header that belongs to another profile. Where the path names a deployment and the body a model, both have to be of its profiles.',
  ].join('\n'),
  'So the models of such a key are those that `models` of its profiles list. A profile without `models` is for any model, and `default` for each that no other profile lists: a key that has one of these is confined to how conversations are treated, not to models. A name is compared as it is written: a provider that knows a model by a second name serves it by that name, too, where a pattern takes it in. What a gateway behind the upstream makes of a name, of tags in `metadata`, or of a header that is not known here, has to be confined there; tools that a provider runs itself (web search, code) are not confined. `upstreams` confines the path `/u/NAME/…` alone: a key that is to reach one upstream needs both.',
  'A key whose `overrides` lack `bypass` may use all paths and models of its profiles, but no conversation of it goes past Foldgate: a conversation that cannot be read is `unread_not_allowed`, and any other path is `endpoint_not_allowed` unless it is known to carry no conversation: what reads or deletes (GET, HEAD, OPTIONS, DELETE), embeddings, files, uploads, images, audio, vector stores, moderations, rerank, score, classify, tokenize, detokenize, `count_tokens`, and messages of the Assistants API, which are stored. The other overrides confine the headers alone.',
] as const

type Node = z.core.JSONSchema.BaseSchema

function schemaText(title: string, description: string, schema: z.ZodType): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return `${JSON.stringify({ $schema, title, description, ...rest }, null, 2)}\n`
}

function flagTable(): string {
  const schema = z.toJSONSchema(settingsSchema, { io: 'input' })
  const rows = flags.map((flag) => {
    const short = flag.short === undefined ? '' : `\`-${flag.short}\`, `
    const name = `${short}\`--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}\``
    const only =
      flag.commands === undefined ? '' : ` Only for ${flag.commands.map((each) => `\`${each}\``).join(', ')}.`
    return [
      name,
      flag.environment === undefined ? '' : code(flag.environment),
      flag.setting === undefined ? '' : code(flag.setting.join('.')),
      flag.defaultText ?? (flag.setting === undefined ? '' : defaultAt(schema, flag.setting)),
      `${flag.meaning}${only}`,
    ]
  })
  return table(['flag', 'environment', 'key', 'default', 'meaning'], rows)
}

function defaultAt(schema: Node, path: readonly string[]): string {
  let node: Node | undefined = schema
  for (const step of path) node = asNode(node?.properties?.[step])
  return defaultText(node ?? {})
}

const keyTable = (schema: z.ZodType): string =>
  table(['key', 'type', 'default', 'meaning'], keyRows(z.toJSONSchema(schema, { io: 'input' }), ''))

function keyRows(node: Node, prefix: string): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = []
  for (const [key, value] of Object.entries(node.properties ?? {})) {
    const child = asNode(value) ?? {}
    const path = prefix === '' ? key : `${prefix}.${key}`
    const isGroup = child.properties !== undefined
    const isRequired = node.required?.includes(key) === true
    const standard = isRequired ? 'required' : isGroup ? '' : defaultText(child)
    rows.push([code(path), isGroup ? 'group' : typeText(child), standard, child.description ?? ''])
    rows.push(...keyRows(child, path))
    for (const each of child.anyOf ?? []) rows.push(...keyRows(asNode(each) ?? {}, path))
    rows.push(...keyRows(asNode(child.additionalProperties) ?? {}, `${path}.NAME`))
    rows.push(...keyRows(entryOf(child) ?? {}, `${path}[]`))
  }
  return rows
}

/** As it would be written in the file. */
function defaultText(node: Node): string {
  if (node.default === undefined) return ''
  return code(typeof node.default === 'string' ? node.default : JSON.stringify(node.default))
}

function typeText(node: Node): string {
  if (node.anyOf !== undefined) return node.anyOf.map((each) => typeText(asNode(each) ?? {})).join(' or ')
  if (node.const !== undefined) return code(String(node.const))
  if (node.enum !== undefined) return node.enum.map((word) => code(String(word))).join(', ')
  const types = Array.isArray(node.type) ? node.type : [node.type]
  return types.map((type) => typeName(type, node)).join(' or ')
}

function typeName(type: string | undefined, node: Node): string {
  switch (type) {
    case 'string':
      return 'text'
    case 'integer':
      return 'whole number'
    case 'boolean':
      return '`true`, `false`'
    case 'null':
      return '`null`'
    case 'array':
      return `list of ${typeText(entryOf(node) ?? {})}`
    case 'object':
      return node.properties === undefined
        ? `map to ${typeText(asNode(node.additionalProperties) ?? {})}`
        : 'group'
    case undefined:
      return 'any'
    default:
      return type
  }
}

const entryOf = (node: Node): Node | undefined => (Array.isArray(node.items) ? undefined : asNode(node.items))

const asNode = (schema: Node | boolean | undefined): Node | undefined =>
  typeof schema === 'object' ? schema : undefined

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [tableLine(header), `|${'---|'.repeat(header.length)}`, ...rows.map(tableLine)].join('\n')

const tableLine = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`

const code = (text: string): string => `\`${text}\``
