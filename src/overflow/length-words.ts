/**
 * The words of the general form. The patterns are searched for in a text of bounded length, and every gap in them is
 * bounded, so that a hostile text costs little.
 */

/** Whether the words say that a prompt, a conversation or their tokens go beyond what a model takes. */
export function speaksOfLength(said: string): boolean {
  return (
    overflowing.some((pattern) => pattern.test(said)) ||
    // What these words mean depends on what they are about.
    (requestBeyond.test(said) && /\btokens?\b|\bmodel\b/i.test(said))
  )
}

/** Whether a limit of tokens is spoken of, be it the prompt's or another. */
export function speaksOfTokens(said: string): boolean {
  return tokensAndLimit.test(said)
}

/** Whether a prompt, a context or a request is held against a limit; two sizes beside it say which is too much. */
export function comparesSizes(said: string): boolean {
  const isOfTokens = compared.test(said) || (requested.test(said) && /\btokens?\b/i.test(said))
  return isOfTokens && (comparedWith.test(said) || limited.test(said))
}

/**
 * Whether a limit of time, of money or of the reply is named as the cause, in whichever sentence: as one that something goes
 * beyond. What only says how much of it there is names no cause.
 */
export function namesOtherCause(said: string): boolean {
  const isOfReply = ofOutput.test(said) && !ofPrompt.test(said) && !ofContext.test(said)
  return ofTime.test(said) || ((ofMeans.test(said) || isOfReply) && usedUp.test(said))
}

/** Whether words are about another limit than a prompt's: of time, money, output, bytes, characters, counts of things. */
export function isOfOtherLimit(said: string): boolean {
  if (isOfOtherUnit(said)) return true
  if (ofOutput.test(said) && !ofPrompt.test(said)) return true
  return asides.test(said) && !ofContext.test(said)
}

/** Whether words are about who asks, and not about what is asked. */
export function isOfCaller(said: string): boolean {
  return ofCaller.some((pattern) => pattern.test(said))
}

/** Whether words speak of what an overflow never speaks of. */
export function isOfOtherUnit(said: string): boolean {
  return otherLimits.some((pattern) => pattern.test(said))
}

// --- internal ---

const context = String.raw`(?:(?:\b|\bmax_|\bmodel_)context[ _-]?(?:length|window|size|limit|len|budget|tokens?|overflow)|max (?:message|prompt|input|context|total) tokens|n_ctx|num_ctx|max_model_len|max_seq\w*_len\w*|(?:model|sequence|session)(?:'s)? (?:\w+ )?length|(?<!(?:completion|output|generation|reply) )length limit)`
const prompt = String.raw`(?:\b(?:prompts?|inputs?(?! (?:stream|field|device|guardrail|list))|conversation|messages|(?:chat )?history|dialogue)\b|n_prompt\b|\b(?:prompt|input)_(?:tokens|length|len|size)\b)`
const request = String.raw`\b(?:request|query|text|message|sequence|chat)\b`
const beyond = String.raw`(?:\bexceed\w*|\btoo (?:long|large|big|lengthy)\b|\btoo many (?:\w+ ){0,2}tokens\b|\b(?:longer|larger|greater|bigger|more|higher) than\b|\bover (?=(?:the|its|our|this|a|max\w*|limit|context)\b)|\babove (?:the|this|its|a|max\w*)\b|\bbeyond\b|\bsurpass\w*|\bpast (?:the|what|its)\b|\bcannot be (?:greater|longer|larger|more)|\b(?:must|should|may) (?:not exceed|be <=?|(?:have|be|contain) (?:less|at most|shorter|fewer|below|under|smaller|no more|no longer))|\b(?:cannot|not|n't|no longer|unable to) (?:\w+ )?fits?\b|\btoo (?:high|much)\b|\boversized\b|\boverflow\w*|\b(?:this|so) long\b|\btoo small\b|\bonly (?:\d|supports?)|\blimit reached)`
const limit = String.raw`(?:${beyond}|\bat most\b|\bno more than\b|\bup to\b|\bmaximum\b|\bmax\b|\bmax_\w+|\bcapacity\b|\blimit\w*|\ballow(?:s|ed)\b|\bavailable\b|\bsupports?\b|\bfull\b)`
const gap = '.{0,80}?'

function near(one: string, other: string, between = gap): RegExp {
  return new RegExp(`${one}${between}${other}|${other}${between}${one}`, 'i')
}

