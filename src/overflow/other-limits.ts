import { context, gap, prompt, request } from './length-words.ts'

/** Whether words are about another limit than a prompt's: of time, money, output, bytes, characters, counts of things. */
export function isOfOtherLimit(said: string): boolean {
  if (otherLimits.some((pattern) => pattern.test(said))) return true
  if (ofOutput.test(said) && !ofPrompt.test(said)) return true
  return asides.test(said) && !ofContext.test(said)
}

// --- internal ---

const ofContext = new RegExp(
  `${context}|上下文|コンテキスト|컨텍스트|kontext|contexte|contexto|контекст`,
  'i',
)
const ofPrompt = new RegExp(`${prompt}|${request}${gap}tokens`, 'i')
const ofOutput =
  /max_?(?:completion_|output_|new_)?tokens|max(?:imum)? (?:(?:completion|output|new) )?tokens|\b(?:output|completion|generation|generated|new tokens|num_predict)\b|输出|出力|출력|ausgabe|sortie|salida|вывод/i

/** Whatever else is said: an overflow speaks of none of these. */
const otherLimits: readonly RegExp[] = [
  /\bper (?:second|minute|min|hour|day|week|month)\b|\/ ?(?:s|sec|min|minute|hour|day|month)\b|\ba (?:minute|day|week|month)\b|\b(?:last|this|each|every|\d) (?:seconds?|minutes?|hours?|days?|weeks?|months?)\b|\b(?:daily|hourly|weekly|monthly)\b|\b[tr]p[smhd]\b/i,
  /\brate\b|\bquota\b|\bplans?\b|\btier\b|\bbilling\b|\bcredits?\b|\bbalance\b|\bsubscription\b|\ballowance\b|\busage\b|\bused up\b|\bspend\w*|\bpaid\b|\bprepaid\b|\bpayment\b|\baccount\b|\bupgrade\b|\bconcurren\w*|\bqueue\w*|\boverloaded\b|\bretries\b|\bwait(?:ing)?\b|\b(?:token|api|this) (?:budget|key)\b/i,
  /\b(?:kilo|mega|giga)?bytes?\b|\d ?[kmg]i?b\b|\bpixels?\b|\bseconds?\b|\bminutes?\b|\bhours?\b|\bpages?\b|\bframes?\b|\bmegapixels?\b|\bdimensions?\b/i,
  /\btime(?:d|s)?[ -]?out\b|\bdeadline\b|\btook too long\b|\bcancell?ed\b|\bexpired?\b|\bmemory\b|\btoday\b|\btemporarily\b|\bunavailable\b|\bbusy\b|\bcuda\b|\ballocat/i,
  /\b(?:number of|too many|count of|at least one|more than|at most|maximum of|limit of|exceeds?(?: the)?(?: maximum)?(?: of)?) ?(?:[\d,._]+ )?(?:messages?|images?|tools?|files?|functions?|requests?|choices|items|properties|keys|entries|values|documents|sequences|levels|blocks|parts|content parts|turns|rounds|tool calls|calls|devices|records|attachments|nested|options|stop)\b(?!.{0,40}?\b(?:context|tokens))/i,
  // A few of something, or the number of something, that is not tokens.
  /\b(?:exceeds?|than|most|least|over|up to|max(?:imum)? of|limit of) (?:\d{1,2}(?: [a-z]|[.;,]? |[.;,]?$)|(?:one|two|three|four|five|ten)\b)|\b(?:max\w*|allowed) number of (?!(?:\w+ )?tokens)/i,
  /\b(?:string|array|list of|max_?items|max_?length \d|nesting|nested|recursion|depth|grammar|regex|enum|propert\w+|field required|fields?|metadata|description|logit_bias|temperature|seed|penalty|top_\w+|logprobs|cache_control|cache breakpoints?|prompt_cache\w*|names?|rank)\b/i,
  /\b(?:batch|embedding|embeddings|rerank\w*|fine-tun\w*|thinking|reasoning|effort|voice|jwt|bearer|csrf|oauth|session (?:token|key|id)s?|prompt cache|cache(?:d| miss| hit)|caching|draft model|in flight|(?<!model )capacity|speculative|access token|api key|authenticat\w*|signature|password|position|previous_response_id|ids?)\b/i,
  /\b(?:flagged|blocked|policy|safety|moderation|injection|unsafe)\b/i,
  /\btokens? (?:invalid|is (?:invalid|malformed|too long|expired)|has expired)|\bunexpected token\b/i,
  /每分钟|每秒|每天|配额|余额|限流|并发|账户|字节|字符|图片|文件|频率|速率|输出|[\d ]MB/i,
  /分あたり|レート|画像|ファイル|文字|バイト|出力|분당|이미지|파일|글자|바이트|출력|할당량/,
  /pro (?:minute|stunde|tag)|par (?:minute|heure|jour)|por (?:minuto|hora|día|dia)|al minuto|в (?:минуту|час|день)|datei|fichier|archivo|arquivo|файл|zeichen|caract|octets|символ|байт|bild(?:er)?\b|imagen|изображ|квот/i,
]

/** What an overflow may mention as well, but is not about. */
const asides =
  /\bcharacters?\b|\bchars\b|\bimages?\b|\baudio\b|\bvideos?\b|\bfiles?\b|\bpdf\b|\battachments?\b|\btool\b|\bfunctions?\b|\bschema\b|\bjson\b|\buser\b|\bdocuments?\b|\buri\b|\burl\b/i
