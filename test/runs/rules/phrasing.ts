/** The ways in which users say what has to hold. */
export const forms = [
  'prohibition',
  'obligation',
  'restriction',
  'preference',
  'choice',
  'correction',
  'agreement',
  'answer',
  'fact',
] as const
export type Form = (typeof forms)[number]

/** Known: may be looked at while the rules of recaps are written. Apart: may not. */
export const halves = ['known', 'apart'] as const
export type Half = (typeof halves)[number]

export type Language =
  | 'en'
  | 'de'
  | 'fr'
  | 'es'
  | 'pt'
  | 'it'
  | 'nl'
  | 'pl'
  | 'ru'
  | 'tr'
  | 'zh'
  | 'ja'
  | 'ko'
  | 'ar'
  | 'hi'

type ByLanguage<Said> = Readonly<Partial<Record<Language, readonly Said[]>>>

/** Three ways out of something, of which the user takes one. */
export type Scenario = {
  /** What the user asked. */
  readonly asked: string
  /** With what the assistant leads over to its list. */
  readonly lead: string
  readonly options: readonly [Option, Option, Option]
}

export type Option = { readonly name: string; readonly text: string }

/** A half as it is written down. Each text is one sentence, as a user would type it. */
export type Phrasings = {
  readonly prohibition: ByLanguage<string>
  readonly obligation: ByLanguage<string>
  readonly restriction: ByLanguage<string>
  readonly preference: ByLanguage<string>
  readonly fact: ByLanguage<string>
  /** `{option}` is the name of the option at `picks`. */
  readonly choice: ByLanguage<{ readonly says: string; readonly picks: 0 | 1 | 2 }>
  readonly scenarios: readonly [Scenario, ...Scenario[]]
  /** What the user said first, and what holds instead. */
  readonly correction: ByLanguage<{ readonly old: string; readonly says: string }>
  /** What the assistant proposed, and the user's yes. */
  readonly agreement: ByLanguage<{ readonly proposal: string; readonly says: string }>
  /** What the assistant asked, and the user's answer. */
  readonly answer: ByLanguage<{ readonly question: string; readonly says: string }>
}

/** One rule or decision as a user words it, with what was said before it. */
export type Phrasing = {
  readonly language: Language
  readonly says: string
} & (
  | { readonly form: 'prohibition' | 'obligation' | 'restriction' | 'preference' | 'fact' }
  | { readonly form: 'choice'; readonly picks: 0 | 1 | 2 }
  | { readonly form: 'correction'; readonly old: string }
  | { readonly form: 'agreement' | 'answer'; readonly assistant: string }
)

/** All phrasings of a half, as one list. */
export function listOf(half: Phrasings): readonly Phrasing[] {
  const stated = (['prohibition', 'obligation', 'restriction', 'preference', 'fact'] as const).flatMap(
    (form) => each(half[form], (says, language): Phrasing => ({ form, language, says })),
  )
  return [
    ...stated,
    ...each(half.choice, (said, language): Phrasing => ({ form: 'choice', language, ...said })),
    ...each(half.correction, (said, language): Phrasing => ({ form: 'correction', language, ...said })),
    ...each(half.agreement, ({ proposal, says }, language): Phrasing => ({
      form: 'agreement',
      language,
      says,
      assistant: proposal,
    })),
    ...each(half.answer, ({ question, says }, language): Phrasing => ({
      form: 'answer',
      language,
      says,
      assistant: question,
    })),
  ]
}

// --- internal ---

const languages = [
  'en',
  'de',
  'fr',
  'es',
  'pt',
  'it',
  'nl',
  'pl',
  'ru',
  'tr',
  'zh',
  'ja',
  'ko',
  'ar',
  'hi',
] as const satisfies readonly Language[]

function each<Said, Listed>(
  said: ByLanguage<Said>,
  list: (said: Said, language: Language) => Listed,
): readonly Listed[] {
  return languages.flatMap((language) => (said[language] ?? []).map((one) => list(one, language)))
}
