import { modelName } from '../../tokens/tokenizer-families.ts'

/**
 * The name a model is listed by: what stands behind the last slash, in small letters, with a version's dot, `p` or underscore
 * as a dash (`GLM-5.2`, `glm-5p2` and `glm_5-2` are one), and without Bedrock's region, vendor and version
 * (`us.anthropic.claude-haiku-4-5-20251001-v1:0`).
 *
 * @internal exported for the table's generator
 */
export function listedName(model: string): string {
  const name = dashedName(model)
  return (bedrockName.exec(name)?.groups?.['name'] ?? name).replaceAll(versionDot, '-')
}

/**
 * The names to look a model up by, the most specific first: as it is listed, then without what people and servers put around
 * a model's name (a fine-tune's frame, a tag, a file's ending and quantisation, a pinned version, a date).
 */
export function modelSpellings(model: string): readonly string[] {
  let name = dashedName(model)
  // Ollama's tag is a size as often as anything else: gpt-oss:20b.
  const spellings = new Set([listedName(name), listedName(name.replaceAll(':', '-'))])
  for (const withoutOneThing of lessSpecific) {
    name = withoutOneThing(name)
    spellings.add(listedName(name))
  }
  return [...spellings]
}

/** `modelName` with dashes for underscores, so that `\b` finds the ends of its words: `my_gpt_4o`. */
export function dashedName(model: string): string {
  return modelName(model).replaceAll('_', '-')
}

// --- internal ---

const versionDot = /(?<=\d)[.p](?=\d)/g

/** Region and vendor, each with its dot; `deepseek.v3` and `deepseek.r1` need their vendor to be a name. */
const bedrockName = /^(?:[a-z-]+\.){1,2}(?<name>(?![vr]\d)[a-z].*?)(?:-v?\d+:\d+|-v\d+)?(?::\d+k)?$/

/** What may stand around a name, taken off in this order. */
const lessSpecific: readonly ((name: string) => string)[] = [
  // ft:gpt-4o-mini-2024-07-18:organisation::id
  (name) => name.replace(/^ft:([^:]+).*$/, '$1'),
  // Llama-3.3-70B-Instruct-Q4_K_M-00001-of-00002.gguf
  (name) => name.replace(/(?:-\d{5}-of-\d{5})?\.(?:gguf|ggml|bin|safetensors)$/, ''),
  // OpenRouter's :free, a router's :groq, Ollama's :latest. Not Bedrock's -v1:0, which is a version.
  (name) => name.replace(/:(?!(?<=-v?\d+:)\d+$)[^:]*$/, ''),
  withoutStorage,
  // Vertex: claude-sonnet-4-5@20250929, claude-opus-4-6@default.
  (name) => name.replace(/@[^@]*$/, ''),
  // gpt-4o-2024-11-20, claude-sonnet-4-5-20250929, and Bedrock's version behind it.
  (name) => name.replace(/-20\d\d-?[01]\d-?[0-3]\d(?:-v\d+(?::\d+)?)?$/, ''),
]

/** A name without what says how its weights are stored: `-Q4_K_M`, `-i1-GGUF`, `-FP8-dynamic`, `-bnb-4bit`. */
function withoutStorage(name: string): string {
  let rest = name
  let cut = name
  for (;;) {
    const at = Math.max(rest.lastIndexOf('-'), rest.lastIndexOf('.'))
    const word = rest.slice(at + 1)
    const isStorage = storageWord.test(word)
    if (at <= 0 || !(isStorage || variantWord.test(word))) return cut
    rest = rest.slice(0, at)
    if (isStorage) cut = rest
  }
}

const storageWord =
  /^(?:i?q\d|tq\d|gguf|mlx|awq|gptq|exl[23]|bnb|ud|i1|(?:bf|fp|f|w)\d{1,2}(?:a\d{1,2})?|int\d|nvfp4|mxfp4|\d?bit|dynamic)$/

/** What follows a `q4` and says nothing alone: its K, its size, its number. */
const variantWord = /^(?:[klms]|x{1,3}[sl]|nl|\d)$/
