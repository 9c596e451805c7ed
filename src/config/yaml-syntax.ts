import type { ErrorCode } from 'yaml'

type Advice = { readonly message: string; readonly suggestion: string | null }

/**
 * The parser's complaints in our words. Its own messages repeat the text around the fault, which may hold
 * a credential.
 */
const advice = {
  ALIAS_PROPS: { message: 'an alias (*name) takes no tag or anchor', suggestion: null },
  BAD_ALIAS: {
    message: 'this alias (*name) has no anchor before it',
    suggestion: 'put text that begins with * in quotes',
  },
  BAD_COLLECTION_TYPE: { message: 'this tag (!name) does not fit the value', suggestion: 'remove the tag' },
  BAD_DIRECTIVE: { message: 'this directive (%…) is not understood', suggestion: 'remove it' },
  BAD_DQ_ESCAPE: {
    message: 'unknown escape in double quotes',
    suggestion: 'double the backslash, or use single quotes',
  },
  BAD_INDENT: { message: 'the indentation does not fit the lines above', suggestion: null },
  BAD_PROP_ORDER: { message: 'tag or anchor in the wrong place', suggestion: 'remove it' },
  BAD_SCALAR_START: { message: 'text may not begin with this character', suggestion: 'put it in quotes' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a key and a value too many in this line',
    suggestion: 'put text that holds ": " in quotes',
  },
  BLOCK_IN_FLOW: { message: 'an indented block inside { } or [ ]', suggestion: null },
  DUPLICATE_KEY: { message: 'this key stands twice in its group', suggestion: 'remove one of the two' },
  IMPOSSIBLE: { message: 'cannot be read as YAML', suggestion: null },
  KEY_OVER_1024_CHARS: {
    message: 'a key of more than 1024 characters',
    suggestion: 'is a quote or bracket left open?',
  },
  MISSING_CHAR: {
    message: 'something is missing here',
    suggestion: 'look for an open quote or bracket, or a missing ":" or ","',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key that goes over several lines',
    suggestion: 'look for a missing ":" or an open quote',
  },
  MULTIPLE_ANCHORS: { message: 'a value may have one anchor (&name) only', suggestion: null },
  MULTIPLE_DOCS: {
    message: 'a second document begins here',
    suggestion: 'one file holds one document: remove the "---"',
  },
  MULTIPLE_TAGS: { message: 'a value may have one tag (!name) only', suggestion: null },
  NON_STRING_KEY: { message: 'a key must be plain text', suggestion: null },
  RESOURCE_EXHAUSTION: { message: 'nested too deeply', suggestion: null },
  TAB_AS_INDENT: { message: 'a tab in the indentation', suggestion: 'indent with spaces' },
  TAG_RESOLVE_FAILED: {
    message: 'this tag (!name) is not understood',
    suggestion: 'put text that begins with ! in quotes',
  },
  UNEXPECTED_TOKEN: {
    message: 'something unexpected stands here',
    suggestion: 'put text with special characters in quotes',
  },
} as const satisfies Record<ErrorCode, Advice>

/** What to tell about a fault in the syntax of a file. */
export function syntaxAdvice(code: ErrorCode): Advice {
  const { message, suggestion } = advice[code]
  return { message: `cannot be read: ${message}`, suggestion }
}
