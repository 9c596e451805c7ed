import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as podDisruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { z } from 'zod'

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
export function kubernetesFaults(object: unknown): readonly string[] {
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

// --- internal ---

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
