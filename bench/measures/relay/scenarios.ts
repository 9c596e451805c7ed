import { chatBody, embeddingsBody, messageBody, pictureBody, responseBody } from '../../load/bodies.ts'

/** One kind of load. */
export type Scenario = {
  readonly kind: 'unread' | 'chat' | 'response' | 'message'
  readonly size: string
  readonly path: string
  readonly body: string
  readonly connections: number
}

/** The size of most requests. */
export const SMALL = '2 kB'
const SMALL_BYTES = 2_000

/** The same chat in the two other formats that are inspected. */
const otherDialects = [
  { kind: 'response', path: '/v1/responses', body: responseBody(SMALL_BYTES) },
  { kind: 'message', path: '/v1/messages', body: messageBody(SMALL_BYTES) },
] as const

type Size = Pick<Scenario, 'size'> & { readonly bytes: number; readonly connections: readonly number[] }

/** Loads that are measured together. */
export type Phase = {
  readonly name: string
  readonly scenarios: readonly Scenario[]
  /** How many rounds it gets for each usual one. */
  readonly roundsFactor: number
  /** How long its loads last, of the usual time. */
  readonly durationFactor: number
}

/**
 * The loads, by phase. A phase gets all of its rounds before the next one: what huge bodies leave behind must not fall
 * into what is measured of small ones, but stand in rows of its own. What else a machine does comes and goes within
 * seconds: with more and shorter rounds of small bodies, whose figures are closest, a disturbed one counts for less.
 */
export const phases: readonly Phase[] = [
  {
    name: '2 kB',
    scenarios: [
      ...scenariosOf([{ size: SMALL, bytes: SMALL_BYTES, connections: [1, 32, 256] }]),
      ...otherDialects.map((each) => ({ ...each, size: SMALL, connections: 32 })),
    ],
    roundsFactor: 3,
    durationFactor: 0.5,
  },
  {
    name: '200 kB',
    scenarios: scenariosOf([{ size: '200 kB', bytes: 200_000, connections: [1, 32, 256] }]),
    roundsFactor: 1,
    durationFactor: 1,
  },
  {
    name: '4 MB',
    scenarios: scenariosOf([
      // 256 of these would be a gigabyte in flight, twice what Foldgate takes by default.
      { size: '4 MB', bytes: 4_000_000, connections: [1, 32] },
      { size: '2 kB, after those of 4 MB', bytes: 2_000, connections: [32] },
    ]),
    roundsFactor: 1,
    durationFactor: 1,
  },
]

/** All kinds of load. */
export const scenarios: readonly Scenario[] = phases.flatMap((phase) => phase.scenarios)

// --- internal ---

function scenariosOf(sizes: readonly Size[]): readonly Scenario[] {
  return sizes.flatMap(({ size, bytes, connections: all }) =>
    kinds().flatMap(({ kind, path, bodyOf }) => {
      const body = bodyOf(bytes)
      return all.map((connections) => ({ kind, size, path, body, connections }))
    }),
  )
}

function kinds() {
  return [
    { kind: 'unread', path: '/v1/embeddings', bodyOf: embeddingsBody },
    {
      kind: 'chat',
      path: '/v1/chat/completions',
      bodyOf: (bytes: number) => (bytes > 1_000_000 ? pictureBody(bytes) : chatBody(bytes)),
    },
  ] as const
}
