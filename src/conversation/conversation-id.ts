/** Characters of a conversation's id: enough of a digest to tell a scope's conversations apart. */
export const conversationIdChars = 16

/** Whether `text` has the form of a conversation's id: the beginning of a digest in base64url. */
export function isConversationId(text: string): boolean {
  return text.length === conversationIdChars && /^[\w-]+$/.test(text)
}

/** What is said of one that has not; it is not repeated, since it may be anything. */
export const noConversationId = `That is no conversation's id: it is the ${conversationIdChars} letters, digits, "-" and "_" that x-foldgate-conversation names in an answer.`
