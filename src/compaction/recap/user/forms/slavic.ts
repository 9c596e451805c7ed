import type { Form } from './form.ts'

/** How the Slavic languages say that something is to hold. */
export const slavic: readonly Form[] = [
  {
    kind: 'ever',
    language: 'ru',
    phrases: `
      никогда, всегда`,
    sample: 'Никогда по пятницам.',
  },
  {
    kind: 'duty',
    language: 'ru',
    phrases: `
      должен, должна, должно, должны, надо, нужно, следует, необходимо`,
    sample: 'Надо коротко.',
  },
  {
    kind: 'subject',
    language: 'ru',
    phrases: `
      я, он, она, оно, они, мы, мой, моя, моё, мои, наш, наша, его, её, их, этот, эта, это, эти, там`,
    sample: 'я он',
  },
  {
    kind: 'plain',
    language: 'ru',
    phrases: `
      и, в, на, с, по, за, из, к, от, для, не, что, как, но, или, если, же, бы, был, у, до, ты, вы`,
    sample: 'и в на',
  },
  {
    kind: 'rule',
    language: 'ru',
    phrases: `
      обязательно, обязан*, нельзя, ни в коем случае, ни при каких, ни за что, ни под каким,
      категорически, строго, запрещ*, запрет*, недопустимо, не допускается, не разрешается, исключено,
      без исключений, убедись, убедитесь, следи, следите, проследи*, помни, помните, запомни, запомните,
      не забудь, не забудьте, не забывай*, учти, учтите, имей в виду, имейте в виду, важно, обязательн*,
      правило, правила, требование, требования, требую, настаиваю, не надо, не нужно, не следует,
      хочу чтобы, хотим чтобы, прошу, чтобы ты, чтобы вы, чтоб`,
    sample: 'Ни в коем случае не трогай схему.',
  },
  {
    kind: 'order',
    language: 'ru',
    phrases: `
      ^используй*, ^применяй*, ^держи*, ^оставь*, ^оставляй*, ^называй*, ^зови*, ^отвечай*, ^говори*,
      ^пиши*, ^ограничь*, ^считай*, ^исходи*, ^спрашивай*, ^спроси*, ^жди*, ^подожди*, ^предупреждай*,
      ^будь*, ^делай*, ^соблюдай*, ^следуй*, ^придерживайся, ^придерживайтесь, ^обращайся, ^обращайтесь,
      ^проверяй*, ^сначала, ^все, ^всё, ^каждый, ^каждая, ^каждое, ^любой, ^любые`,
    sample: 'Используй везде метрическую систему.',
  },
  {
    kind: 'wish',
    language: 'ru',
    phrases: `
      пожалуйста, хочу, хотим, хотел бы, хотела бы, хотелось бы, желательно, нужен, нужна, нужны,
      было бы хорошо, кстати, ещё одно, еще одно, одна просьба, просьба, прежде чем, перед началом,
      для справки, к сведению, имей, договоримся`,
    sample: 'Одна просьба: мне нужны заголовки.',
  },
  {
    kind: 'refusal',
    language: 'ru',
    phrases: `
      ^не, не надо, не нужно, не хочу, не хотим, не используй*, не пиши*, не делай*, не трогай*,
      не меняй*, не добавляй*, ^никаких, никаких, никакого, никакой, ^без, ^хватит, хватит, перестань*,
      прекрати*, избегай*, воздерж*, ненавижу, терпеть не могу, не люблю, больше не, ничего, ни один,
      ни одного, лучше не, обойдись`,
    sample: 'Никаких эмодзи, пожалуйста.',
  },
  {
    kind: 'limit',
    language: 'ru',
    phrases: `
      только, лишь, исключительно, максимум, не более, не больше, не длиннее, минимум, не менее,
      не меньше, хотя бы, если не, кроме, за исключением, вместо, а не, до тех пор, пока не, прежде`,
    sample: 'Не более трёх предложений.',
  },
  {
    kind: 'standing',
    language: 'ru',
    phrases: `
      отныне, с этого момента, с этих пор, впредь, в дальнейшем, в будущем, до дальнейших, каждый раз,
      всякий раз, когда ты, когда вы, когда я, если ты, если вы, если я, по умолчанию, везде, повсюду,
      во всех, для всех, в каждом, в каждой, при каждом, в случае сомнен*, постоянно, всё время,
      в любом случае, больше никогда`,
    sample: 'Отныне пишем по-русски.',
  },
  {
    kind: 'choice',
    language: 'ru',
    phrases: `
      давай, давайте, выбираю, выбираем, выбрал, выбрала, выбрали, беру, берём, берем, возьмём, возьмем,
      решил, решила, решили, решено, решение, остановимся, останавливаюсь, остаёмся, остаемся, будем,
      пусть будет, вариант *, первый, первая, первое, второй, вторая, второе, третий, третья, последний,
      последняя, другой, другая, договорились, за второй, оставляем, используем, отказались, отказался,
      отказалась, тогда`,
    sample: 'Давай второй вариант.',
  },
  {
    kind: 'preference',
    language: 'ru',
    phrases: `
      предпочитаю, предпочитаем, предпоч*, лучше, мне нравится, нравится, люблю, удобнее, скорее,
      желательно, больше нравится, любимый`,
    sample: 'Я предпочитаю табуляцию.',
  },
  {
    kind: 'correction',
    language: 'ru',
    phrases: `
      на самом деле, вообще то, нет, стой, подожди, я имел в виду, я имела в виду, поправка,
      исправление, вместо этого, передумал, передумала, передумали, забудь, забудьте, отмена, ошибся,
      ошиблась, неправильно, план изменился, планы изменились, всё таки, все таки, как я сказал,
      вернёмся, вернемся, точнее, то есть`,
    sample: 'Нет, стой, я имел в виду четверг.',
  },
  {
    kind: 'agreement',
    language: 'ru',
    phrases: `
      ^да, ^нет, ^ага, ^ок, ^окей, ^хорошо, ^ладно, ^согласен, ^согласна, ^верно, ^точно, ^именно,
      ^конечно, ^правильно, ^сделай так, ^так и сделай, ^договорились, ^оба, ^обе, ^ни то`,
    sample: 'Да, сделай так.',
  },
  {
    kind: 'fact',
    language: 'ru',
    phrases: `
      я, меня зовут, мой, моя, моё, мое, мои, наш, наша, наше, наши, у меня, у нас, мы, я работаю,
      я живу, мне`,
    sample: 'У меня аллергия на орехи.',
  },
  {
    kind: 'speech',
    language: 'ru',
    phrases: `
      ты, тебя, тебе, твой, твои, твоих, вы, вас, вам, ваш, ваши, ответ*, отвеч*, объяснен*, предлож*,
      предлагай*`,
    sample: 'Твои ответы слишком длинные.',
  },
  {
    kind: 'request',
    language: 'ru',
    phrases: `
      ^напиши, ^напишите, ^покажи*, ^объясни*, ^дай, ^дайте, ^помоги*, ^создай*, ^сделай, ^составь*,
      ^перечисли*, ^переведи*, ^сравни*, ^опиши*, ^найди*, ^расскажи*, ^подскажи*, можешь, можете,
      не мог бы, не могли бы, мне интересно, хотел спросить, хотелось бы узнать, вот, спасибо`,
    sample: 'Объясни теорию относительности.',
  },
  {
    kind: 'question',
    language: 'ru',
    phrases: `
      ^что, ^почему, ^как, ^кто, ^где, ^когда, ^какой, ^какая, ^какие, ^зачем, ^сколько, ^чем, ^есть ли,
      ^можно ли, ^а как, ^а что`,
    sample: 'Сколько времени в Токио?',
  },
  {
    kind: 'telling',
    language: 'ru',
    phrases: `
      был, была, было, были, вчера, на прошлой неделе, думал, думала, думаю, кажется, оказалось,
      попробовал*, увидел*, *ал, *ил, *ел, *ала, *ила, *ела, *али, *ыли, *ели, *лся, *лась, *лись, *шёл,
      *шли, вошли`,
    sample: 'Вчера сервер был медленным.',
  },
  {
    kind: 'ever',
    language: 'uk',
    phrases: `
      ніколи, завжди`,
    sample: 'Ніколи в п’ятницю.',
  },
  {
    kind: 'duty',
    language: 'uk',
    phrases: `
      мусить, мусять, повинен, повинна, повинно, повинні, треба, потрібно, слід, необхідно, має бути,
      мають бути`,
    sample: 'Треба коротко.',
  },
  {
    kind: 'subject',
    language: 'uk',
    phrases: `
      я, він, вона, воно, вони, ми, мій, моя, моє, мої, наш, наша, його, її, їх, цей, ця, це, ці, там`,
    sample: 'я він',
  },
  {
    kind: 'plain',
    language: 'uk',
    phrases: `
      і, й, в, у, на, з, по, за, із, до, від, для, не, що, як, але, або, якщо, ж, би, та, ти, ви`,
    sample: 'і й в',
  },
  {
    kind: 'rule',
    language: 'uk',
    phrases: `
      обов'язково, обовязково, не можна, у жодному разі, в жодному разі, ні в якому разі, за жодних,
      ні за яких, категорично, суворо, заборон*, неприпустимо, не дозволя*, без винятків, переконайся,
      переконайтеся, стеж*, пам'ятай*, памятай*, запам'ятай*, не забудь*, не забувай*, врахуй*,
      май на увазі, майте на увазі, важливо, правило, правила, вимога, вимагаю, не треба, не слід,
      хочу щоб, щоб ти, щоб ви, прошу`,
    sample: 'У жодному разі не чіпай схему.',
  },
  {
    kind: 'order',
    language: 'uk',
    phrases: `
      ^використовуй*, ^тримай*, ^залиш*, ^називай*, ^відповідай*, ^говори*, ^пиши*, ^обмеж*, ^вважай*,
      ^питай*, ^запитуй*, ^чекай*, ^зачекай*, ^попереджай*, ^будь*, ^роби*, ^дотримуйся, ^дотримуйтесь,
      ^звертайся, ^перевіряй*, ^спочатку, ^усі, ^всі, ^кожен, ^кожна, ^будь`,
    sample: 'Використовуй метричну систему.',
  },
  {
    kind: 'wish',
    language: 'uk',
    phrases: `
      будь ласка, хочу, хочемо, хотів би, хотіла б, бажано, потрібен, потрібна, потрібні, було б добре,
      до речі, ще одне, одне прохання, прохання, перш ніж, до відома`,
    sample: 'Одне прохання: мені потрібні заголовки.',
  },
  {
    kind: 'refusal',
    language: 'uk',
    phrases: `
      ^не, не треба, не хочу, не хочемо, не використовуй*, не пиши*, не роби*, не чіпай*, не змінюй*,
      не додавай*, ^жодн*, жодних, жодного, ніяких, ^без, ^досить, годі, припини*, перестань*, уникай*,
      ненавиджу, не люблю, терпіти не можу, більше не, нічого, краще не`,
    sample: 'Жодних емодзі, будь ласка.',
  },
  {
    kind: 'limit',
    language: 'uk',
    phrases: `
      тільки, лише, лиш, виключно, винятково, максимум, не більше, щонайбільше, мінімум, не менше,
      щонайменше, принаймні, хіба що, якщо не, крім, окрім, за винятком, замість, а не, поки не, перш`,
    sample: 'Не більше трьох речень.',
  },
  {
    kind: 'standing',
    language: 'uk',
    phrases: `
      відтепер, віднині, надалі, з цього моменту, у майбутньому, в майбутньому, щоразу, кожного разу,
      коли ти, коли ви, коли я, якщо ти, якщо ви, за замовчуванням, скрізь, всюди, у всіх, в усіх,
      для всіх, у кожному, у кожній, постійно, весь час`,
    sample: 'Відтепер пишемо українською.',
  },
  {
    kind: 'choice',
    language: 'uk',
    phrases: `
      давай, давайте, обираю, обираємо, вибираю, вибираємо, обрав, обрала, обрали, беру, беремо,
      візьмемо, вирішив, вирішила, вирішили, вирішено, рішення, зупинимося, залишаємося, нехай буде,
      хай буде, варіант *, перший, перша, перше, другий, друга, друге, третій, третя, останній, остання,
      інший, інша, домовились, домовилися, будемо, використовуємо, відмовились, відмовилися, відмовився,
      тоді`,
    sample: 'Давай другий варіант.',
  },
  {
    kind: 'preference',
    language: 'uk',
    phrases: `
      віддаю перевагу, надаю перевагу, волію, краще, мені подобається, подобається, люблю, зручніше,
      радше, бажано, улюблений`,
    sample: 'Мені більше подобається табуляція.',
  },
  {
    kind: 'correction',
    language: 'uk',
    phrases: `
      насправді, взагалі то, ні, стривай, зачекай, я мав на увазі, я мала на увазі, виправлення,
      натомість, передумав, передумала, передумали, забудь*, скасуй*, помилився, помилилась,
      неправильно, плани змінилися, все таки, як я казав, повернімося, точніше`,
    sample: 'Ні, стривай, я мав на увазі четвер.',
  },
  {
    kind: 'agreement',
    language: 'uk',
    phrases: `
      ^так, ^ні, ^ага, ^ок, ^добре, ^гаразд, ^згоден, ^згодна, ^вірно, ^точно, ^саме так, ^звісно,
      ^правильно, ^зроби так, ^домовились, ^обидва, ^обидві`,
    sample: 'Так, зроби так.',
  },
  {
    kind: 'fact',
    language: 'uk',
    phrases: `
      мене звати, мій, моя, моє, мої, наш, наша, наше, наші, у мене, у нас, в мене, ми, мені`,
    sample: 'У мене алергія на горіхи.',
  },
  {
    kind: 'speech',
    language: 'uk',
    phrases: `
      ти, тебе, тобі, твій, твої, твоїх, ви, вас, вам, ваш, ваші, відповід*, поясненн*, пропону*`,
    sample: 'Твої відповіді задовгі.',
  },
  {
    kind: 'request',
    language: 'uk',
    phrases: `
      ^напиши, ^напишіть, ^покажи*, ^поясни*, ^дай, ^дайте, ^допоможи*, ^створи*, ^склади*, ^переклади*,
      ^порівняй*, ^опиши*, ^знайди*, ^розкажи*, ^підкажи*, можеш, можете, чи міг би, чи могли б,
      мені цікаво, ось, дякую`,
    sample: 'Поясни теорію відносності.',
  },
  {
    kind: 'question',
    language: 'uk',
    phrases: `
      ^що, ^чому, ^як, ^хто, ^де, ^коли, ^який, ^яка, ^які, ^навіщо, ^скільки, ^чим, ^чи, ^а як`,
    sample: 'Скільки часу в Токіо?',
  },
  {
    kind: 'telling',
    language: 'uk',
    phrases: `
      був, була, було, були, вчора, минулого тижня, думав, думала, думаю, здається, виявилось,
      спробував*, *ав, *ив, *ала, *ила, *али, *или, *ився, *лася, *лися, *йшли, *йшов`,
    sample: 'Вчора сервер був повільний.',
  },
  {
    kind: 'ever',
    language: 'pl',
    phrases: `
      nigdy, zawsze`,
    sample: 'Nigdy w piątek.',
  },
  {
    kind: 'duty',
    language: 'pl',
    phrases: `
      musi, muszą, musisz, musicie, należy, trzeba, powinien, powinna, powinno, powinny, powinieneś,
      ma być, mają być`,
    sample: 'Trzeba krótko.',
  },
  {
    kind: 'subject',
    language: 'pl',
    phrases: `
      ja, on, ona, ono, oni, one, my, mój, moja, moje, nasz, nasza, jego, jej, ich, ten, ta, to, te,
      tam`,
    sample: 'ja on',
  },
  {
    kind: 'plain',
    language: 'pl',
    phrases: `
      i, w, na, z, do, po, za, od, dla, nie, że, jak, ale, lub, albo, czy, się, jest, są, to, by, ze, o,
      przy, co`,
    sample: 'i w na',
  },
  {
    kind: 'rule',
    language: 'pl',
    phrases: `
      nie może, nie mogą, nie możesz, nie wolno, pod żadnym pozorem, w żadnym wypadku, w żadnym razie,
      za żadne skarby, absolutnie, bezwzględnie, koniecznie, stanowczo, kategorycznie, obowiązkow*,
      zabronion*, zakaz*, niedopuszczaln*, niedozwolon*, bez wyjątku, bez wyjątków, upewnij*, zadbaj*,
      dopilnuj*, pamiętaj*, zapamiętaj*, nie zapomnij*, nie zapominaj*, miej na uwadze, proszę pamiętać,
      weź pod uwagę, ważne, istotne, konieczne, niezbędne, zasada, zasady, reguła, reguły, wymóg,
      wymaganie, wymagam, nalegam, chcę żebyś, chcę aby, chcę żeby, żebyś, abyś`,
    sample: 'Pod żadnym pozorem nie zmieniaj schematu.',
  },
  {
    kind: 'order',
    language: 'pl',
    phrases: `
      ^używaj*, ^użyj*, ^stosuj*, ^trzymaj*, ^zostaw*, ^zachowaj*, ^nazywaj*, ^mów*, ^odpowiadaj*,
      ^pisz*, ^ogranicz*, ^traktuj*, ^zakładaj*, ^załóż*, ^pytaj*, ^zapytaj*, ^czekaj*, ^poczekaj*,
      ^uprzedzaj*, ^bądź*, ^rób*, ^przestrzegaj*, ^zwracaj*, ^sprawdzaj*, ^najpierw, ^wszystko,
      ^wszystkie, ^każdy, ^każda, ^każde`,
    sample: 'Używaj wszędzie układu metrycznego.',
  },
  {
    kind: 'wish',
    language: 'pl',
    phrases: `
      proszę, poproszę, prosze, chcę, chce, chcemy, chciałbym, chciałabym, potrzebuję, potrzebujemy,
      potrzebn*, byłoby dobrze, przy okazji, swoją drogą, jedna rzecz, jeszcze jedno, zanim zaczniemy,
      na początek, dla jasności, mała prośba, prośba`,
    sample: 'Jedna rzecz, zanim zaczniemy: potrzebuję nagłówków.',
  },
  {
    kind: 'refusal',
    language: 'pl',
    phrases: `
      ^nie, nie chcę, nie chcemy, nie używaj*, nie pisz*, nie rób*, nie ruszaj*, nie zmieniaj*,
      nie dodawaj*, ^żadn*, żadnych, żadnego, ^bez, ^przestań*, przestań, unikaj*, powstrzymaj*,
      nienawidzę, nie znoszę, nie lubię, nie cierpię, już nie, nigdy więcej, niczego, nic, lepiej nie,
      koniec z, wolałbym nie`,
    sample: 'Żadnych emotikonów, proszę.',
  },
  {
    kind: 'limit',
    language: 'pl',
    phrases: `
      tylko, jedynie, wyłącznie, maksymalnie, maksimum, co najwyżej, najwyżej, nie więcej niż,
      nie dłużej niż, co najmniej, przynajmniej, minimum, chyba że, oprócz, poza, z wyjątkiem, zamiast,
      a nie, dopóki, zanim`,
    sample: 'Maksymalnie trzy zdania.',
  },
  {
    kind: 'standing',
    language: 'pl',
    phrases: `
      od teraz, odtąd, od tej pory, od dziś, od dzisiaj, na przyszłość, w przyszłości, do odwołania,
      za każdym razem, ilekroć, gdy będziesz, kiedy będziesz, jeśli masz, jeśli nie, domyślnie,
      wszędzie, we wszystkich, dla wszystkich, w każdym, w każdej, w razie wątpliwości, cały czas,
      ciągle`,
    sample: 'Od teraz piszemy po polsku.',
  },
  {
    kind: 'choice',
    language: 'pl',
    phrases: `
      wybieram, wybieramy, wybrałem, wybrałam, wybraliśmy, biorę, bierzemy, weźmy, zróbmy, idziemy w,
      idźmy, zdecydowałem, zdecydowałam, zdecydowaliśmy, decyzja, postanowiłem, postanowiliśmy,
      ustalone, ustaliliśmy, zostajemy przy, zostańmy, niech będzie, opcja *, opcję *, wariant *,
      pierwszy, pierwsza, pierwszą, drugi, druga, drugą, trzeci, trzecia, trzecią, ostatni, ostatnia,
      ten drugi, ta druga, tę drugą, ten pierwszy, będzie, użyjemy, używamy, stawiam na, stawiamy na,
      zrezygnow*, porzuci*, odrzuci*`,
    sample: 'Niech będzie druga opcja.',
  },
  {
    kind: 'preference',
    language: 'pl',
    phrases: `
      wolę, wolimy, wolałbym, wolałabym, preferuję, preferujemy, preferencj*, najchętniej, najlepiej,
      raczej, lubię, lepiej, wygodniej, ulubion*`,
    sample: 'Wolę tabulatory.',
  },
  {
    kind: 'correction',
    language: 'pl',
    phrases: `
      właściwie, w zasadzie, nie czekaj, czekaj, chodziło mi, miałem na myśli, miałam na myśli,
      poprawka, korekta, zamiast tego, jednak, rozmyśliłem, zmieniłem zdanie, zmieniłam zdanie,
      zmiana planów, zapomnij o, pomyliłem, pomyłka, błąd, źle, jak mówiłem, wracamy, wróćmy, a jednak`,
    sample: 'Nie, czekaj, chodziło mi o czwartek.',
  },
  {
    kind: 'agreement',
    language: 'pl',
    phrases: `
      ^tak, ^nie, ^ok, ^okej, ^dobrze, ^dobra, ^zgoda, ^zgadzam, ^jasne, ^dokładnie, ^pewnie, ^racja,
      ^zrób to, ^zrób tak, ^umowa stoi, ^oba, ^obie, ^żaden`,
    sample: 'Tak, zrób to.',
  },
  {
    kind: 'fact',
    language: 'pl',
    phrases: `
      jestem, nazywam się, mam na imię, mój, moja, moje, moi, nasz, nasza, nasze, nasi, mamy, mam,
      jesteśmy, pracuję, mieszkam, u nas`,
    sample: 'Moja córka ma alergię na orzechy.',
  },
  {
    kind: 'speech',
    language: 'pl',
    phrases: `
      ty, ciebie, tobie, twój, twoje, twoich, pan, pani, odpowied*, odpowiad*, wyjaśni*, propozycj*,
      sugesti*`,
    sample: 'Twoje odpowiedzi są za długie.',
  },
  {
    kind: 'request',
    language: 'pl',
    phrases: `
      ^napisz, ^pokaż, ^wyjaśnij, ^wytłumacz, ^daj, ^podaj, ^pomóż, ^stwórz, ^utwórz, ^wymień,
      ^przetłumacz, ^porównaj, ^opisz, ^znajdź, ^opowiedz, ^powiedz, możesz, mógłbyś, mogłabyś,
      czy może, zastanawiam, chciałbym wiedzieć, oto, dzięki, dziękuję`,
    sample: 'Wyjaśnij teorię względności.',
  },
  {
    kind: 'question',
    language: 'pl',
    phrases: `
      ^co, ^dlaczego, ^jak, ^kto, ^gdzie, ^kiedy, ^który, ^która, ^które, ^jaki, ^jaka, ^jakie, ^po co,
      ^ile, ^czy, ^a co, ^a jak`,
    sample: 'Która jest godzina w Tokio?',
  },
  {
    kind: 'telling',
    language: 'pl',
    phrases: `
      był, była, było, były, wczoraj, w zeszłym tygodniu, myślałem, myślę, wydaje się, okazało się,
      próbowałem, *łem, *łam, *liśmy, *łyśmy, *wał, *wała, *wali, *wało`,
    sample: 'Wczoraj serwer był wolny.',
  },
  {
    kind: 'ever',
    language: 'cs',
    phrases: `
      nikdy, vždy, vždycky`,
    sample: 'Nikdy v pátek.',
  },
  {
    kind: 'duty',
    language: 'cs',
    phrases: `
      musí, musíš, musíte, musíme, je třeba, je potřeba, má být, mají být, měl by, měla by, měly by,
      mělo by`,
    sample: 'Je třeba psát krátce.',
  },
  {
    kind: 'subject',
    language: 'cs',
    phrases: `
      já, on, ona, ono, oni, my, můj, moje, má, náš, naše, jeho, její, jejich, ten, ta, to, ty, tam`,
    sample: 'já on',
  },
  {
    kind: 'plain',
    language: 'cs',
    phrases: `
      a, v, na, z, do, po, za, od, pro, ne, že, jak, ale, nebo, se, si, je, jsou, by, ze, o, při, co, s,
      k, jako, i`,
    sample: 'a v na',
  },
  {
    kind: 'rule',
    language: 'cs',
    phrases: `
      nesmí, nesmíš, nesmíte, nesmějí, v žádném případě, za žádných okolností, ani náhodou, rozhodně,
      bezpodmínečně, nutně, povinn*, zakázán*, zakazuji, nepřípustn*, není dovoleno, není povoleno,
      bez výjimky, bez výjimek, ujisti*, ujistěte*, dbej*, dohlédni*, pamatuj*, zapamatuj*, nezapomeň*,
      nezapomínej*, měj na paměti, mějte na paměti, ber v úvahu, důležité, nezbytné, nutné, pravidlo,
      pravidla, požadavek, požaduji, trvám na, měl bys, chci abys, chci aby, abys, abyste`,
    sample: 'V žádném případě neměň schéma.',
  },
  {
    kind: 'order',
    language: 'cs',
    phrases: `
      ^používej*, ^použij*, ^drž*, ^nech*, ^zachovej*, ^říkej*, ^oslovuj*, ^odpovídej*, ^mluv*, ^piš*,
      ^omez*, ^považuj*, ^předpokládej*, ^ptej*, ^zeptej*, ^čekej*, ^počkej*, ^upozorni*, ^buď*,
      ^dělej*, ^dodržuj*, ^kontroluj*, ^nejdřív, ^všechno, ^všechny, ^vše, ^každý, ^každá, ^každé`,
    sample: 'Používej všude metrickou soustavu.',
  },
  {
    kind: 'wish',
    language: 'cs',
    phrases: `
      prosím, chci, chceme, chtěl bych, chtěla bych, rád bych, ráda bych, potřebuji, potřebuju,
      potřebujeme, bylo by dobré, mimochodem, ještě jedna věc, jedna věc, než začneme, pro jistotu,
      pro informaci`,
    sample: 'Jedna věc, než začneme: potřebuju nadpisy.',
  },
  {
    kind: 'refusal',
    language: 'cs',
    phrases: `
      ^ne, nechci, nechceme, ^ne*, nepoužívej*, nepiš*, nedělej*, nesahej*, neměň*, nepřidávej*, ^žádn*,
      žádné, žádný, ^bez, přestaň*, ^přestaň*, vyhni*, vyhýbej*, nesnáším, nemám rád*, už ne, nic,
      raději ne, radši ne`,
    sample: 'Žádné emoji, prosím.',
  },
  {
    kind: 'limit',
    language: 'cs',
    phrases: `
      jen, jenom, pouze, výhradně, výlučně, maximálně, nejvýše, nanejvýš, ne více než, ne víc než,
      alespoň, aspoň, minimálně, nejméně, pokud ne, ledaže, kromě, s výjimkou, místo, namísto, dokud,
      než`,
    sample: 'Maximálně tři věty.',
  },
  {
    kind: 'standing',
    language: 'cs',
    phrases: `
      od teď, odteď, od nynějška, od této chvíle, nadále, do budoucna, v budoucnu, příště,
      až do odvolání, pokaždé, kdykoli*, když budeš, pokud budeš, ve výchozím, všude, ve všech,
      pro všechny, v každém, v každé, v případě pochybností, celou dobu`,
    sample: 'Odteď píšeme česky.',
  },
  {
    kind: 'choice',
    language: 'cs',
    phrases: `
      vybírám, vybíráme, vybral, vybrala, vybrali, beru, bereme, vezmeme, pojďme, jdeme do, rozhodl,
      rozhodla, rozhodli, rozhodnuto, rozhodnutí, zůstaneme u, zůstáváme, ať je, možnost *, varianta *,
      variantu *, první, druhý, druhá, druhé, druhou, třetí, poslední, ten druhý, ta druhá, tu druhou,
      bude to, použijeme, používáme, domluveno, volím, zavrhl*, opustil*, zamítl*`,
    sample: 'Beru tu druhou možnost.',
  },
  {
    kind: 'preference',
    language: 'cs',
    phrases: `
      preferuji, preferuju, preferujeme, radši, raději, nejradši, nejraději, nejlépe, lepší, líbí se mi,
      mám rád*, dávám přednost, přednostně, oblíben*`,
    sample: 'Mám radši tabulátory.',
  },
  {
    kind: 'correction',
    language: 'cs',
    phrases: `
      vlastně, ve skutečnosti, ne počkej, počkej, myslel jsem, myslela jsem, oprava, místo toho,
      přece jen, rozmyslel*, změnil jsem názor, změna plánu, zapomeň na, spletl*, chyba, špatně,
      jak jsem řekl, vraťme, zpátky k, nakonec`,
    sample: 'Ne, počkej, myslel jsem čtvrtek.',
  },
  {
    kind: 'agreement',
    language: 'cs',
    phrases: `
      ^ano, ^jo, ^ne, ^ok, ^dobře, ^souhlasím, ^jasně, ^přesně, ^správně, ^udělej to, ^tak to udělej,
      ^platí, ^obojí, ^oba, ^obě, ^žádný`,
    sample: 'Ano, udělej to.',
  },
  {
    kind: 'fact',
    language: 'cs',
    phrases: `
      jsem, jmenuji se, jmenuju se, můj, moje, má, náš, naše, naši, máme, mám, jsme, pracuji, pracuju,
      bydlím, u nás`,
    sample: 'Moje dcera má alergii na ořechy.',
  },
  {
    kind: 'speech',
    language: 'cs',
    phrases: `
      ty, tebe, tobě, tvůj, tvoje, tvé, vy, vás, váš, vaše, odpověd*, odpovíd*, vysvětl*, návrh*`,
    sample: 'Tvoje odpovědi jsou moc dlouhé.',
  },
  {
    kind: 'request',
    language: 'cs',
    phrases: `
      ^napiš, ^ukaž*, ^vysvětli*, ^dej, ^dejte, ^pomoz*, ^vytvoř*, ^vypiš*, ^přelož*, ^porovnej*,
      ^popiš*, ^najdi*, ^řekni*, můžeš, můžete, mohl bys, mohla bys, mohli byste, zajímá mě,
      zajímalo by mě, rád bych věděl, tady je, díky, děkuji`,
    sample: 'Vysvětli teorii relativity.',
  },
  {
    kind: 'question',
    language: 'cs',
    phrases: `
      ^co, ^proč, ^jak, ^kdo, ^kde, ^kdy, ^který, ^která, ^které, ^jaký, ^jaká, ^jaké, ^kolik, ^je,
      ^a co, ^a jak`,
    sample: 'Kolik je hodin v Tokiu?',
  },
  {
    kind: 'telling',
    language: 'cs',
    phrases: `
      byl, byla, bylo, byli, byly, včera, minulý týden, myslím, zdá se, ukázalo se, zkusil*, *vali,
      *val, *vala, říkal, *měl, *měla, *lezli, *šli, *šel, nespal, řekl`,
    sample: 'Včera byl server pomalý.',
  },
  {
    kind: 'ever',
    language: 'sk',
    phrases: `
      nikdy, vždy, vždycky`,
    sample: 'Nikdy v piatok.',
  },
  {
    kind: 'duty',
    language: 'sk',
    phrases: `
      musí, musia`,
    sample: 'Správa musí byť krátka.',
  },
  {
    kind: 'subject',
    language: 'sk',
    phrases: `
      ja, on, ona, my, môj, moja, náš, ten, tá, to`,
    sample: 'ja on',
  },
  {
    kind: 'plain',
    language: 'sk',
    phrases: `
      a, v, na, z, do, po, za, od, pre, že, ako, ale, alebo, sa, si, je, sú, by, zo, o, pri, čo, s, k`,
    sample: 'a v na',
  },
  {
    kind: 'rule',
    language: 'sk',
    phrases: `
      nesmie, nesmú, v žiadnom prípade, za žiadnych okolností, nezabudni, pamätaj, zakázané, dôležité,
      pravidlo`,
    sample: 'V žiadnom prípade nemeň schému.',
  },
  {
    kind: 'refusal',
    language: 'sk',
    phrases: `
      ^žiadn*, ^bez, nechcem, nepoužívaj*, nepíš*, prestaň, vyhni`,
    sample: 'Žiadne emoji, prosím.',
  },
  {
    kind: 'limit',
    language: 'sk',
    phrases: `
      iba, len, výlučne, maximálne, najviac, aspoň, okrem, namiesto`,
    sample: 'Iba tri vety.',
  },
  {
    kind: 'choice',
    language: 'sk',
    phrases: `
      vyberám, vezmem, berieme, rozhodol, rozhodli, poďme, možnosť *, druhá, druhý`,
    sample: 'Vyberám druhú, poďme ďalej.',
  },
  {
    kind: 'ever',
    language: 'bg',
    phrases: `
      никога, винаги`,
    sample: 'Никога в петък.',
  },
  {
    kind: 'duty',
    language: 'bg',
    phrases: `
      трябва`,
    sample: 'Докладът трябва да е кратък.',
  },
  {
    kind: 'subject',
    language: 'bg',
    phrases: `
      аз, той, тя, то, ние, те, моят, моя, нашият, това, този, тази`,
    sample: 'аз той',
  },
  {
    kind: 'plain',
    language: 'bg',
    phrases: `
      и, в, на, с, по, за, от, до, не, че, как, но, или, ако, да, се, е, са`,
    sample: 'и в на',
  },
  {
    kind: 'rule',
    language: 'bg',
    phrases: `
      не трябва, задължително, в никакъв случай, при никакви, забранено, не забравяй, помни, важно,
      правило, не може`,
    sample: 'В никакъв случай не пипай схемата.',
  },
  {
    kind: 'refusal',
    language: 'bg',
    phrases: `
      ^не, ^без, ^никакв*, недей, не искам, избягвай*, спри`,
    sample: 'Без емоджита, моля.',
  },
  {
    kind: 'limit',
    language: 'bg',
    phrases: `
      само, единствено, най много, максимум, поне, освен, вместо`,
    sample: 'Само три изречения.',
  },
  {
    kind: 'standing',
    language: 'bg',
    phrases: `
      отсега нататък, занапред, всеки път, когато`,
    sample: 'Отсега нататък пишем на български.',
  },
  {
    kind: 'choice',
    language: 'bg',
    phrases: `
      избирам, избираме, нека, вземаме, реших, решихме, вариант *, второто, втория`,
    sample: 'Избирам втория вариант.',
  },
  {
    kind: 'preference',
    language: 'bg',
    phrases: `
      предпочитам, по добре, харесвам`,
    sample: 'Предпочитам табулации.',
  },
]
