import { isObject } from './strict-upstream/wire-message.ts'

/** A page of what the recall tool answers, taken apart as a model would take it. */
export type RecallPage = {
  /** Its part of the whole answer. */
  readonly text: string
  /** The arguments of the call that goes on; null where this was all. */
  readonly next: string | null
  /** Whether there was room for anything. */
  readonly hasRoom: boolean
}

/** Takes a page apart that was the answer to a call with these arguments. */
export function readRecallPage(page: string, argumentsText: string): RecallPage {
  const start = page.lastIndexOf('\n') + 1
  const lastLine = page.slice(start)
  const [, cut, offset] = lastLineOf.exec(lastLine) ?? []
  if (offset !== undefined) {
    const before: unknown = argumentsText === '' ? {} : JSON.parse(argumentsText)
    const next = JSON.stringify({ ...(isObject(before) ? before : {}), offset: Number(offset) })
    return { text: page.slice(0, cut === undefined ? start : start - 1), next, hasRoom: true }
  }
  if (lastLine === '[recall: that is all]') return { text: page.slice(0, start), next: null, hasRoom: true }
  return { text: page, next: null, hasRoom: page.endsWith('\n') }
}

const lastLineOf = /^\[recall: (cut within a line; )?go on with the same arguments and "offset":(\d+)\]$/
