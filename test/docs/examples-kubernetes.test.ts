import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { commands, flags } from '../../src/config/flags.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
import { startWarnings } from '../../src/commands/start-lines.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { containersOf, kinds, kubernetesFiles, ofKind, podsIn } from './kubernetes-objects.ts'
import type { Container, KubernetesFile } from './kubernetes-objects.ts'
import { root } from './pages.ts'

const port = settingsSchema.parse({}).port
const variables = new Set<string | undefined>(flags.map(({ environment }) => environment))

/** The pod that Foldgate runs in, and its container. */
async function foldgateIn(file: KubernetesFile) {
  for (const pod of (await podsIn(file)).values()) {
    const container = containersOf(pod).find(({ name }) => name === 'foldgate')
    if (container !== undefined) return { pod, container }
  }
  throw new Error(`${file} has no container "foldgate"`)
}

const valueOf = (container: Container, name: string): string | undefined =>
  container.env.find((variable) => variable.name === name)?.value

/**
 * What Foldgate finds in its container: the files that the pod mounts, in a folder in place of the root, and its
 * variables. Keys of Secrets are made up.
 */
async function startOf(file: KubernetesFile) {
  const { pod, container } = await foldgateIn(file)
  const folder = await temporaryFolder()
  const place = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text.replaceAll(/(?<=_file: )\//g, `${folder}/`))
  }
  const held = new Map((await ofKind(file, kinds.ConfigMap)).map((map) => [map.metadata.name, map.data]))
  for (const { name, mountPath } of container.volumeMounts) {
    const { configMap, secret } = pod.volumes.find((each) => each.name === name) ?? {}
    for (const { key, path } of configMap?.items ?? []) {
      const text = held.get(configMap?.name ?? '')?.[key]
      if (text === undefined) throw new Error(`no key "${key}" for ${path}`)
      await place(join(mountPath, path), text)
    }
    if (secret === undefined) continue
    for (const key of ['provider', 'application']) await place(join(mountPath, key), `made-up-${key}`)
  }
  const env: Record<string, string> = {}
  for (const { name, value } of container.env) if (value !== undefined) env[name] = value
  if (env['FOLDGATE_HOST'] === undefined) env['FOLDGATE_HOST'] = '0.0.0.0'
  env['FOLDGATE_CONFIG'] = join(folder, env['FOLDGATE_CONFIG'] ?? '')
  const builtInDirectory = join(root, 'profiles')
  const found = await loadConfiguration({ flags: {}, env, cwd: folder, builtInDirectory })
  if (!found.ok) throw new Error(JSON.stringify(found.problems))
  return { settings: found.settings, profiles: found.files.profiles }
}

describe.each(kubernetesFiles)('%s', (file) => {
  test('has settings and profiles that Foldgate starts with, time for the shutdown and memory for its limits', async () => {
    const { pod, container } = await foldgateIn(file)
    const { settings, profiles } = await startOf(file)
    expect(settings.upstreams.get('default')?.url).toBe('https://api.openai.com/v1')
    // The profile of the ConfigMap is read, not only the built-in one of its name.
    expect(profiles.get('default')?.keep.recent_messages).toBe(12)
    const { delay_s, timeout_s } = settings.drain
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(delay_s + timeout_s + 5)
    // V8 takes half of a container's memory for its heap.
    const [, amount = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(container.resources.limits?.memory ?? '') ?? []
    const allBytes = Number(amount) * 1024 ** (unit === 'Gi' ? 3 : 2)
    expect(startWarnings(settings, settings, { allBytes, heapBytes: allBytes / 2 })).toEqual([])
    const { bytes_in_flight_mb, last_bodies_mb } = settings.limits
    expect((bytes_in_flight_mb + last_bodies_mb) * 1024 ** 2).toBeLessThanOrEqual(allBytes / 2)
  })

  test('sets only variables that Foldgate reads, or that stand in one of them; no Service sets any', async () => {
    const { pod, container } = await foldgateIn(file)
    const values = container.env.map(({ value }) => value ?? '').join(' ')
    const unknown = container.env.filter(({ name }) => !variables.has(name) && !values.includes(`$(${name})`))
    expect(unknown).toEqual([])
    // A Service named foldgate makes Kubernetes set FOLDGATE_PORT=tcp://10.… in every pod of its namespace.
    expect(pod.enableServiceLinks).toBe(false)
  })

  test('runs everything without root, capabilities or a way to get them, Foldgate on a read-only root', async () => {
    for (const pod of (await podsIn(file)).values()) {
      const unprivileged = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
      expect(pod.securityContext).toMatchObject(unprivileged)
      for (const container of containersOf(pod)) {
        // No tag that moves.
        expect(container.image).toMatch(/^[\w./-]+:\d[\w.-]*$/)
        const context = { ...pod.securityContext, ...container.securityContext }
        expect(context).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
        expect(context['runAsUser']).toBeGreaterThan(0)
      }
    }
    const { pod, container } = await foldgateIn(file)
    const context = { ...pod.securityContext, ...container.securityContext }
    expect(context).toMatchObject({ readOnlyRootFilesystem: true, runAsUser: 1000, runAsGroup: 1000 })
  })

  test('mounts only volumes that it has, and selects pods that it makes', async () => {
    for (const { spec } of await ofKind(file, kinds.Deployment)) {
      const { spec: pod, metadata } = spec.template
      const volumes = pod.volumes.map(({ name }) => name)
      const mounted = containersOf(pod).flatMap((each) => each.volumeMounts.map(({ name }) => name))
      expect([...new Set(mounted)].sort()).toEqual(volumes.toSorted())
      expect(metadata.labels).toMatchObject(spec.selector.matchLabels)
      for (const { labelSelector } of pod.topologySpreadConstraints)
        expect(labelSelector.matchLabels).toEqual(spec.selector.matchLabels)
    }
  })
})

test('the sidecar is native, listens on loopback alone and is probed by a command that Foldgate has', async () => {
  const { pod, container } = await foldgateIn('sidecar.yaml')
  expect(pod.initContainers).toEqual([container])
  expect(container).toMatchObject({ restartPolicy: 'Always', ports: [], startupProbe: expect.anything() })
  expect(valueOf(container, 'FOLDGATE_HOST')).toBe('127.0.0.1')
  const [application = expect.fail()] = pod.containers
  expect(valueOf(application, 'OPENAI_BASE_URL')).toBe(`http://127.0.0.1:${port}/v1`)
  expect(await ofKind('sidecar.yaml', kinds.Service)).toEqual([])
  for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
    const [node, script, command = ''] = probe?.exec?.command ?? []
    expect([node, script]).toEqual(['node', 'dist/main.js'])
    expect(Object.keys(commands)).toContain(command)
    // It may take the time that it gives itself.
    expect(probe?.timeoutSeconds).toBeGreaterThan(3)
    expect(probe).not.toHaveProperty('httpGet')
  }
  // It writes its records where the image has its volume.
  const writable = container.volumeMounts.filter(({ readOnly }) => !readOnly)
  expect(writable.map(({ mountPath }) => mountPath)).toEqual(['/var/lib/foldgate'])
})

