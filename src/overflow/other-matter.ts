/**
 * Whether an error says that something is wrong with a request other than its length: an image that cannot be loaded, a
 * role, a tool, a model that is not there. Such refusals repeat what the client sent, perhaps without marking it, so that
 * nothing of their text may be taken for the server's word on lengths. Asked of the whole text, since who breaks out of a
 * quotation may break off the server's sentence.
 */
export function isFault(text: string): boolean {
  const withoutAddresses = text.replaceAll(/\b[a-z]{1,10}:\/\/\S*/gi, '')
  return faults.some((pattern) => pattern.test(withoutAddresses))
}

// --- internal ---

const things = String.raw`(?:ur[li]s?|images?|files?|filenames?|media|audio|video|mime|roles?|tools?|functions?|schemas?|ids?|identifiers?|names?|headers?|json|utf|base|models?|engines?|deployments?|types?|formats?|enum|encoding|propert(?:y|ies)|keys?|fields?|characters?|escape|grammar|regex|tool_\w+|attachments?|documents?|cookies?|origin|methods?|endpoints?|paths?|routes?|syntax|token|tokens (?:in|at)|language|voice|user)`

const faults: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:invalid|unsupported|unknown|unexpected|unrecogni[sz]ed|undefined|malformed|illegal|duplicate|missing|incorrect|disallowed|corrupt\w*|unreadable|no such|no matching)(?: [\w.'\u2026/-]{1,40}){0,3}? ${things}\b`,
    'i',
  ),
  /\b(?:unknown|unexpected|unrecogni[sz]ed|unsupported|undefined) (?:request )?(?:param\w*|arguments?|value|input|content)\b|\binvalid (?:value(?! for)|entry|option|choice|setting)\b/i,
  /\bnot[ _]?found\b|\b(?:does not|doesn't|did not|do not) (?:exist|match|support)\b|\b(?:is|are|was|were) not (?:a |an )?(?:valid|supported|allowed|permitted|recogni[sz]ed|known|defined|found|loaded|accessible|reachable|served|ready|one of|available (?:in|for|to|on|here))\b|\b(?:is|are) (?:missing|not available[.!]?$)|\bnot supported\b|\bnot a (?:valid|known)\b|\b(?:is|was|has been) (?:invalid|unknown|unsupported|malformed|unavailable|deprecated|retired|decommissioned|removed)\b|\b(?:no|not have|denied) access\b|\baccess (?:(?:is|was) )?denied\b/i,
  /\bmust be one of\b|\bexpected one of\b|\bsupported values\b|\bvalid values\b|\bshould be one of\b|\binput should be\b|\bvalidation errors? for\b|\bfield required\b|\bextra inputs?\b|\bmust (?:be|match|start|contain|have) (?:an? |the )?(?:string|object|array|list|integer|number|boolean|pattern|uri|url|valid)\b/i,
  /\bexpected (?:an? |the )?(?:string|object|array|list|integer|number|boolean|role|type|value|json|url|valid|one|\u2026)/i,
  /\b(?:failed|failure|unable|could ?n[o']t|could not|cannot|can't|can not|error|errors|problem|exception|trouble|while|when) (?:to |while |when |in |during |on )?(?:be )?(?:download|fetch|pars|decod|open|retriev|resolv|load|upload|convert|deseriali[sz]|seriali[sz]|connect|locat|identif|import|render|access|read(?!y|ing the prompt))\w*/i,
  new RegExp(
    String.raw`\b(?:unable to|failed to|could not|couldn't|cannot|can't) (?:process|handle|use|understand|interpret) (?:the |this |your |an? )?${things}\b`,
    'i',
  ),
  // What a message begins with is what it is about.
  /^(?:the |this |your |an? )?(?:images?|files?|filename|audio|videos?|tools?|functions?|roles?|deployment|engine(?! prompt\b)|language|documents?|attachments?|keys?|voice|users?|organi[sz]ation|project|param\w*|arguments?|fields?|propert\w+|values?|option|stop|schema)\b/im,
  /\bno (?:\w+ )?(?:endpoints?|providers?|deployments?|models?|routes?|channels?|tools?|functions?|files?|handlers?)\b.{0,40}?\b(?:found|available|for|match\w*|named|called|with|configured)\b|\bthere is no\b/i,
  // Guards and checks that repeat what they object to.
  /\bguard(?:rail)?s?\b|\bforbidden\b|\bblocked\b|\bmoderation\b|\b(?:template|syntax|key) ?error\b|\bundefined\b|\billegal\b|\btitle\b/i,
  // What an overflow never speaks of.
  /\bheaders?\b|\bcookies?\b|\burls?\b|\buris?\b|\bmime\b|\bbase64\b|\butf-?8\b|\broles?\b|\bfile ?names?\b|\b(?:tool|function|file|user|property|field|parameter|schema|server|model|prompt) names?\b|\b(?:tool|function)[ _](?:call|use|result)?[ _]?(?:ids?|arguments?)\b|\bcall[ _]ids?\b|\bdownload\w*|\bcontent[- ]type\b/i,
  /\.(?:png|jpe?g|gif|webp|bmp|svg|tiff?|heic|pdf|docx?|xlsx?|pptx?|csv|txt|md|mp[34]|m4a|wav|ogg|webm|flac|avi|mov|zip|tar|gz|html?|json|ya?ml|xml)\b/i,
  // The place of one field: messages[3].content, messages.3.role, $.tools[0].
  /(?:\b(?:messages|contents?|inputs?|tools|body|functions|request)|\$)(?:\.\w{1,40}){0,2}(?:\[\d+\]|\.\d+(?![\d,]))|\$\.\w|\/(?:messages|input|tools)\/\d/i,
  /无可用|不存在|未找到|找不到|无效|不支持|格式错误|解析失败|下载失败|無効|見つかりません|サポートされていません|존재하지|찾을 수 없|유효하지|지원하지/,
]
