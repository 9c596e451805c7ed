import { z } from 'zod'

/** The keys that a schema knows, for telling people what they may have meant. */
export type KnownKeys = {
  /** The keys that may stand in the group at `path`; none where there is no such group. */
  readonly at: (path: readonly PropertyKey[]) => readonly string[]
  /** The dotted paths under which `key` may stand, anywhere in the schema. */
  readonly pathsOf: (key: string) => readonly string[]
}

/** Reads the known keys off a schema. Names that the user chooses appear as `NAME`, list entries as `[]`. */
export function knownKeys(schema: z.ZodType): KnownKeys {
  const root = z.toJSONSchema(schema, { io: 'input' })
  const paths = allPaths(root, '')
  return {
    at: (path) => Object.keys(nodeAt(root, path)?.properties ?? {}),
    pathsOf: (key) => paths.filter((path) => path === key || path.endsWith(`.${key}`)),
  }
}

// --- internal ---

type Node = z.core.JSONSchema.BaseSchema

function nodeAt(root: Node, path: readonly PropertyKey[]): Node | undefined {
  let node: Node | undefined = root
  for (const step of path) {
    if (node === undefined) return undefined
    node = typeof step === 'number' ? entryOf(node) : (ownChild(node, String(step)) ?? valueOf(node))
  }
  return node
}

function allPaths(node: Node, prefix: string): string[] {
  const paths: string[] = []
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (typeof child === 'boolean') continue
    const path = prefix === '' ? key : `${prefix}.${key}`
    paths.push(path, ...allPaths(child, path))
    const value = valueOf(child)
    if (value !== undefined) paths.push(...allPaths(value, `${path}.NAME`))
    const entry = entryOf(child)
    if (entry !== undefined) paths.push(...allPaths(entry, `${path}[]`))
  }
  return paths
}

function ownChild(node: Node, key: string): Node | undefined {
  const { properties } = node
  if (properties === undefined || !Object.hasOwn(properties, key)) return undefined
  return asNode(properties[key])
}

function valueOf(node: Node): Node | undefined {
  return asNode(node.additionalProperties)
}

function entryOf(node: Node): Node | undefined {
  return Array.isArray(node.items) ? undefined : asNode(node.items)
}

function asNode(schema: Node | boolean | undefined): Node | undefined {
  return typeof schema === 'object' ? schema : undefined
}
