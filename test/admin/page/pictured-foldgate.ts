import packageFile from '../../../package.json' with { type: 'json' }
import { profileSchema, type Profile } from '../../../src/profiles/schema.ts'
import { growing, longRun } from '../../support/conversations.ts'
import { exactUpstream } from '../../support/exact-upstream.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { adminPlace } from '../ask-admin.ts'

/** An agent's conversation as it is shown: `rounds` long, and what is asked of Foldgate for it. */
type Shown = {
  readonly label: string
  readonly model: string
  readonly rounds: number
  readonly seed: number
}

const shown: readonly Shown[] = [
  { label: 'triage of the inbox', model: 'gpt-5-mini', rounds: 8, seed: 11 },
  { label: 'upgrade of the build', model: 'qwen3:8b', rounds: 16, seed: 12 },
  { label: 'release notes', model: 'gpt-5-mini', rounds: 21, seed: 13 },
  { label: 'nightly repair', model: 'qwen3:8b', rounds: 64, seed: 14 },
]

const windowTokens = 16_000

/** A Foldgate through which conversations of made-up agents have gone, for pictures of its pages. */
export async function picturedFoldgate(): Promise<{
  readonly origin: string
  readonly close: () => Promise<void>
}> {
  const upstream = await exactUpstream(windowTokens)
  const admin = await adminPlace()
  const foldgate = await startFoldgate({
    upstream: upstream.url,
    flags: admin.flags,
    version: packageFile.version,
    profiles: new Map([profileNamed('default'), profileNamed('local', 'qwen*')]),
    settings: {
      prices: {
        'gpt-5-mini*': { input: 0.25, cached_input: 0.025, output: 2 },
        'qwen*': { input: 0.1, cached_input: 0.01, output: 0.4 },
      },
    },
  })
  for (const { label, model, rounds, seed } of shown) {
    for (const messages of growing(longRun(rounds, seed)))
      await ask(`${foldgate.url}/chat/completions`, label, { model, messages, max_tokens: 800 })
  }
  return {
    origin: admin.origin,
    close: async () => {
      await foldgate.close()
      await upstream.close()
    },
  }
}

// --- internal ---

function profileNamed(name: string, ...models: readonly string[]): [string, Profile] {
  return [name, { ...profileSchema.parse({ models, window: { tokens: windowTokens } }), name }]
}

async function ask(url: string, label: string, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-any',
      'x-foldgate-conversation': label,
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
}