const overflowing: readonly RegExp[] = [
  near(
    String.raw`\b(?:prompt|input|conversation|chat)\b`,
    String.raw`(?:\b(?:limit|maximum(?: length)?)\b.{0,30}?\breached\b|\breached the (?:max\w*|limit)|\blimit exceeded)`,
  ),
  near(context, String.raw`(?:${beyond}|\bfull\b|\breached\b)`),
  near(prompt, beyond),
  // The context as such, where it is full or too small.
  near(
    String.raw`\bcontext\b(?! (?:deadline|cancell?ed|variable|manager|creation))`,
    String.raw`\b(?:exceed(?:ed|s)|overflow\w*|overrun|full|too (?:long|large|small)|exhausted|limit (?:hit|reached))\b`,
    '.{0,24}?',
  ),
  /\bmore context than\b|\bmore (?:text|tokens|input) than the model\b|\bout of context\b|\breached (?:the )?max\w* context\b|\btoo many (?:prompt|input|context) tokens\b/i,
  near(
    String.raw`\btokens?(?: count)?\b`,
    String.raw`(?:\bexceed\w*|\b(?:larger|greater|more) than|>) .{0,30}?\b(?:model|limit|max\w*|allowed)\b`,
    '.{0,16}?',
  ),
  // A refusal that names the window.
  new RegExp(String.raw`\bmax\w* ${context} (?:is|of|:) (?:only )?\d`, 'i'),
  new RegExp(
    String.raw`\bmax\w* (?:${prompt}|context)(?: (?:size|length|tokens?))? ?(?:is|of|:) (?:only )?\d`,
    'i',
  ),
  new RegExp(String.raw`\b(?:reduce|shorten) (?:the (?:length|size) of )?(?:the |your )?${prompt}`, 'i'),
  near(String.raw`\btoo many (?:\w+ )?tokens`, String.raw`\b(?:model|limit|maximum)`),
  // Chinese, Japanese, Korean.
  /(?:上下文|[输輸]入|提示[词詞]|消息|訊息|[对對][话話]|[请請]求|token|令牌|prompt).{0,30}?(?:超[过過出长長]|[过過][长長]|太[长長]|大[于於]|超限)|超[过過出].{0,20}?(?:上下文|最大.{0,6}token)/i,
  /(?:コンテキスト|プロンプト|入力|トークン|対話|会話|メッセージ).{0,30}?(?:超え|超過|長すぎ|上限)/i,
  /(?:컨텍스트|프롬프트|입력|토큰|대화|메시지).{0,30}?(?:초과|너무 (?:깁|길|깊))/,
  // German, French, Spanish, Portuguese, Italian, Russian.
  /(?:eingabe|anfrage|prompt|kontext|nachricht|unterhaltung|token).{0,50}?(?:überschreit|zu lang|zu groß|länger als|größer als|mehr als)|(?:überschreit|zu lang|zu viele).{0,50}?(?:kontext|token|prompt)/i,
  /(?:entrée|requête|invite|prompt|contexte|messages?|conversation|jetons).{0,50}?(?:dépass|trop long|plus longue? que|supérieure? à)|(?:dépass|trop de).{0,50}?(?:contexte|jetons|tokens)/i,
  /(?:entrada|solicitud|contexto|mensajes?|mensagem|mensagens|conversación|conversa|prompt|tokens|contesto|richiesta|messaggi).{0,50}?(?:exced|supera|demasiado larg|demasiad[oa]s|más larg|muito long|long[oa] demais|troppo lung|sobrepasa|ultrapassa)/i,
  /(?:запрос|ввод|промпт|контекст|сообщени|токен|диалог).{0,50}?(?:превы|слишком (?:длин|больш)|длиннее|больше|переполн)|(?:превы|слишком (?:длин|больш|мног)).{0,50}?(?:контекст|промпт|запрос|токен)/i,
]

const compared = new RegExp(`${prompt}|\\bcontext\\b|${context}|n_tokens`, 'i')
const requested = new RegExp(request, 'i')
const comparedWith =
  /\bcan (?:handle|take|hold|read|process|accept)\b|\baccepts?\b|\bconfigured\b|\bholds?\b|\breads?\b|\bwithin\b|\bwindow\b|\bcontext[ _](?:length|size)\b|[<>/]|\bof the\b|最大|上限/i
const limited = new RegExp(limit, 'i')
const requestBeyond = near(request, beyond)
const tokensAndLimit = near(String.raw`\btokens?\b`, limit)

const ofContext = new RegExp(
  `${context}|上下文|コンテキスト|컨텍스트|kontext|contexte|contexto|контекст`,
  'i',
)
const ofPrompt = new RegExp(`${prompt}|${request}${gap}tokens`, 'i')
const ofOutput =
  /max_?(?:completion_|output_|new_)?tokens|max(?:imum)? (?:(?:completion|output|new) )?tokens|\b(?:output|completion|generation|generated|new tokens|num_predict)\b|输出|出力|출력|ausgabe|sortie|salida|вывод/i

const ofTime =
  /\b(?:tokens|requests|input) per (?:second|minute|min|hour|day|week|month)\b|\b(?:a|per|each|every|this|last) (?:minute|hour|day|week|month)\b|\/ ?(?:sec|min|minute|hour|day|month)\b|\b(?:hourly|weekly|monthly)\b|\b[tr]p[mhd]\b/i
const ofMeans =
  /\b(?:daily|today)\b|\brate[ _-]?limit\w*|\bquota\b|\bcredits\b|\bbalance\b|\ballowance\b|\bspend\w*|\bprepaid\b|\bpayment\b|\bconcurren\w*|\boverloaded\b|\bqueue\b|\bbatch size\b|\b(?:token|api) (?:budget|key)\b/i
