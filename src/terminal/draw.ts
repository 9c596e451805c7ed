import type { Steps } from '../conversation/source.ts'
import { isWithinMojibake } from './mojibake.ts'
import type { ScreenSize } from './screen-size.ts'
import { sequenceReader } from './sequence.ts'
import { Terminal } from './terminal.ts'

/**
 * What stands on a terminal of this size after it was sent the text, with all that scrolled off. Null where
 * that is longer than the text: counts have filled it, and there is no end to what they could fill.
 */
export function* drawTerminal(text: string, size: ScreenSize): Steps<string | null> {
  const terminal = new Terminal(size)
  const sequenceAt = sequenceReader(text)
  let sequences = 0
  let pausedAt = 0
  for (let at = 0; at < text.length;) {
    const next = nextControl(text, at)
    if (next > at) terminal.print(text.slice(at, next))
    if (next === text.length) break
    const sequence = sequenceAt(next)
    at = sequence.end
    terminal.perform(sequence)
    if (terminal.screen.settledLength > text.length) return null
    sequences += 1
    if (sequences % SEQUENCES_PER_STEP > 0 && at - pausedAt < CHARS_PER_STEP) continue
    pausedAt = at
    yield
  }
  return terminal.toString()
}

// --- internal ---

/** Sequences between two pauses, each of which may move a whole screen: a few milliseconds at the very most … */
const SEQUENCES_PER_STEP = 256
/** … and text: about a millisecond. */
const CHARS_PER_STEP = 16_384

/** C0 but for the tab, DEL, and the C1 controls that do something: the others are misread Windows-1252 letters. */
const controlCharacter = new RegExp(
  String.raw`[\u0000-\u0008\u000a-\u001f\u007f\u0084\u0085\u008d\u0090\u0098\u009b\u009d-\u009f]`,
  'g',
)

function nextControl(text: string, from: number): number {
  controlCharacter.lastIndex = from
  while (controlCharacter.test(text)) {
    const index = controlCharacter.lastIndex - 1
    if (text.charCodeAt(index) < 0x80 || !isWithinMojibake(text, index)) return index
  }
  return text.length
}
