import { parse } from 'yaml'
import { z } from 'zod'
import { containersOf, kinds, ofKind, podsIn } from '../../docs/kubernetes-objects.ts'
import type { Attack } from './attack.ts'

/** What a program is given to live in. */
export type Room = {
  readonly settings: object
  /** The profile of those who ask for no other. */
  readonly profile: object
  readonly nodeFlags: readonly string[]
  /** What the container may take, in bytes: beyond it the kernel ends it. */
  readonly memoryBytesMax: number
}

/** The container of the sidecar example, by its own file; or one of several gigabytes, with settings by default. */
export async function roomOf(name: Attack['room']): Promise<Room> {
  if (name === 'roomy') return { settings: {}, profile: {}, nodeFlags: [], memoryBytesMax: 4 * 1024 ** 3 }
  const [map] = await ofKind('sidecar.yaml', kinds.ConfigMap)
  const [pod] = (await podsIn('sidecar.yaml')).values()
  const container = pod && containersOf(pod).find((each) => each.name === 'foldgate')
  const memory = /^(\d+)Mi$/.exec(container?.resources.limits?.memory ?? '')
  if (map === undefined || memory === null) throw new Error('The sidecar example says no memory in Mi.')
  const mebibytes = Number(memory[1])
  const options = container?.env.find((each) => each.name === 'NODE_OPTIONS')?.value
  return {
    settings: object.parse(parse(map.data['foldgate.yaml'] ?? '')),
    profile: object.parse(parse(map.data['default.yaml'] ?? '')),
    nodeFlags: options?.split(' ') ?? flagsByMemory(mebibytes),
    memoryBytesMax: mebibytes * 1024 * 1024,
  }
}

// --- internal ---

const object = z.looseObject({})

/**
 * What V8 chooses in a container of this memory: half of it for what is old, the least for what is new. Node 24 in a
 * control group of 512 MiB has a heap of 259 MiB by that.
 */
function flagsByMemory(mebibytes: number): readonly string[] {
  return [`--max-old-space-size=${mebibytes / 2}`, '--max-semi-space-size=1']
}
