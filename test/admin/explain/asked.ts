import type { Explanation } from '../../../src/admin/explain/explanation.ts'
import {
  createExplain,
  type ExplainOptions,
  type ExplainParts,
} from '../../../src/admin/explain/explanation.ts'
import { profilesOf } from '../../support/profiles.ts'
import { resolveWindow } from '../../../src/models/resolve-window.ts'
import { settingsSchema } from '../../../src/config/settings-schema.ts'
import { unknownWindow } from '../../support/models.ts'
import { prose, round, rounds, system, user } from '../../compaction/sending.ts'

export type AskedWith = Partial<ExplainOptions> & {
  /** Profiles as their files would say them; `default` among them. */
  readonly profiles?: Readonly<Record<string, object>>
  readonly usageInStreams?: ExplainParts['settings']['usage']['in_streams']
}

/** What is told of a body under these profiles; without any under one with a window of 16,000 tokens. */
export async function asked(body: object | string | Buffer, options: AskedWith = {}): Promise<Explanation> {
  const profiles = profilesOf(options.profiles ?? { default: { window: { tokens: 16_000 } } })
  const explain = createExplain({
    profiles: () => profiles,
    findWindow: async (profile, model) => {
      const { tokens } = profile.window
      const configuredTokens = tokens === 'auto' ? null : tokens
      return resolveWindow({ ...unknownWindow, configuredTokens, names: [model] })
    },
    settings: {
      upstreams: new Map(),
      usage: { in_streams: options.usageInStreams ?? 'rewritten' },
      limits: settingsSchema.parse({}).limits,
    },
  })
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return explain(Buffer.from(text), { profile: options.profile ?? null, model: options.model ?? null })
}

/** An agent's run that fits the window of 16,000 tokens. */
export const short = {
  model: 'gpt-4o',
  messages: [system('Be brief.'), user('The task.'), ...rounds('a', 3, 300)],
}

const wordy = { text: prose('what is asked of the tool', 500) }

/** One that is several times too long, in what the model said too. */
export const long = {
  model: 'gpt-4o',
  messages: [
    system('Be brief.'),
    user('The task.'),
    ...Array.from({ length: 40 }, (_, at) =>
      round(`a${at}`, prose('result', 700), 'read_file', wordy),
    ).flat(),
    user('Go on.'),
  ],
}

let longTold: Promise<Explanation> | null = null

/** What is told of it; it takes a while, and is the same each time. */
export const askedLong = (): Promise<Explanation> => (longTold ??= asked(long))
