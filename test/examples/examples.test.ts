import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { kubernetesFiles, objectsIn } from '../docs/kubernetes-objects.ts'
import { root } from '../docs/pages.ts'
import { composeFaults } from './compose-schema.ts'
import { kubernetesFaults } from './kubernetes-schema.ts'

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
function withSidecar(sidecar: object) {
  return {
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
  }
}

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
  ])('of Kubernetes say of %j: %j', (sidecar, faults) => {
    expect(kubernetesFaults(withSidecar(sidecar))).toEqual(faults)
  })

  test.each([
    [{ image: 'a:1', read_only: true, cap_drop: ['ALL'], stop_grace_period: '35s' }, ''],
    [{ image: 'a:1', readonly: true }, '"additionalProperty":"readonly"'],
    [{ image: 'a:1', read_only: { yes: true } }, '/services/one/read_only must be'],
    [{ image: 'a:1', depends_on: { two: { condition: 'service_well' } } }, 'must be equal to one of'],
  ])('of Compose say of %j: %s', (service, fault) => {
    const faults = composeFaults({ services: { one: service } })
    expect(faults.length > 0).toBe(fault !== '')
    expect(faults.join('\n')).toContain(fault)
  })
})
