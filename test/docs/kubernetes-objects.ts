import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { root } from './pages.ts'

/** Files of Kubernetes objects among the examples. */
export const kubernetesFiles = ['sidecar.yaml', 'deployment.yaml'] as const

export type KubernetesFile = (typeof kubernetesFiles)[number]

const labels = z.record(z.string(), z.string())
const port = z.union([z.number(), z.string()])

const probe = z.looseObject({
  exec: z.object({ command: z.array(z.string()) }).optional(),
  httpGet: z.object({ path: z.string(), port }).optional(),
  periodSeconds: z.number().optional(),
  timeoutSeconds: z.number().optional(),
})

/** Whose names others refer to. */
const named = { name: z.string() }

const variable = z.object({
  ...named,
  value: z.string().optional(),
  valueFrom: z.object({ secretKeyRef: z.object({ ...named, key: z.string() }) }).optional(),
})

const mount = z.object({ ...named, mountPath: z.string(), readOnly: z.boolean().default(false) })

const container = z.looseObject({
  ...named,
  image: z.string(),
  restartPolicy: z.string().optional(),
  env: z.array(variable).default([]),
  ports: z.array(z.object({ ...named, containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  resources: z.looseObject({ limits: z.looseObject({ memory: z.string() }).optional() }).default({}),
  securityContext: z.looseObject({}).default({}),
  volumeMounts: z.array(mount).default([]),
})

const items = z.array(z.object({ key: z.string(), path: z.string() }))

const volume = z.looseObject({
  ...named,
  configMap: z.object({ ...named, items }).optional(),
  secret: z.looseObject({ secretName: z.string() }).optional(),
})

const selector = z.object({ matchLabels: labels })

const podSpec = z.looseObject({
  enableServiceLinks: z.boolean().default(true),
  terminationGracePeriodSeconds: z.number().default(30),
  securityContext: z.looseObject({}).default({}),
  initContainers: z.array(container).default([]),
  containers: z.array(container),
  volumes: z.array(volume).default([]),
  topologySpreadConstraints: z.array(z.looseObject({ labelSelector: selector })).default([]),
})

const anyObject = z.looseObject({ kind: z.string() })

const metadata = z.looseObject(named)

const servicePort = z.object({ ...named, port: z.number(), targetPort: port })

/** The kinds of objects that our tests look at, with what they look at. */
export const kinds = {
  ConfigMap: z.looseObject({ kind: z.literal('ConfigMap'), metadata, data: labels }),
  Deployment: z.looseObject({
    kind: z.literal('Deployment'),
    metadata,
    spec: z.looseObject({
      replicas: z.number(),
      strategy: z.looseObject({}).optional(),
      selector,
      template: z.object({ metadata: z.looseObject({ labels }), spec: podSpec }),
    }),
  }),
  Service: z.looseObject({
    kind: z.literal('Service'),
    metadata,
    spec: z.looseObject({ selector: labels, ports: z.array(servicePort) }),
  }),
  PodDisruptionBudget: z.looseObject({
    kind: z.literal('PodDisruptionBudget'),
    metadata,
    spec: z.looseObject({ minAvailable: z.number(), selector }),
  }),
}

export type Container = z.output<typeof container>
export type PodSpec = z.output<typeof podSpec>

/** The objects of an example, as they stand in the file. */
export async function objectsIn(file: KubernetesFile): Promise<readonly unknown[]> {
  const text = await readFile(join(root, 'examples/kubernetes', file), 'utf8')
  // As Kubernetes reads it: 0440 is octal, and no is false.
  return parseAllDocuments(text, { version: '1.1' }).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'))
    return document.toJS()
  })
}

/** Those of one of these kinds. */
export async function ofKind<Shape extends z.core.$ZodLooseShape & { readonly kind: z.ZodLiteral<string> }>(
  file: KubernetesFile,
  schema: z.ZodObject<Shape, z.core.$loose>,
): Promise<readonly z.output<z.ZodObject<Shape, z.core.$loose>>[]> {
  const objects = await objectsIn(file)
  return objects
    .filter((object) => anyObject.parse(object).kind === schema.shape.kind.value)
    .map((object) => schema.parse(object))
}

/** The pods of an example, by the Deployment's name. */
export async function podsIn(file: KubernetesFile): Promise<ReadonlyMap<string, PodSpec>> {
  const deployments = await ofKind(file, kinds.Deployment)
  return new Map(deployments.map(({ metadata: { name }, spec }) => [name, spec.template.spec]))
}

/** The containers of a pod, those that begin first before the others. */
export const containersOf = (pod: PodSpec): readonly Container[] => [...pod.initContainers, ...pod.containers]
