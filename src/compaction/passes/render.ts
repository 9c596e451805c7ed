import { renderTerminal } from '../terminal/render-terminal.ts'
import type { TextPass } from './text-pass.ts'

/** Terminal output becomes what a terminal would show in the end. */
export const render = {
  name: 'render',
  treatment: 'rendered',
  losesText: false,
  words: {
    result: 'output',
    meaning: 'terminal output, reduced to what a terminal would show in the end',
    recalled: 'terminal output tidied',
  },
  treats: ({ render: { enabled } }) => enabled,
  edited: (text) => renderTerminal(text),
} as const satisfies TextPass
