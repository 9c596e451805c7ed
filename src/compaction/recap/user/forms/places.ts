/** How a language names a place in a list. Words with blanks between them, in the spelling of `evened`. */
export type PlaceForm = {
  /** ISO 639-1. */
  readonly language: string
  /** For the first place, the second, the third and the fourth. */
  readonly ordinals: readonly [string, string, string, string]
  /** The same as they count; most are other words elsewhere, so they count alone or behind a noun only. */
  readonly cardinals: readonly [string, string, string, string]
  readonly last: string
  /** Nouns that stand behind an ordinal: "the second one". */
  readonly behind: string
  /** Nouns that stand before a number or a letter: "option two"; `isBeforeOrdinals`: before an ordinal, too. */
  readonly before: string
  readonly isBeforeOrdinals?: boolean
  readonly articles: string
  /** What stands beside an ordinal that is chosen: "let's go with the second". */
  readonly choosing: string
  /** A choice of the second place. */
  readonly sample: string
}

export const placeForms: readonly PlaceForm[] = [
  {
    language: 'en',
    ordinals: ['first 1st former', 'second 2nd latter', 'third 3rd', 'fourth 4th'],
    cardinals: ['one', 'two', 'three', 'four'],
    last: 'last',
    behind: 'one option variant choice alternative approach solution proposal suggestion idea',
    before: 'option variant number choice alternative approach solution proposal suggestion',
    articles: 'the',
    choosing:
      "let's lets go with for take i i'd i'll we we'd we'll choose pick want prefer use do have it is",
    sample: "Let's go with the second one.",
  },
  {
    language: 'de',
    ordinals: [
      'erste ersten erster erstes erstere ersteres ersteren',
      'zweite zweiten zweiter zweites letztere letzteres letzteren',
      'dritte dritten dritter drittes',
      'vierte vierten vierter viertes',
    ],
    cardinals: ['eins', 'zwei', 'drei', 'vier'],
    last: 'letzte letzten letzter letztes',
    behind: 'variante option möglichkeit lösung alternative vorschlag weg ansatz',
    before: 'variante option möglichkeit lösung alternative vorschlag nummer',
    articles: 'der die das den dem',
    choosing: 'ich wir nehme nehmen nimm will wollen lieber mit für',
    sample: 'Dann nehmen wir die zweite Variante.',
  },
  {
    language: 'nl',
    ordinals: ['eerste', 'tweede', 'derde', 'vierde'],
    cardinals: ['een één', 'twee', 'drie', 'vier'],
    last: 'laatste',
    behind: 'optie variant mogelijkheid oplossing keuze voorstel aanpak',
    before: 'optie variant nummer keuze mogelijkheid voorstel',
    articles: 'de het',
    choosing: 'ik we wij neem nemen kies kiezen liever met voor doe',
    sample: 'De tweede optie graag.',
  },
  {
    language: 'sv',
    ordinals: ['första', 'andra', 'tredje', 'fjärde'],
    cardinals: ['ett', 'två', 'tre', 'fyra'],
    last: 'sista',
    // Without the article at their end they would be other ones: "andra alternativ".
    behind: 'alternativet varianten lösningen förslaget',
    before: 'alternativ variant nummer förslag',
    articles: 'den det',
    choosing: 'jag vi tar väljer ta kör på',
    sample: 'Vi tar det andra alternativet.',
  },
  {
    language: 'da',
    ordinals: ['første', 'anden andet', 'tredje', 'fjerde'],
    cardinals: ['en', 'to', 'tre', 'fire'],
    last: 'sidste',
    behind: 'mulighed løsning',
    before: 'mulighed nummer løsning',
    articles: 'den det',
    choosing: 'jeg vi tager vælger tag',
    sample: 'Vi tager den anden.',
  },
  {
    language: 'nb',
    ordinals: ['første', 'andre', 'tredje', 'fjerde'],
    cardinals: ['en', 'to', 'tre', 'fire'],
    last: 'siste',
    behind: 'alternativet løsningen forslaget',
    before: 'alternativ nummer forslag',
    articles: 'den det',
    choosing: 'jeg vi tar velger ta',
    sample: 'Det andre alternativet, takk.',
  },
  {
    language: 'fr',
    ordinals: ['premier première', 'deuxième second seconde', 'troisième', 'quatrième'],
    cardinals: ['un', 'deux', 'trois', 'quatre'],
    last: 'dernier dernière',
    behind: 'option variante solution proposition possibilité approche choix',
    before: 'option variante solution numéro proposition',
    articles: 'le la',
    choosing: 'je on nous prends prenons prend choisis choisissons prendre pour avec va veux préfère',
    sample: 'Je choisis la deuxième solution.',
  },
  {
    language: 'es',
    ordinals: ['primero primera primer', 'segundo segunda', 'tercero tercera tercer', 'cuarto cuarta'],
    cardinals: ['uno', 'dos', 'tres', 'cuatro'],
    last: 'último última',
    behind: 'opción variante solución propuesta alternativa',
    before: 'opción variante número solución alternativa propuesta',
    articles: 'el la lo',
    choosing: 'me quedo con vamos elijo elegimos prefiero quiero tomo por',
    sample: 'Me quedo con la segunda opción.',
  },
  {
    language: 'pt',
    ordinals: ['primeiro primeira', 'segundo segunda', 'terceiro terceira', 'quarto quarta'],
    cardinals: ['um', 'dois', 'três', 'quatro'],
    last: 'último última',
    behind: 'opção variante solução proposta alternativa',
    before: 'opção variante número solução alternativa proposta',
    articles: 'o a',
    choosing: 'fico com vamos escolho quero prefiro pela pelo',
    sample: 'Vamos com a segunda opção.',
  },
  {
    language: 'it',
    ordinals: ['primo prima', 'secondo seconda', 'terzo terza', 'quarto quarta'],
    cardinals: ['uno', 'due', 'tre', 'quattro'],
    last: 'ultimo ultima',
    behind: 'opzione variante soluzione proposta alternativa',
    before: 'opzione variante numero soluzione alternativa proposta',
    articles: 'il la lo',
    choosing: 'prendo prendiamo scelgo scegliamo preferisco voglio andiamo con per',
    sample: 'Prendiamo la seconda opzione.',
  },
  {
    language: 'cs',
    ordinals: ['první', 'druhý druhá druhou druhé', 'třetí', 'čtvrtý čtvrtá čtvrtou'],
    cardinals: ['jedna', 'dva dvě', 'tři', 'čtyři'],
    last: 'poslední',
    behind: 'možnost možností varianta variantu řešení návrh',
    before: 'možnost varianta variantu číslo řešení návrh',
    articles: '',
    choosing: 'ta tu ten beru bereme vyberu vezmeme',
    sample: 'Bereme druhou variantu.',
  },
  {
    language: 'pl',
    ordinals: [
      'pierwszy pierwsza pierwszą',
      'drugi druga drugą',
      'trzeci trzecia trzecią',
      'czwarty czwarta',
    ],
    cardinals: ['jeden', 'dwa', 'trzy', 'cztery'],
    last: 'ostatni ostatnia ostatnią',
    behind: 'opcja opcję wariant rozwiązanie propozycja propozycję',
    before: 'opcja opcję wariant numer rozwiązanie',
    articles: '',
    choosing: 'ten ta tę biorę bierzemy wybieram wybieramy',
    sample: 'Wybieram drugą opcję.',
  },
  {
    language: 'ru',
    ordinals: [
      'первый первая первое первую',
      'второй вторая второе вторую',
      'третий третья третье третью',
      'четвёртый четвертый четвёртая четвертая',
    ],
    cardinals: ['один', 'два', 'три', 'четыре'],
    last: 'последний последняя последнюю',
    behind: 'вариант вариантом способ решение опция опцию',
    before: 'вариант номер способ опция опцию',
    articles: '',
    choosing: 'давай давайте берём берем беру возьмём выбираю',
    sample: 'Давай второй вариант.',
  },
  {
    language: 'uk',
    ordinals: [
      'перший перша перше першу',
      'другий друга друге другу',
      'третій третя третє третю',
      'четвертий четверта',
    ],
    cardinals: ['один', 'два', 'три', 'чотири'],
    last: 'останній остання останню',
    behind: 'варіант спосіб рішення опція опцію',
    before: 'варіант номер спосіб опція опцію',
    articles: '',
    choosing: 'давай давайте беремо беру обираю',
    sample: 'Беремо другий варіант.',
  },
  {
    language: 'tr',
    ordinals: ['birinci birincisi ilki', 'ikinci ikincisi', 'üçüncü üçüncüsü', 'dördüncü dördüncüsü'],
    cardinals: ['bir', 'iki', 'üç', 'dört'],
    last: 'sonuncu sonuncusu',
    behind: 'seçenek seçeneği yol yöntem çözüm öneri',
    before: 'seçenek numara yöntem',
    articles: '',
    choosing: 'olsun alalım seçiyorum seçelim ile gidelim',
    sample: 'İkincisi olsun.',
  },
  {
    language: 'ar',
    ordinals: ['الأول الأولى', 'الثاني الثانية', 'الثالث الثالثة', 'الرابع الرابعة'],
    cardinals: ['واحد', 'اثنان اثنين', 'ثلاثة', 'أربعة'],
    last: 'الأخير الأخيرة',
    behind: '',
    before: 'الخيار خيار الحل الاقتراح رقم',
    isBeforeOrdinals: true,
    articles: '',
    choosing: 'سأختار أختار نختار لنأخذ سنأخذ',
    sample: 'سأختار الخيار الثاني.',
  },
  {
    language: 'hi',
    ordinals: ['पहला पहली पहले', 'दूसरा दूसरी दूसरे', 'तीसरा तीसरी तीसरे', 'चौथा चौथी'],
    cardinals: ['एक', 'दो', 'तीन', 'चार'],
    last: 'आखिरी अंतिम',
    behind: 'वाला वाली वाले विकल्प तरीका',
    before: 'विकल्प नंबर',
    articles: '',
    choosing: 'चलो लेते हैं चुनता चुनते हूँ',
    sample: 'चलो दूसरा वाला लेते हैं।',
  },
  {
    language: 'id',
    ordinals: ['pertama', 'kedua', 'ketiga', 'keempat'],
    cardinals: ['satu', 'dua', 'tiga', 'empat'],
    last: 'terakhir',
    behind: '',
    before: 'yang opsi pilihan nomor cara solusi',
    isBeforeOrdinals: true,
    articles: '',
    choosing: 'saya kita pilih ambil pakai',
    sample: 'Saya pilih yang kedua.',
  },
  {
    language: 'vi',
    ordinals: ['', '', '', ''],
    cardinals: ['một nhất', 'hai', 'ba', 'bốn tư'],
    last: 'cuối',
    behind: '',
    // The last words of "phương án", "lựa chọn" and the like; "thứ hai" alone is Monday.
    before: 'cái cách án chọn số',
    isBeforeOrdinals: true,
    articles: 'thứ',
    choosing: 'tôi chọn lấy dùng',
    sample: 'Tôi chọn phương án thứ hai.',
  },
]

