/**
 * How the description of a key begins that is read and checked while nothing acts on it so far; that of a group
 * stands for all of its keys. The editor's schemas and docs/configuration.md show it, and the start warns of
 * those that are set (`src/config/without-effect.ts`).
 */
export const notYet = 'Not in effect yet'
