import type { Dice } from '../../../../src/demo/dice.ts'

export type Words = readonly [string, ...string[]]

/** What stands for each `{name}` of a template. */
export type Lexicon = Readonly<Record<string, Words>>

/** Writes a text by a template: each `{name}` becomes one of its words, which may hold names themselves. */
export function write(template: string, lexicon: Lexicon, dice: Dice): string {
  let text = template
  // Nothing is compared with itself.
  const taken = new Set<string>()
  const fresh = (name: string): string => {
    const words = Array.from({ length: TRIES }, () => wordFor(name, lexicon, dice))
    const word = words.find((each) => !taken.has(each)) ?? words[0] ?? ''
    taken.add(word)
    return word
  }
  // Words refer to words of a lower kind only; a lexicon that goes in a circle is a mistake.
  for (let depth = 0; text.includes('{') && depth < DEPTH_MAX; depth += 1)
    text = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => fresh(name))
  if (text.includes('{')) throw new Error(`The template "${template}" goes in a circle.`)
  return text
}

/** With its first letter as a sentence has it. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

// --- internal ---

const DEPTH_MAX = 6
const TRIES = 4

function wordFor(name: string, lexicon: Lexicon, dice: Dice): string {
  switch (name) {
    case 'few':
      return String(3 + dice.below(60))
    case 'many':
      return (200 + dice.below(90_000)).toLocaleString('en-US')
    case 'clock':
      return `${6 + dice.below(17)}:${String(dice.below(60)).padStart(2, '0')}`
    default: {
      const words = lexicon[name]
      if (words === undefined) throw new Error(`No words are known for {${name}}.`)
      return dice.pick(words)
    }
  }
}
