import type { Steps } from '../conversation/source.ts'

/** How a client asks for a summary of its own conversation. */
export type CompactionPrompt = { readonly client: string; readonly pattern: RegExp; readonly sample: string }

/**
 * Whether a text asks for a summary of the conversation that it stands in: then the
 * client is compacting by itself, and a summary of ours in the place of what it wants to read would be a summary in
 * a summary. Not so a request to summarise a paper, a file, or a conversation that was pasted. In steps: an expression
 * that is used for the first time is compiled, too.
 */
export function* isCompactionPrompt(text: string): Steps<boolean> {
  const near =
    text.length <= 2 * ENDS_CHARS ? text : `${text.slice(0, ENDS_CHARS)}\n${text.slice(-ENDS_CHARS)}`
  const lines = near.replace(/[’‘]/g, "'").replace(/[ \t\r]+/g, ' ')
  // A line's end may begin a sentence, or stand in the middle of one; a blank line always begins one.
  const paragraphs = lines.split(/\n\s*\n/).map((paragraph) => paragraph.replaceAll('\n', ' '))
  const forms = [lines, paragraphs.join('\n')]
  for (const { pattern } of compactionPrompts) {
    yield
    if (forms.some((form) => pattern.test(form))) return true
  }
  return false
}

/**
 * Opening phrases of the compaction prompts of agents, and the ways in which people ask. Of each only a few words.
 *
 * @internal exported for tests
 */