describe('the deployment', () => {
  test('has three replicas, of which two stay whatever is rolled out or drained', async () => {
    const deployments = await ofKind('deployment.yaml', kinds.Deployment)
    const foldgate = deployments.find(({ metadata }) => metadata.name === 'foldgate')
    expect(foldgate?.spec.replicas).toBe(3)
    expect(foldgate?.spec.strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } })
    const [budget, ...others] = await ofKind('deployment.yaml', kinds.PodDisruptionBudget)
    expect(others).toEqual([])
    expect(budget?.spec.minAvailable).toBe(2)
    expect(budget?.spec.selector).toEqual(foldgate?.spec.selector)
  })

  test('has Services that lead to ports which the pods have', async () => {
    const deployments = await ofKind('deployment.yaml', kinds.Deployment)
    const services = await ofKind('deployment.yaml', kinds.Service)
    const namesOf = (objects: typeof deployments | typeof services) =>
      objects.map((each) => each.metadata.name)
    expect(namesOf(services)).toEqual(namesOf(deployments))
    for (const { spec } of services) {
      const led = deployments.filter(({ spec: { template } }) =>
        Object.entries(spec.selector).every(([name, value]) => template.metadata.labels[name] === value),
      )
      expect(led).toHaveLength(1)
      const ports = led.flatMap((each) => containersOf(each.spec.template.spec).flatMap((one) => one.ports))
      for (const { port: asked, targetPort } of spec.ports)
        expect(ports).toContainEqual({ name: targetPort, containerPort: asked })
    }
  })

  test('probes what Foldgate answers, on the port that it listens on, and serves until every node knows its end', async () => {
    const { pod, container } = await foldgateIn('deployment.yaml')
    const { settings } = await startOf('deployment.yaml')
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
    const asked = ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'http' }))
    expect(probes.map((probe) => probe?.httpGet)).toEqual(asked)
    expect(settings.drain.delay_s).toBeGreaterThan(container.readinessProbe?.periodSeconds ?? 10)
    // The provider's key is in a file, and nobody is let in without a key of its own.
    expect(settings.client_keys.map(({ name }) => name)).toEqual(['application'])
    expect(container.env.map(({ name }) => name).filter((name) => /KEY/.test(name))).toEqual([])
    expect(pod.volumes.find(({ name }) => name === 'keys')?.secret).toMatchObject({ defaultMode: 0o440 })
  })

  test('shares one store, whose password stands in no file', async () => {
    const { container } = await foldgateIn('deployment.yaml')
    const address = valueOf(container, 'FOLDGATE_STORE') ?? ''
    const [, variable, host, at] = /^redis:\/\/:\$\((\w+)\)@([\w-]+):(\d+)$/.exec(address) ?? []
    // Kubernetes fills in only variables that stand before the one that names them.
    const names = container.env.map(({ name }) => name)
    expect(names.indexOf(variable ?? '')).toBeLessThan(names.indexOf('FOLDGATE_STORE'))
    const secret = container.env.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef
    const store = (await podsIn('deployment.yaml')).get('foldgate-store')
    const asked = store?.containers[0]?.env.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef
    expect(secret).toBeDefined()
    expect(asked).toEqual(secret)
    const services = await ofKind('deployment.yaml', kinds.Service)
    const addresses = services.map(({ metadata, spec }) => `${metadata.name}:${spec.ports[0]?.port}`)
    expect(addresses).toContain(`${host}:${at}`)
  })
})
