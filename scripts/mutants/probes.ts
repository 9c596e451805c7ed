import type { Mutation, Mutations } from './mutations.ts'

/** What a probe says that it was reached by: the number of a mutant, or the file in whose functions it stands. */
export type Mark = number | string

/**
 * A source text that tells when a test reaches the places of these mutants, and any function of the file: the value of
 * every expression is as it was.
 *
 * @param file Its path in `src`; what its functions say when they are called.
 * @param probeModule The URL of the module that hears it.
 */
export function withProbes(source: string, { file, found, mutants, probeModule }: ProbesWanted): string {
  const marked = new Map<string, Marked>()
  const mark = (start: number, end: number, place: Marked['place'], said: Mark): void => {
    const key = `${start}-${end}-${place}`
    const marks = marked.get(key)?.marks ?? []
    marked.set(key, { start, end, place, marks: [...marks, said] })
  }
  for (const { start, end, isBlock } of found.bodies) mark(start, end, isBlock ? 'body' : 'expression', file)
  for (const [number, { start, end, place }] of mutants) mark(start, end, place, number)

  const pieces = [...marked.values()].flatMap(({ start, end, place, marks }): Piece[] => {
    const call = `__reached(${JSON.stringify(marks)})`
    const length = end - start
    if (place === 'body') return [{ at: start + 1, opens: true, length: length - 1, text: `${call};` }]
    const isParted = place === 'expression' && found.expressionStarts.has(start)
    const [open, close] =
      place === 'statement' ? [`{${call};`, '}'] : [`${isParted ? ';' : ''}(${call}, `, ')']
    return [
      { at: start, opens: true, length, text: open },
      { at: end, opens: false, length, text: close },
    ]
  })
  // Of two that open at one place the longer is outside; what closes there closes first.
  pieces.sort(
    (one, other) =>
      one.at - other.at ||
      Number(one.opens) - Number(other.opens) ||
      (one.opens ? other.length - one.length : one.length - other.length),
  )
  let written = ''
  let at = 0
  for (const piece of pieces) {
    written += source.slice(at, piece.at) + piece.text
    at = piece.at
  }
  // Imports come first wherever they stand: here they move no line.
  return `${written}${source.slice(at)}\nimport { reached as __reached } from ${JSON.stringify(probeModule)}\n`
}

/** A source text with one fault in it. */
export function withFault(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

// --- internal ---

type ProbesWanted = {
  readonly file: string
  readonly found: Mutations
  readonly mutants: ReadonlyMap<number, Mutation>
  readonly probeModule: string
}

type Marked = {
  readonly start: number
  readonly end: number
  readonly place: Mutation['place']
  readonly marks: readonly Mark[]
}

type Piece = { readonly at: number; readonly opens: boolean; readonly length: number; readonly text: string }
