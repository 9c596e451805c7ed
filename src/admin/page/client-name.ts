/** A client as people call it, with its version: `Claude Code 2.1.332` of `claude-cli/2.1.332 (external, cli)`. Null if it says nothing. */
export function clientName(userAgent: string | null): string | null {
  const agent = userAgent?.trim() ?? ''
  if (agent === '') return null
  for (const { product, name } of programs) {
    const found = product.exec(agent)
    if (found !== null) return named(name, found.groups?.['version'])
  }
  // Whatever it is, the first word is the product (RFC 9110, 10.1.5).
  const [product = agent] = agent.split(/[\s(]/)
  const [name = product, version] = product.split('/')
  return named(name === '' ? agent : name, version)
}

// --- internal ---

/** A version as most write it: what stands behind it after a blank or in brackets is about the machine. */
const version = String.raw`[/ ]v?(?<version>\d[\w.+-]*)`

/** Programs that call themselves otherwise than people do; the first that fits holds. */
const programs: readonly { readonly product: RegExp; readonly name: string }[] = [
  { product: program(String.raw`^claude-(?:cli|code)`), name: 'Claude Code' },
  { product: program(String.raw`^codex(?:[_-]\w+)*`), name: 'Codex' },
  { product: program(String.raw`\bopencode`), name: 'opencode' },
  { product: program(String.raw`\bqwen-?code`), name: 'Qwen Code' },
  { product: program(String.raw`^gemini-?cli`), name: 'Gemini CLI' },
  { product: program(String.raw`\bcline`), name: 'Cline' },
  { product: program(String.raw`\broo-?code`), name: 'Roo Code' },
  { product: program(String.raw`\bkilo-?code`), name: 'Kilo Code' },
  { product: program(String.raw`\bopenhands(?:-\w+)*`), name: 'OpenHands' },
  { product: program(String.raw`\baider`), name: 'aider' },
  { product: program(String.raw`^(?:async)?openai/python`), name: 'OpenAI Python' },
  { product: program(String.raw`^(?:async)?openai/js`), name: 'OpenAI JavaScript' },
  { product: program(String.raw`^(?:async)?anthropic/python`), name: 'Anthropic Python' },
  { product: program(String.raw`^(?:async)?anthropic/js`), name: 'Anthropic JavaScript' },
  { product: program(String.raw`\bai-sdk(?:/[a-z-]+)?`), name: 'AI SDK' },
  { product: program(String.raw`^litellm`), name: 'LiteLLM' },
  { product: program(String.raw`^curl`), name: 'curl' },
]

function program(pattern: string): RegExp {
  return new RegExp(`${pattern}(?:${version})?(?![a-z])`, 'i')
}

/** `0.169` of `0.169.0`: a last zero tells nobody anything. */
function named(name: string, found: string | undefined): string {
  const shown = found?.replace(/^(\d+\.\d+)\.0$/, '$1') ?? ''
  return shown === '' ? name : `${name} ${shown}`
}
