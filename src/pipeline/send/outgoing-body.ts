import type { Form, PreparedRequest } from '../request.ts'
import type { BodyEdit, OutputLimit } from '../../formats/contract.ts'
import type { BodyPiece } from '../../json/splice.ts'
import { runAtOnce, type Span, type Pausable } from '../../json/source.ts'
import type { Target } from '../../upstream/target.ts'

/** The bytes of a body that was put together from original bytes and new text. */
export function bytesOf(original: Buffer, pieces: readonly BodyPiece[]): Buffer {
  return runAtOnce(bytesInSteps(original, pieces))
}

/** The same in steps: a view may hold an image of tens of megabytes, or tens of thousands of messages. */
export function* bytesInSteps(original: Buffer, pieces: readonly BodyPiece[]): Pausable<Buffer> {
  const parts: Buffer[] = []
  for (const [index, piece] of pieces.entries()) {
    if (index % PIECES_PER_STEP === PIECES_PER_STEP - 1) yield
    if (typeof piece !== 'string') {
      parts.push(original.subarray(piece.start, piece.end))
      continue
    }
    for (let at = 0; at < piece.length;) {
      const end = endOfSlice(piece, at)
      parts.push(Buffer.from(piece.slice(at, end), 'utf8'))
      at = end
      if (at < piece.length) yield
    }
  }
  yield
  return Buffer.concat(parts)
}

/** Whether to put them together takes milliseconds. */
export function takesLong(pieces: readonly BodyPiece[]): boolean {
  if (pieces.length > PIECES_PER_STEP) return true
  return pieces.some((piece) => typeof piece === 'string' && piece.length > SLICE_CHARS)
}

/** Whether what is sent is all of the client's body, as it came. */
export function isUntouched({ chat, pieces }: Pick<Form, 'chat' | 'pieces'>): boolean {
  const [first] = pieces
  if (chat.repairs !== null || pieces.length !== 1 || first === undefined || typeof first === 'string')
    return false
  return first.start === 0 && first.end === chat.bytes.length
}

/** The form with these edits of its body; none of them touches another. */
export function withEdits<Edited extends Pick<Form, 'pieces'>>(
  form: Edited,
  ...edits: readonly BodyEdit[]
): Edited {
  let pieces = form.pieces
  for (const { at, text } of edits) pieces = withReplaced(pieces, at, text)
  return { ...form, pieces }
}

/** How many bytes pieces come to; made text is taken at its length, which is near enough for a budget. */
export function bytesIn(pieces: readonly BodyPiece[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += typeof piece === 'string' ? piece.length : piece.end - piece.start
  return bytes
}

/** The form with the model's name that the request is sent under; every other byte stays. */
export function withRenamedModel(
  form: Form,
  { renamedTo, deployment }: Pick<PreparedRequest, 'renamedTo' | 'deployment'>,
): Form {
  if (renamedTo === null) return form
  const place = form.chat.body.modelPlace
  const name = JSON.stringify(renamedTo)
  if (place.start < place.end) return withEdits(form, { at: place, text: name })
  // Where the path names the model, a body need not.
  return deployment !== null ? form : withEdits(form, { at: place, text: `"model":${name},` })
}

/** The target with another deployment, if its path names one (Azure). */
export function withDeployment(target: Target, deployment: string): Target {
  const name = encodeURIComponent(deployment)
  const path = target.path.replace(
    /(\/openai\/deployments\/)[^/?]+(?=\/)/,
    (_, before: string) => before + name,
  )
  return path === target.path ? target : { ...target, path }
}

/** The same form with a lower output limit; the very one if there is none. */
export function clamped(form: Form, outputTokens: number | null): Form {
  const limit = form.chat.body.outputLimit
  if (limit === null || outputTokens === null) return form
  const edits = [{ at: limit.value, text: String(outputTokens) }, ...lessThinking(limit, outputTokens)]
  return { ...withEdits(form, ...edits), clampedOutputTokens: outputTokens }
}

// --- internal ---

/**
 * The pieces with the original bytes of `span`, or the text that replaced them before, replaced by a text; an
 * empty span takes it in. The span lies within one run of original bytes.
 */
function withReplaced(pieces: readonly BodyPiece[], span: Span, text: string): BodyPiece[] {
  return pieces.flatMap((piece, index): BodyPiece[] => {
    if (typeof piece === 'string') return [endOf(pieces[index - 1]) === span.start ? text : piece]
    if (span.start < piece.start || span.end > piece.end) return [piece]
    return [{ start: piece.start, end: span.start }, text, { start: span.end, end: piece.end }]
  })
}

/** Thinking is given as much less than the reply as the client gave it, where it would have more than there is now. */
function lessThinking({ tokens, thinking }: OutputLimit, outputTokens: number): readonly BodyEdit[] {
  if (thinking === undefined || thinking.tokens < outputTokens) return []
  const thinkingTokens = Math.max(thinking.tokensMin, outputTokens - (tokens - thinking.tokens))
  return [{ at: thinking.value, text: String(thinkingTokens) }]
}

/** Pieces put together between two pauses. */
const PIECES_PER_STEP = 1_024

/** Encoded between two pauses, in UTF-16 units. */
const SLICE_CHARS = 1_048_576

/** Not between the two halves of a character. */
function endOfSlice(text: string, start: number): number {
  const end = Math.min(text.length, start + SLICE_CHARS)
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}

function endOf(piece: BodyPiece | undefined): number | null {
  return piece === undefined || typeof piece === 'string' ? null : piece.end
}
