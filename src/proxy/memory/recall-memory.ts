import { nameOfModel, type ModelKey } from '../../upstream/model-key.ts'
import { createLasting } from './lasting.ts'

/** Which upstreams' models must not be offered the recall tool: always, or beside a schema. */
export type RecallMemory = {
  readonly mayOffer: (key: ModelKey, besideSchema: boolean) => boolean
  /** A request was refused with it and accepted without. */
  readonly refused: (key: ModelKey, besideSchema: boolean) => void
}

export function createRecallMemory(nowMs: () => number): RecallMemory {
  const refusals = createLasting<true>({
    entriesMax: ENTRIES_MAX,
    lifetimeMs: () => LIFETIME_MS,
    isValue: (value) => value === true,
    nowMs,
  })
  return {
    mayOffer: (key, besideSchema) => refusals.get(nameOf(key, besideSchema)) === null,
    refused: (key, besideSchema) => refusals.set(nameOf(key, besideSchema), true),
  }
}

// --- internal ---

function nameOf(key: ModelKey, besideSchema: boolean): string {
  return `${besideSchema} ${nameOfModel(key)}`
}

const ENTRIES_MAX = 4096

/** One odd refusal must not end it for long. */
const LIFETIME_MS = 3_600_000