/** The same where words run together. Without what follows they are parts of other things: "第二天", "二番目の引数". */
export const unspacedPlaces: readonly RegExp[] = (
  [
    ['一', '一1', '첫'],
    ['二', '二2', '두'],
    ['三', '三3', '세'],
    ['四', '四4', '네'],
  ] as const
).map(
  ([chinese, japanese, korean], place) =>
    new RegExp(
      [
        `第${chinese}[个個种種项項条條]?(?:方案|选项|選項|办法|辦法|做法|选择|選擇|建议|建議|案)`,
        `第${chinese}[个個种種项項条條](?=[吧了]?(?:[\\s\\p{P}]|$))`,
        `[${japanese}](?:番目|つ目)(?:の(?:案|方法|選択肢|方|もの)|(?=でお願い|にし|を選|がいい|[\\s\\p{P}]|$))`,
        `${korean} ?번째(?: ?(?:것|걸|거|방법|안|옵션|선택)|(?=로 ?(?:하|해|가|갈|부탁)|[\\s\\p{P}]*$))`,
        `${place + 1}번(?=으로|[\\s\\p{P}]*$)`,
      ].join('|'),
      'u',
    ),
)

/** Stands beside a place that is chosen and says nothing of it. */
export const courtesies = `please pls thanks thank you yes yeah yep ok okay so then and well hmm definitely no
  bitte danke ja dann nein graag bedankt dus nee nej tack tak takk så s'il te vous plaît merci oui alors non por favor
  gracias sí entonces obrigado obrigada sim então per favore grazie sì allora prosím díky ano tak proszę dziękuję
  nie ne да пожалуйста спасибо тогда тоді нет ні будь ласка дякую lütfen evet teşekkürler hayır نعم شكرا من فضلك لا
  हाँ कृपया धन्यवाद नहीं ya tolong baik tidak vâng xin cảm ơn không`

