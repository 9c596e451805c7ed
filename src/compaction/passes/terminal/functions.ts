import type { Terminal } from './terminal.ts'

/**
 * What the controls do, by the names of ECMA-48 (section 8.3) and xterm's ctlseqs. What is not listed shows
 * nothing: colours, modes, questions to the terminal. Tab stops are every eight columns; origin mode, left and
 * right margins and double-width lines are not followed.
 */
export const controls: Readonly<Record<number, (terminal: Terminal) => void>> = {
  0x08: ({ screen }) => screen.backspace(),
  0x0a: ({ screen }) => screen.lineFeed(),
  // VT and FF go down like LF: ctlseqs, "Single-character functions".
  0x0b: ({ screen }) => screen.lineFeed(),
  0x0c: ({ screen }) => screen.lineFeed(),
  0x0d: ({ screen }) => screen.carriageReturn(),
  0x0e: (terminal) => {
    terminal.characterSet = 1
  },
  0x0f: (terminal) => {
    terminal.characterSet = 0
  },
}

/** Escape and what follows: DECSC, DECRC, IND, NEL, RI, RIS; SCS with VT100's line drawing or another set. */
export const escapes: Readonly<Record<string, (terminal: Terminal) => void>> = {
  '7': ({ screen }) => screen.save(),
  '8': ({ screen }) => screen.restore(),
  D: ({ screen }) => screen.index(),
  E: ({ screen }) => screen.lineFeed(),
  M: ({ screen }) => screen.reverseIndex(),
  c: (terminal) => terminal.reset(true),
  '(0': (terminal) => {
    terminal.drawsLines[0] = true
  },
  '(B': (terminal) => {
    terminal.drawsLines[0] = false
  },
  ')0': (terminal) => {
    terminal.drawsLines[1] = true
  },
  ')B': (terminal) => {
    terminal.drawsLines[1] = false
  },
}

type ControlSequence = (terminal: Terminal, parameters: readonly number[]) => void

export const controlSequences: Readonly<Record<string, ControlSequence>> = {
  // CUU, CUD, CUF, CUB, CNL, CPL, HPR, VPR
  A: ({ screen }, parameters) => screen.moveByRows(-count(parameters)),
  B: ({ screen }, parameters) => screen.moveByRows(count(parameters)),
  C: ({ screen }, parameters) => screen.moveByColumns(count(parameters)),
  D: ({ screen }, parameters) => screen.moveByColumns(-count(parameters)),
  E: ({ screen }, parameters) => {
    screen.moveByRows(count(parameters))
    screen.carriageReturn()
  },
  F: ({ screen }, parameters) => {
    screen.moveByRows(-count(parameters))
    screen.carriageReturn()
  },
  a: ({ screen }, parameters) => screen.moveByColumns(count(parameters)),
  e: ({ screen }, parameters) => screen.moveToRow(screen.row + count(parameters)),
  // CHA, HPA, VPA, CUP, HVP
  G: ({ screen }, parameters) => screen.moveToColumn(count(parameters) - 1),
  '`': ({ screen }, parameters) => screen.moveToColumn(count(parameters) - 1),
  d: ({ screen }, parameters) => screen.moveToRow(count(parameters) - 1),
  H: moveTo,
  f: moveTo,
  // CHT, CBT
  I: ({ screen }, parameters) => screen.moveByTabs(count(parameters)),
  Z: ({ screen }, parameters) => screen.moveBackByTabs(count(parameters)),
  // SCOSC, SCORC
  s: ({ screen }) => screen.save(),
  u: ({ screen }) => screen.restore(),
  // ED. "3" would erase what has scrolled off: that is the log, and it stays.
  J: ({ screen }, [part]) => {
    if (part === 0) screen.eraseBelow()
    else if (part === 1) screen.eraseAbove()
    else if (part === 2) screen.eraseScreen()
  },
  // EL, ECH
  K: ({ screen }, [part]) => {
    if (part === 0) screen.eraseCharacters(Infinity)
    else if (part === 1) screen.eraseLineStart()
    else if (part === 2) screen.eraseLine()
  },
  X: ({ screen }, parameters) => screen.eraseCharacters(count(parameters)),
  // ICH, DCH, REP
  '@': ({ screen }, parameters) => screen.insertBlanks(count(parameters)),
  P: ({ screen }, parameters) => screen.deleteCharacters(count(parameters)),
  b: (terminal, parameters) => terminal.repeat(count(parameters)),
  // IL, DL, SU, SD, DECSTBM. SD with five parameters is a question about the mouse.
  L: ({ screen }, parameters) => screen.insertLines(count(parameters)),
  M: ({ screen }, parameters) => screen.deleteLines(count(parameters)),
  S: ({ screen }, parameters) => screen.scrollUp(count(parameters)),
  T: ({ screen }, parameters) => {
    if (parameters.length === 1) screen.scrollDown(count(parameters))
  },
  r: ({ screen }, parameters) => screen.setMargins(count(parameters) - 1, (parameters[1] ?? 0) - 1),
  // IRM, DECSTR
  h: ({ screen }, parameters) => {
    if (parameters.includes(4)) screen.insertMode = true
  },
  l: ({ screen }, parameters) => {
    if (parameters.includes(4)) screen.insertMode = false
  },
  '!p': (terminal) => terminal.reset(false),
  // The alternate screen, with and without saving the cursor: ctlseqs, DECSET 47, 1047, 1049; 1048 only saves.
  '?h': (terminal, parameters) => {
    if (parameters.includes(1048)) terminal.screen.save()
    if (parameters.some(isAlternateScreen)) terminal.enterAlternate()
  },
  '?l': (terminal, parameters) => {
    if (parameters.some(isAlternateScreen)) terminal.leaveAlternate()
    if (parameters.includes(1048)) terminal.screen.restore()
  },
}

// --- internal ---

/** A parameter that is missing or zero is one: ctlseqs, "default = 1". */
function count([first = 0]: readonly number[]): number {
  return Math.max(1, first)
}

function moveTo({ screen }: Terminal, parameters: readonly number[]): void {
  screen.moveToRow(count(parameters) - 1)
  screen.moveToColumn(count(parameters.slice(1)) - 1)
}

function isAlternateScreen(mode: number): boolean {
  return mode === 47 || mode === 1047 || mode === 1049
}