export const compactionPrompts: readonly CompactionPrompt[] = [
  {
    client: 'Claude Code, Cline, Roo Code, Zed',
    pattern: phrase(
      'your task is to create a (?:detailed|comprehensive) summary of (?:the|this|our) conversation',
    ),
    sample:
      "Your task is to create a detailed summary of the conversation so far, paying close attention to the user's requests",
  },
  {
    client: 'Claude Code, opencode: system prompt',
    pattern: phrase('you are a helpful ai assistant tasked with summarizing conversations'),
    sample: 'You are a helpful AI assistant tasked with summarizing conversations.',
  },
  {
    client: 'opencode',
    pattern: phrase('(?:provide|write|create) a detailed (?:prompt|summary) for continuing our conversation'),
    sample: 'Provide a detailed prompt for continuing our conversation above.',
  },
  {
    client: 'Cline',
    pattern: /<explicit_instructions type="(?:condense|summarize_task|compact)/i,
    sample: '<explicit_instructions type="condense">The user has explicitly asked you',
  },
  {
    client: 'Cline: window nearly full',
    pattern: phrase('the current conversation is rapidly running out of context'),
    sample: 'The current conversation is rapidly running out of context. Now, your urgent task',
  },
  {
    client: 'codex',
    pattern: phrase('you are performing a context checkpoint compaction'),
    sample: 'You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary',
  },
  {
    client: 'aider',
    pattern: /\*?briefly\*? summarize this partial conversation/i,
    sample: '*Briefly* summarize this partial conversation about programming.',
  },
  {
    client: 'pi',
    pattern: phrase(
      '(?:you are a context summarization assistant|the messages above are a conversation to summarize|create a structured context checkpoint)',
    ),
    sample: 'The messages above are a conversation to summarize. Create a structured context checkpoint',
  },
  {
    client: 'LangChain: memory',
    pattern:
      /(?:distill the above chat messages|create a summary of the conversation above|extend the summary by taking into account the new messages|progressively summarize the lines of conversation)/i,
    sample: 'Distill the above chat messages into a single summary message.',
  },
  {
    client: 'LangChain: summarization middleware',
    pattern:
      /extract the (?:highest quality|most important|most relevant)[\w/ ]{0,30}context from the conversation history/i,
    sample:
      'Your sole objective in this task is to extract the highest quality/most relevant context from the conversation history below.',
  },
  {
    client: 'Gemini CLI',
    pattern: /(?:you are the component that summarizes internal chat history|generate the <state_snapshot>)/i,
    sample: 'First, reason in your scratchpad. Then, generate the <state_snapshot>.',
  },
  {
    client: 'VS Code Copilot',
    pattern: phrase('summarize the conversation history(?: so far)?'),
    sample: 'Summarize the conversation history so far, paying special attention to the most recent commands',
  },
  {
    client: 'OpenHands',
    pattern: phrase('you are maintaining a context-aware state summary'),
    sample: 'You are maintaining a context-aware state summary for an interactive agent.',
  },
  {
    client: 'Letta',
    pattern: phrase('your job is to summarize a history of previous messages in a conversation'),
    sample:
      'Your job is to summarize a history of previous messages in a conversation between an AI persona and a human.',
  },
  {
    client: 'AutoGen',
    pattern: phrase('summarize the takeaway from the conversation'),
    sample: 'Summarize the takeaway from the conversation. Do not add any introductory phrases.',
  },
  {
    client: 'anyone, in English',
    pattern: request(
      String.raw`(?:summari[sz]e|recap|condense|compact|(?:write|give|create|provide|produce|make)(?: me| us)? an? (?:[a-z]+,? ){0,3}(?:summary|recap) of)(?: all of)? (?:the|this|our|your) (?:[a-z]+ ){0,3}?(?:conversation|chat|discussion|dialog(?:ue)?|session|messages|exchange|thread)(?: history| we(?:'ve| have)? had| between us)?,? (?:above|so far|until now|up to (?:now|this point|here)|to date|thus far|to this point)`,
    ),
    sample: 'Please summarize our whole conversation so far.',
  },
  {
    client: 'anyone, in English: what stands above',
    pattern: request(
      String.raw`summari[sz]e (?:(?:everything|all|all of|what (?:we|was) [a-z ]{1,30}) )?(?:the )?above(?: (?:conversation|chat|discussion|dialog(?:ue)?|session|messages|exchange))?(?: (?:in|into|as|for|with|to|so|and) [^.!?]{1,60})? ?(?:[.!?:,;\n]|$)`,
    ),
    sample: 'Summarise the above.',
  },
  {
    client: 'anyone, in English: nothing else in the message',
    pattern:
      /^ ?(?:please |now |can you |could you )*(?:summari[sz]e|recap|condense|compact) (?:our|this|the) (?:entire |whole |full )?(?:conversation|chat|session|discussion)(?:,? please)? ?[.!?]? ?$/i,
    sample: 'Can you summarize this conversation?',
  },
  {
    client: 'anyone, in German',
    pattern:
      /fasse? (?:[\p{L}]{1,12} ){0,2}?(?:(?:(?:das|unser|dieses|die|unsere|diese) (?:ganzen? |gesamten? )?(?:bisherigen? |obigen? )(?:gespräch|unterhaltung|chat|verlauf|konversation|dialog))|(?:(?:das|unser|dieses|die|unsere|diese) (?:ganzen? |gesamten? )?(?:gespräch|unterhaltung|chat|konversation) (?:bis hierher|bisher|bis jetzt|oben)))[\p{L} ,]{0,40} zusammen/iu,
    sample: 'Fasse bitte das bisherige Gespräch zusammen.',
  },
  {
    client: 'anyone, in French',
    pattern:
      /r[ée]sum(?:e|ez|er)(?:-[\p{L}]+)? (?:[\p{L}]{1,12} ){0,2}?(?:la|notre|cette) (?:conversation|discussion) (?:ci-dessus|jusqu'ici|jusqu'à (?:présent|maintenant)|précédente)/iu,
    sample: "Résume notre conversation jusqu'ici.",
  },
  {
    client: 'anyone, in Spanish',
    pattern:
      /resum(?:e|a|ir|en) (?:[\p{L}]{1,12} ){0,2}?(?:la|nuestra|esta) (?:conversación|charla) (?:anterior|hasta (?:ahora|aquí)|de arriba|previa)/iu,
    sample: 'Resume nuestra conversación hasta ahora.',
  },
  {
    client: 'anyone, in Portuguese',
    pattern:
      /resum(?:a|e|ir) (?:[\p{L}]{1,12} ){0,2}?(?:a|nossa|esta) (?:nossa )?(?:conversa) (?:acima|anterior|até (?:agora|aqui))/iu,
    sample: 'Resuma a nossa conversa até agora.',
  },
  {
    client: 'anyone, in Italian',
    pattern:
      /riassum(?:i|ere|a) (?:[\p{L}]{1,12} ){0,2}?(?:la|questa) (?:nostra )?conversazione (?:finora|precedente|sopra|fino a (?:qui|ora))/iu,
    sample: 'Riassumi la nostra conversazione finora.',
  },
  {
    client: 'anyone, in Russian',
    pattern:
      /(?:суммируй|суммируйте|резюмируй|резюмируйте|подытожь|подытожьте|кратко изложи|обобщи)(?:те)? (?:[\p{L}]{1,12} ){0,3}?(?:разговор|беседу|диалог|переписку)(?: выше| до этого момента| на данный момент|[.!? ]|$)/iu,
    sample: 'Подытожь наш разговор.',
  },
  {
    client: 'anyone, in Chinese',
    pattern:
      /(?:总结|概括|归纳|總結|概括)(?:一下)?(?:我们)?(?:以上|上面|上述|之前|此前|到目前为止|目前为止|至今|迄今)的?(?:全部|所有|整个)?(?:对话|聊天|会话|交流|內容|對話)|(?:把|将)?(?:以上|上述|之前的?|到目前为止的?)(?:对话|聊天|会话)[^。\n]{0,12}(?:总结|概括)/u,
    sample: '请总结以上对话',
  },
  {
    client: 'anyone, in Japanese',
    pattern:
      /(?:これまで|ここまで|上記|以上)の(?:会話|対話|やり取り|やりとり|チャット)[^。\n]{0,12}(?:要約|まとめ)/u,
    sample: 'これまでの会話を要約してください。',
  },
  {
    client: 'anyone, in Korean',
    pattern: /(?:지금까지|여기까지|위)의? ?(?:대화|채팅)[^.\n]{0,12}(?:요약|정리)/u,
    sample: '지금까지의 대화를 요약해 주세요.',
  },
]

// --- internal ---

/** Such requests stand at one end of a message; between them there may be a whole transcript. */
const ENDS_CHARS = 4000

/** Words that begin a sentence: what is quoted in the middle of one is talked about. */
function phrase(words: string): RegExp {
  return new RegExp(String.raw`(?:^|[.!?:;>)\]*#\n-]) ?${words}`, 'i')
}

/** The same behind what people begin a request with. */
function request(words: string): RegExp {
  return phrase(
    String.raw`(?:(?:please|now|ok(?:ay)?|then|first|so),? |(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to |i want you to |let's ){0,3}${words}`,
  )
}
