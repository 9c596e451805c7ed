import { chatBody, embeddingsBody, pictureBody } from '../../load/bodies.ts'

/** One kind of load. */
export type Scenario = {
  readonly kind: 'unread' | 'chat'
  readonly size: string
  readonly path: string
  readonly body: string
  readonly connections: number
}

const sizes = [
  { size: '2 kB', bytes: 2_000, connections: [1, 32, 256] },
  { size: '200 kB', bytes: 200_000, connections: [1, 32, 256] },
  // 256 of these would be a gigabyte in flight, twice what Foldgate takes by default.
  { size: '4 MB', bytes: 4_000_000, connections: [1, 32] },
] as const

const kinds = [
  { kind: 'unread', path: '/v1/embeddings', bodyOf: embeddingsBody },
  {
    kind: 'chat',
    path: '/v1/chat/completions',
    bodyOf: (bytes: number) => (bytes > 1_000_000 ? pictureBody(bytes) : chatBody(bytes)),
  },
] as const

/** All kinds of load, the same in each round. */
export const scenarios: readonly Scenario[] = kinds.flatMap(({ kind, path, bodyOf }) =>
  sizes.flatMap(({ size, bytes, connections: all }) => {
    const body = bodyOf(bytes)
    return all.map((connections) => ({ kind, size, path, body, connections }))
  }),
)
