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

// --- internal ---

export const context = String.raw`(?:(?:\b|\bmax_|\bmodel_)context[ _-]?(?:length|window|size|limit|len|budget|tokens?|overflow)|n_ctx|num_ctx|max_model_len|max_seq\w*_len\w*|(?:model|sequence|session)(?:'s)? (?:\w+ )?length|length limit)`
export const prompt = String.raw`(?:\b(?:prompts?|inputs?(?! (?:stream|field|device|guardrail|list))|conversation|messages|(?:chat )?history|dialogue)\b|n_prompt\b|\b(?:prompt|input)_(?:tokens|length|len|size)\b)`
export const request = String.raw`\b(?:request|query|text|message|sequence|chat)\b`
const beyond = String.raw`(?:\bexceed\w*|\btoo (?:long|large|big|lengthy)\b|\btoo many (?:\w+ ){0,2}tokens\b|\b(?:longer|larger|greater|bigger|more|higher) than\b|\bover (?=(?:the|its|our|this|a|max\w*|limit|context)\b)|\babove (?:the|this|its|a|max\w*)\b|\bbeyond\b|\bsurpass\w*|\bpast (?:the|what|its)\b|\bcannot be (?:greater|longer|larger|more)|\b(?:must|should|may) (?:not exceed|be <=?|(?:have|be|contain) (?:less|at most|shorter|fewer|below|under|smaller|no more|no longer))|\b(?:cannot|not|n't|no longer|unable to) (?:\w+ )?fits?\b|\btoo (?:high|much)\b|\boversized\b|\boverflow\w*|\b(?:this|so) long\b|\btoo small\b|\bonly (?:\d|supports?)|\blimit reached)`
const limit = String.raw`(?:${beyond}|\bat most\b|\bno more than\b|\bup to\b|\bmaximum\b|\bmax\b|\bmax_\w+|\bcapacity\b|\blimit\w*|\ballow(?:s|ed)\b|\bavailable\b|\bsupports?\b|\bfull\b)`
export const gap = '.{0,80}?'

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