const usedUp = new RegExp(
  String.raw`${beyond}|\b(?:limited|reached|exhausted|insufficient|overloaded|full|low|used up|at most|maximum of|increase|you (?:asked|requested))\b|\bout of\b|\bnot enough\b`,
  'i',
)

/** What is about who asks: how often, for how much, with which key, and what for. */
const ofCaller: readonly RegExp[] = [
  /\bper (?:second|minute|min|hour|day|week|month)\b|\/ ?(?:s|sec|min|minute|hour|day|month)\b|\ba (?:minute|day|week|month)\b|\b(?:last|this|each|every|\d) (?:seconds?|minutes?|hours?|days?|weeks?|months?)\b|\b(?:daily|hourly|weekly|monthly)\b|\b[tr]p[smhd]\b|\btoo (?:quickly|fast|frequently|often)\b/i,
  /\brate\b|\bquota\b|\bplans?\b|\btier\b|\bbilling\b|\bcredits?\b|\bbalance\b|\bsubscription\b|\ballowance\b|\busage\b|\bused up\b|\bspend\w*|\bpaid\b|\bprepaid\b|\bpayment\b|\baccount\b|\bupgrade\b|\bconcurren\w*|\bqueue\w*|\boverloaded\b|\bretries\b|\bwait(?:ing)?\b|\b(?:token|api|this) (?:budget|key)\b/i,
  /\b(?:jwt|bearer|csrf|oauth|session (?:token|key|id)s?|access token|api key|authenticat\w*|password|expired?)\b/i,
  /\b(?:flagged|blocked|policy|safety|moderation|injection|unsafe)\b/i,
  /\btokens? (?:invalid|is (?:invalid|malformed|too long|expired)|has expired)|\bunexpected token\b/i,
]

/** Whatever else a sentence says: one about an overflow speaks of none of these. */
const otherLimits: readonly RegExp[] = [
  ...ofCaller,
  /\b(?:kilo|mega|giga)?bytes?\b|\d ?[kmg]i?b\b|\bpixels?\b|\bseconds?\b|\bminutes?\b|\bhours?\b|\bpages?\b|\bframes?\b|\bmegapixels?\b|\bdimensions?\b/i,
  /\btime(?:d|s)?[ -]?out\b|\bdeadline\b|\btook too long\b|\bcancell?ed\b|\bmemory\b|\btoday\b|\btemporarily\b|\bunavailable\b|\bbusy\b|\bcuda\b|\ballocat/i,
  /\b(?:number of|too many|count of|at least one|more than|at most|maximum of|limit of|exceeds?(?: the)?(?: maximum)?(?: of)?) ?(?:[\d,._]+ )?(?:messages?|images?|tools?|files?|functions?|requests?|choices|items|properties|keys|entries|values|documents|sequences|levels|blocks|parts|content parts|turns|rounds|tool calls|calls|devices|records|attachments|nested|options|stop)\b(?!.{0,40}?\b(?:context|tokens))/i,
  // A few of something, or the number of something, that is not tokens.
  /\b(?:exceeds?|than|most|least|over|up to|max(?:imum)? of|limit of) (?:\d{1,2}(?: [a-z]|[.;,]? |[.;,]?$)|(?:one|two|three|four|five|ten)\b)|\b(?:max\w*|allowed) number of (?!(?:\w+ )?tokens)/i,
  /\b(?:string|array|list of|max_?items|max_?length \d|nesting|nested|recursion|depth|grammar|regex|enum|propert\w+|field required|fields?|metadata|description|logit_bias|temperature|seed|penalty|top_\w+|logprobs|cache_control|cache breakpoints?|prompt_cache\w*|names?|rank)\b/i,
  /\b(?:batch|embedding|embeddings|rerank\w*|fine-tun\w*|thinking|reasoning|effort|voice|prompt cache|cache(?:d| miss| hit)|caching|draft model|in flight|(?<!model )capacity|speculative|signature|position|previous_response_id|ids?)\b/i,
  /每分钟|每秒|每天|配额|余额|限流|并发|账户|字节|字符|图片|文件|频率|速率|输出|[\d ]MB/i,
  /分あたり|レート|画像|ファイル|文字|バイト|出力|분당|이미지|파일|글자|바이트|출력|할당량/,
  /pro (?:minute|stunde|tag)|par (?:minute|heure|jour)|por (?:minuto|hora|día|dia)|al minuto|в (?:минуту|час|день)|datei|fichier|archivo|arquivo|файл|zeichen|caract|octets|символ|байт|bild(?:er)?\b|imagen|изображ|квот/i,
]

/** What an overflow may mention as well, but is not about. */
const asides =
  /\bcharacters?\b|\bchars\b|\bimages?\b|\baudio\b|\bvideos?\b|\bfiles?\b|\bpdf\b|\battachments?\b|\btool\b|\bfunctions?\b|\bschema\b|\bjson\b|\buser\b|\bdocuments?\b|\buri\b|\burl\b/i
