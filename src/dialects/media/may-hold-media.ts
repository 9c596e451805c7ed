/**
 * Whether a body may hold media, whose tokens its bytes do not bound. Goes by the names that media, and what they are referred
 * to by, have in any dialect; a word of another meaning may look like one.
 */
export function mayHoldMedia(body: string): boolean {
  return mediaName.test(body)
}

// --- internal ---

const mediaName =
  /"(?:input_|output_|computer_)?(?:image|audio|video|file|document|screenshot)(?:_url|_id|_data|_generation_call)?"/