/** Nouns before a number that number anything. */
export const numberNouns = `number nummer numéro número numero číslo numer номер numara رقم नंबर nomor số`

/** What takes a place out, in any language: it is better to miss a choice than to turn one round. */
export const denials = `every each not no nor neither never none nothing except without but than instead besides cannot skip drop
  too wrong bad worse worst nicht nein kein keine keinen weder nie niemals ohne außer statt anstatt falsch
  niet geen nee noch zonder behalve inte ej nej varken aldrig utom utan ikke hverken verken aldri uten uden
  pas ne ni non jamais sans sauf aucun aucune trop ninguno ninguna nunca sin excepto salvo menos tampoco não nem sem
  exceto nenhum nenhuma né mai nessuno nessuna senza tranne ani kromě bez nechci žádný nie oprócz żaden żadna не ни нет
  кроме без ні крім ані değil hariç dışında ليس ليست لا غير إلا بدون سوى नहीं मत न ना सिवाय बिना jangan bukan tidak
  kecuali tanpa không đừng trừ chẳng`

export const unspacedDenial =
  /[不别別没沒非除无無]|以外|之外|ない|なく|ません|なし|말고|아니|않|빼|제외|싫|안 /u

/** Questions for a number: "two" names no place then. */
export const asksNumber =
  /how (?:many|much|long|often|old|large|big)|wie ?(?:viel|lang|oft|groß)|combien|cuánt|quant|hoeveel|hur m|hvor m|\bile\b|kolik|сколько|скільки|kaç|\bكم\b|कितन|berapa|bao nhiêu|mấy|几|幾|多少|いくつ|何|몇/iu
