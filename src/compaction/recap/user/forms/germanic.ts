import type { Form } from './form.ts'

/** How German, Dutch and the languages of Scandinavia say that something is to hold. */
export const germanic: readonly Form[] = [
  {
    kind: 'ever',
    language: 'de',
    phrases: `
      nie, niemals, nie wieder, nie mehr, immer, stets, jederzeit`,
    sample: 'Niemals an einem Freitag ausliefern.',
  },
  {
    kind: 'duty',
    language: 'de',
    phrases: `
      muss, müssen, musst, müsst, soll, sollen, sollst, sollte, sollten, solltest, müssten, müsste,
      hat zu, haben zu, ist zu, sind zu, gehört, gehören, braucht, brauchen`,
    sample: 'Der Bericht soll kurz sein.',
  },
  {
    kind: 'subject',
    language: 'de',
    phrases: `
      ich, er, sie, es, wir, man, der, die, das, den, dem, ein, eine, einen, mein, meine, unser, unsere,
      dieser, diese, dieses`,
    sample: 'ich er',
  },
  {
    kind: 'plain',
    language: 'de',
    phrases: `
      und, von, zu, im, in, mit, auf, für, an, bei, nach, aus, ist, sind, hat, haben, nicht, auch, als,
      aber, oder, wenn, so, wie, sich, noch, zum, zur, vom, des, am, um`,
    sample: 'und von zu',
  },
  {
    kind: 'rule',
    language: 'de',
    phrases: `
      darf nicht, dürfen nicht, darfst nicht, darf nie, darf kein*, dürfen kein*, unbedingt,
      auf keinen fall, auf jeden fall, keinesfalls, keineswegs, unter keinen umständen, in keinem fall,
      um keinen preis, zwingend, ausnahmslos, ohne ausnahme, grundsätzlich, prinzipiell, achte,
      achten sie, achtet, denk dran, denk daran, denken sie daran, merk dir, merke dir, merken sie sich,
      vergiss nicht, vergessen sie nicht, stell sicher, stelle sicher, stellen sie sicher, sorge dafür,
      sorg dafür, sorgen sie dafür, beachte, beachten sie, bitte beachten, pflicht, verpflichtend,
      obligatorisch, verboten, untersagt, nicht erlaubt, nicht gestattet, nicht zulässig, unzulässig,
      tabu, nicht verhandelbar, kommt nicht infrage, kommt nicht in frage, wichtig, regel*, vorgabe*,
      vorschrift, voraussetzung, bedingung, möchte dass, will dass, wünsche mir, erwarte,
      bestehe darauf, lege wert, legen wert`,
    sample: 'Auf keinen Fall den Schlüssel verraten.',
  },
  {
    kind: 'order',
    language: 'de',
    phrases: `
      ^halt*, ^verwend*, ^benutz*, ^nutz*, ^nimm, ^nehmen sie, ^bleib*, ^behandel*, ^lass*, ^nenn*,
      ^sprich, ^sprechen, ^antwort*, ^schreib immer, ^beschränk*, ^begrenz*, ^geh davon aus,
      ^gehen sie davon aus, ^frag*, ^warte*, ^prüf*, ^duz*, ^siez*, ^sag mir bescheid,
      ^gib mir bescheid, ^mach*, ^setz*, ^fass dich, ^arbeite*, ^orientier*, ^berücksichtig*, ^behalt*,
      ^alle, ^alles, ^jede*, ^sämtliche, ^stell*, ^rechne*, ^rund*, ^formatier*, ^gib, ^geben sie`,
    sample: 'Halte dich kurz.',
  },
  {
    kind: 'wish',
    language: 'de',
    phrases: `
      bitte, ich will, ich möchte, wir wollen, wir möchten, ich brauche, wir brauchen, ich hätte gern*,
      wäre schön, wäre gut, wäre nett, notwendig, nötig, erforderlich, brauch*, gewünscht, übrigens,
      hinweis, eins noch, noch etwas, eine sache, noch was, vorab, vorweg, zur info, nur damit du,
      damit das klar ist, merk*, gilt, gelten`,
    sample: 'Eins noch vorab: die Tabelle braucht Überschriften.',
  },
  {
    kind: 'refusal',
    language: 'de',
    phrases: `
      ^nicht, ^kein*, keine, keinen, keinerlei, ^ohne, bitte nicht, bitte kein*, bitte keine,
      bitte ohne, hör auf, hören sie auf, lass das, lass die, lass den, lassen sie, ^vermeid*, vermeide,
      vermeiden, verzicht*, unterlass*, spar dir, weglassen, lass weg, finger weg, will kein*,
      will keine, will nicht, möchte kein*, möchte keine, möchte nicht, mag kein*, mag keine, mag nicht,
      wollen kein*, brauche kein*, hasse, kann nicht leiden, kannst dir, nichts, nicht anfassen,
      nicht ändern, geht nicht, gar nicht, lieber nicht, nicht mehr, bloß nicht, ja nicht`,
    sample: 'Bitte keine Emojis.',
  },
  {
    kind: 'limit',
    language: 'de',
    phrases: `
      nur, ausschließlich, lediglich, höchstens, mindestens, maximal, minimal, nicht mehr als,
      nicht länger als, nicht weniger als, allenfalls, es sei denn, außer, ausgenommen, ausser, statt,
      anstatt, anstelle, nur noch, bis zu, bevor, vorher, erst, solange, sofern, beschränk*`,
    sample: 'Höchstens drei Absätze.',
  },
  {
    kind: 'standing',
    language: 'de',
    phrases: `
      ab jetzt, ab sofort, von nun an, von jetzt an, ab heute, in zukunft, zukünftig, künftig, fortan,
      weiterhin, fürderhin, bis auf weiteres, bis ich, wenn du, wenn sie, wenn ich, falls du,
      immer wenn, jedes mal, jedesmal, bei jeder, bei jedem, in jeder, in jedem, in allen, bei allen,
      für alle, überall, standardmäßig, generell, im zweifel, durchgehend, dauerhaft, den ganzen,
      die ganze, ab hier, so lange, beim nächsten`,
    sample: 'Ab jetzt duzen wir uns.',
  },
  {
    kind: 'choice',
    language: 'de',
    phrases: `
      nehmen wir, ich nehme, wir nehmen, nehme, lass uns, lasst uns, wir machen, machen wir,
      entscheide mich, entschieden, entscheidung, entscheiden uns, wir bleiben bei, bleiben bei,
      bleiben wir, ich wähle, wir wählen, gewählt, dann eben, dann also, option *, variante *,
      möglichkeit *, das erste, das zweite, das dritte, die erste, die zweite, die dritte, den ersten,
      den zweiten, den dritten, der erste, der zweite, letztere*, erstere*, die andere, das andere,
      wird's, wird es, soll es sein, setzen auf, wir setzen, geht klar, einigen wir uns, geeinigt,
      festgelegt, steht fest, wir verwenden, wir nutzen, wir benutzen, dafür, mein favorit,
      den zuschlag, gewinnt, abgemacht, verabschiedet, verworfen, ausgeschieden, aufgegeben`,
    sample: 'Nehmen wir die zweite Variante.',
  },
  {
    kind: 'preference',
    language: 'de',
    phrases: `
      lieber, bevorzug*, vorzugsweise, am liebsten, vorziehen, ziehe vor, eher, besser, favorit,
      gefällt mir, mag ich, ich mag, am besten, idealerweise, wäre mir lieber, gerne, gern, präferenz`,
    sample: 'Mir ist Englisch lieber.',
  },
  {
    kind: 'correction',
    language: 'de',
    phrases: `
      doch, doch lieber, doch nicht, stattdessen, korrektur, ich meinte, ich meine, gemeint, moment,
      halt, nein, quatsch, sondern, eigentlich, vergiss das, vergiss was, vergessen sie das,
      umentschieden, anders überlegt, planänderung, hab mich vertan, mich geirrt, falsch, ach nein,
      wie gesagt, zurück zu, jetzt doch, nun doch, neuer stand`,
    sample: 'Nein, ich meinte Donnerstag.',
  },
  {
    kind: 'agreement',
    language: 'de',
    phrases: `
      ^ja, ^jo, ^jep, ^nein, ^nee, ^ok, ^okay, ^genau, ^einverstanden, ^gut, ^passt, ^gerne, ^klar,
      ^richtig, ^stimmt, ^mach das, ^machen sie das, ^so machen, ^abgemacht, ^perfekt, ^in ordnung,
      ^beide, ^beides, ^keines, ^weder`,
    sample: 'Ja, mach das.',
  },
  {
    kind: 'fact',
    language: 'de',
    phrases: `
      ich bin, ich heiße, mein name, meine, mein, meinem, meinen, meiner, unser*, wir sind, wir haben,
      ich habe, ich arbeite, ich wohne, wir arbeiten, bei uns`,
    sample: 'Meine Tochter ist allergisch gegen Nüsse.',
  },
  {
    kind: 'speech',
    language: 'de',
    phrases: `
      du, dir, dich, dein*, ihr, ihnen, antwort*, antworte*, erklärung*, vorschläge, vorschlag,
      schreib*, formulier*`,
    sample: 'Deine Antworten sind zu lang.',
  },
  {
    kind: 'request',
    language: 'de',
    phrases: `
      ^schreib mir, ^schreibe, ^zeig*, ^erklär*, ^gib mir, ^hilf, ^erstell*, ^liste*, ^fasse zusammen,
      ^übersetz*, ^vergleich*, ^beschreib*, ^nenne mir, ^nenn mir, ^such*, ^finde*, ^berechne*,
      kannst du, können sie, könntest du, könnten sie, würdest du, ich suche, frage mich, wüsste gern*,
      würde gerne wissen, hier ist, hier sind, danke`,
    sample: 'Erkläre mir die Relativitätstheorie.',
  },
  {
    kind: 'question',
    language: 'de',
    phrases: `
      ^was, ^warum, ^wieso, ^weshalb, ^wie, ^wer, ^wo, ^wann, ^welche*, ^ist, ^sind, ^hat, ^gibt es,
      ^wozu, ^woher, ^und was, ^und wie, ^kann man, ^soll ich`,
    sample: 'Wie spät ist es in Tokio?',
  },
  {
    kind: 'telling',
    language: 'de',
    phrases: `
      war, waren, hatte, hatten, wurde, wurden, gestern, letzte woche, ging, kam, ich habe gehört,
      ich glaube, ich dachte, scheint, angeblich, habe, hast, hat, hab, gesagt, gewesen, verstanden,
      gegangen, gelaufen, gesehen, gehört, gedacht, gefunden`,
    sample: 'Gestern war der Server langsam.',
  },
  {
    kind: 'ever',
    language: 'nl',
    phrases: `
      nooit, altijd, te allen tijde`,
    sample: 'Nooit op vrijdag uitrollen.',
  },
  {
    kind: 'duty',
    language: 'nl',
    phrases: `
      moet, moeten, zou moeten, dien*, hoor*`,
    sample: 'Het rapport moeten we kort houden.',
  },
  {
    kind: 'subject',
    language: 'nl',
    phrases: `
      ik, hij, ze, zij, het, de, wij, we, men, een, mijn, ons, onze, deze, dit, dat, er`,
    sample: 'ik hij',
  },
  {
    kind: 'plain',
    language: 'nl',
    phrases: `
      van, en, in, te, met, op, voor, aan, bij, uit, is, zijn, heeft, niet, ook, als, maar, of, dan,
      naar, om, over, door, wat`,
    sample: 'van en in',
  },
  {
    kind: 'rule',
    language: 'nl',
    phrases: `
      mag niet, mogen niet, mag nooit, mag geen, zorg dat, zorg ervoor, let op, onthoud, vergeet niet,
      denk eraan, in geen geval, onder geen beding, onder geen enkele, absoluut, beslist, per se,
      verplicht, verboden, niet toegestaan, uit den boze, zonder uitzondering, belangrijk, regel,
      regels, sta erop, eis, wil dat je, wil dat u`,
    sample: 'In geen geval het schema wijzigen.',
  },
  {
    kind: 'order',
    language: 'nl',
    phrases: `
      ^gebruik, ^houd, ^hou, ^blijf, ^laat, ^noem me, ^antwoord, ^spreek, ^schrijf altijd, ^vraag,
      ^wacht, ^beperk, ^behandel, ^ga ervan uit, ^neem aan, ^volg, ^controleer, ^doe, ^zet, ^alle,
      ^alles, ^elke, ^ieder*`,
    sample: 'Gebruik overal het metrieke stelsel.',
  },
  {
    kind: 'wish',
    language: 'nl',
    phrases: `
      graag, alsjeblieft, alstublieft, aub, ik wil, wij willen, we willen, ik zou, ik heb liever, nodig,
      hoeft, trouwens, nog iets, één ding, even vooraf, voordat we, ter info`,
    sample: 'Ik wil graag korte antwoorden.',
  },
  {
    kind: 'refusal',
    language: 'nl',
    phrases: `
      ^geen, geen, ^niet, ^zonder, liever niet, liever geen, alsjeblieft geen, alsjeblieft niet,
      stop met, ^hou op, ^houd op, vermijd, ^vermijd, ^laat weg, blijf af, wil geen, wil niet,
      hoef geen, haat, heb een hekel, niets, niet meer, niet doen`,
    sample: 'Geen emoji’s alsjeblieft.',
  },
  {
    kind: 'limit',
    language: 'nl',
    phrases: `
      alleen, enkel, uitsluitend, slechts, hoogstens, hooguit, maximaal, minimaal, minstens,
      niet meer dan, tenzij, behalve, in plaats van, voordat, pas als, totdat, tot en met`,
    sample: 'Maximaal drie zinnen.',
  },
  {
    kind: 'standing',
    language: 'nl',
    phrases: `
      vanaf nu, voortaan, van nu af, in het vervolg, in de toekomst, tot nader order, telkens,
      elke keer, iedere keer, als je, als u, wanneer je, zodra, standaard, overal, bij elke, in elke,
      voor alle, bij twijfel, blijvend`,
    sample: 'Voortaan schrijven we in het Nederlands.',
  },
  {
    kind: 'choice',
    language: 'nl',
    phrases: `
      laten we, ik kies, we kiezen, kies voor, we gaan voor, ik ga voor, gaan voor, gaan met, ik neem,
      we nemen, doe maar, besloten, beslissing, we houden het bij, houden het op, optie *, de eerste,
      de tweede, de derde, het tweede, het eerste, de laatste, laatstgenoemde, dat wordt, wordt het,
      we gebruiken, afgesproken, definitief`,
    sample: 'Doe maar de tweede.',
  },
  {
    kind: 'preference',
    language: 'nl',
    phrases: `
      liever, verkies, voorkeur, bij voorkeur, het liefst, ik hou van, ik vind het fijn, beter,
      idealiter, favoriet`,
    sample: 'Ik heb liever tabs.',
  },
  {
    kind: 'correction',
    language: 'nl',
    phrases: `
      eigenlijk, toch, toch maar, nee, wacht, ik bedoel, ik bedoelde, correctie, in plaats daarvan,
      bij nader inzien, vergeet dat, laat maar, vergist, verandering van plan, van gedachten veranderd,
      maar dan, zoals ik zei, terug naar, fout`,
    sample: 'Nee wacht, ik bedoelde donderdag.',
  },
  {
    kind: 'agreement',
    language: 'nl',
    phrases: `
      ^ja, ^nee, ^oké, ^ok, ^akkoord, ^prima, ^goed, ^klopt, ^precies, ^doe dat, ^is goed, ^zeker,
      ^beide, ^geen van beide`,
    sample: 'Ja, doe dat maar.',
  },
  {
    kind: 'fact',
    language: 'nl',
    phrases: `
      ik ben, ik heet, mijn, ons, onze, wij zijn, we zijn, we hebben, ik heb, ik werk, ik woon, bij ons`,
    sample: 'Mijn dochter is allergisch voor noten.',
  },
  {
    kind: 'speech',
    language: 'nl',
    phrases: `
      je, jij, u, uw, jouw, antwoord*, uitleg, voorstel*`,
    sample: 'Je antwoorden zijn te lang.',
  },
  {
    kind: 'request',
    language: 'nl',
    phrases: `
      ^schrijf, ^toon, ^leg uit, ^geef me, ^geef, ^help, ^maak, ^vertaal, ^vergelijk, ^beschrijf, ^zoek,
      kun je, kunt u, kan je, zou je, ik vraag me af, hier is, bedankt, dank je`,
    sample: 'Leg uit hoe een motor werkt.',
  },
  {
    kind: 'question',
    language: 'nl',
    phrases: `
      ^wat, ^waarom, ^hoe, ^wie, ^waar, ^wanneer, ^welk*, ^is, ^zijn, ^heeft`,
    sample: 'Hoe laat is het in Tokio?',
  },
  {
    kind: 'telling',
    language: 'nl',
    phrases: `
      was, waren, had, hadden, werd, gisteren, vorige week, ging, ik dacht, ik denk, lijkt, schijnt,
      heb, heeft, zei, begrepen, gegaan, liepen`,
    sample: 'Gisteren was de server traag.',
  },
  {
    kind: 'ever',
    language: 'sv',
    phrases: `
      aldrig, alltid`,
    sample: 'Lansera aldrig på en fredag.',
  },
  {
    kind: 'duty',
    language: 'sv',
    phrases: `
      måste, ska, skall, bör, behöver vara`,
    sample: 'Rapporten ska vara kort.',
  },
  {
    kind: 'subject',
    language: 'sv',
    phrases: `
      jag, han, hon, den, det, de, vi, man, en, ett, min, mitt, vår, denna, detta, dom`,
    sample: 'jag han',
  },
  {
    kind: 'plain',
    language: 'sv',
    phrases: `
      och, att, i, på, med, för, av, till, från, är, har, inte, också, som, men, eller, om, så, vid,
      ett, kan`,
    sample: 'och att i',
  },
  {
    kind: 'rule',
    language: 'sv',
    phrases: `
      får inte, får aldrig, får ej, ska inte, se till, kom ihåg, glöm inte, tänk på,
      under inga omständigheter, inte under några, på inga villkor, absolut, obligatorisk*, förbjudet,
      inte tillåtet, utan undantag, viktigt, regel, regler, vill att du, kräver, kravet, insisterar`,
    sample: 'Glöm inte testerna.',
  },
  {
    kind: 'order',
    language: 'sv',
    phrases: `
      ^använd, ^håll, ^behåll, ^låt, ^kalla mig, ^svara, ^tala, ^prata, ^fråga, ^vänta, ^begränsa,
      ^behandla, ^utgå, ^anta, ^följ, ^kontrollera, ^sätt, ^alla, ^allt, ^varje`,
    sample: 'Använd metriska enheter överallt.',
  },
  {
    kind: 'wish',
    language: 'sv',
    phrases: `
      tack, snälla, vänligen, jag vill, vi vill, jag skulle vilja, gärna, behöver, förresten, en sak,
      innan vi börjar, bara så du vet`,
    sample: 'En sak innan vi börjar: rapporten behöver rubriker.',
  },
  {
    kind: 'refusal',
    language: 'sv',
    phrases: `
      ^inga, inga, ingen, inget, ^inte, ^utan, sluta, ^sluta, undvik, ^undvik, låt bli, rör inte,
      vill inte, hatar, tål inte, slipp*, helst inte, inte längre, hoppa över, ^använd inte, ^gör inte,
      ^skriv inte`,
    sample: 'Inga emojis, tack.',
  },
  {
    kind: 'limit',
    language: 'sv',
    phrases: `
      bara, endast, enbart, uteslutande, högst, max, maximalt, minst, inte mer än, om inte, förutom,
      utom, i stället för, istället för, innan, tills`,
    sample: 'Högst tre meningar.',
  },
  {
    kind: 'standing',
    language: 'sv',
    phrases: `
      från och med nu, från nu, hädanefter, i fortsättningen, framöver, i framtiden, tills vidare,
      varje gång, när du, om du, närhelst, som standard, överallt, i alla, för alla, i varje,
      vid tveksamhet, genomgående`,
    sample: 'Från och med nu skriver vi på svenska.',
  },
  {
    kind: 'choice',
    language: 'sv',
    phrases: `
      låt oss, vi kör, kör på, jag väljer, vi väljer, jag tar, vi tar, ta den, bestämt, bestämmer,
      beslut, beslutat, vi går på, gå med, alternativ *, den första, den andra, den tredje, det första,
      det andra, den sista, den senare, det blir, får det bli, vi använder, satsar på, håller oss till`,
    sample: 'Vi tar den andra.',
  },
  {
    kind: 'preference',
    language: 'sv',
    phrases: `
      föredrar, hellre, helst, gillar, bäst om, bättre om, favorit, tycker om`,
    sample: 'Jag föredrar tabbar.',
  },
  {
    kind: 'correction',
    language: 'sv',
    phrases: `
      egentligen, faktiskt, nej, vänta, jag menade, jag menar, rättelse, i stället, istället,
      vid närmare eftertanke, glöm det, ändrat mig, ångrat mig, ändrade planer, som sagt, tillbaka till,
      fel`,
    sample: 'Nej vänta, jag menade torsdag.',
  },
  {
    kind: 'agreement',
    language: 'sv',
    phrases: `
      ^ja, ^jo, ^nej, ^okej, ^ok, ^visst, ^precis, ^bra, ^gör det, ^kör, ^stämmer, ^javisst, ^båda,
      ^ingendera`,
    sample: 'Ja, gör det.',
  },
  {
    kind: 'fact',
    language: 'sv',
    phrases: `
      jag är, jag heter, min, mitt, mina, vår, vårt, våra, vi är, vi har, jag har, jag jobbar, jag bor,
      hos oss`,
    sample: 'Min dotter är allergisk mot nötter.',
  },
  {
    kind: 'speech',
    language: 'sv',
    phrases: `
      du, dig, din, ditt, dina, svar*, förslag, förklaring*`,
    sample: 'Dina svar är för långa.',
  },
  {
    kind: 'request',
    language: 'sv',
    phrases: `
      ^skriv, ^visa, ^förklara, ^ge mig, ^hjälp, ^skapa, ^lista, ^översätt, ^jämför, ^beskriv, ^hitta,
      kan du, skulle du kunna, jag undrar, här är, tack för`,
    sample: 'Förklara hur en motor fungerar.',
  },
  {
    kind: 'question',
    language: 'sv',
    phrases: `
      ^vad, ^varför, ^hur, ^vem, ^var, ^när, ^vilk*, ^är, ^har`,
    sample: 'Vad är klockan i Tokyo?',
  },
  {
    kind: 'telling',
    language: 'sv',
    phrases: `
      var, hade, blev, gick, igår, förra veckan, trodde, verkar, sa, förstod, såg, kom, tog, *ade, fick`,
    sample: 'Igår var servern långsam.',
  },
  {
    kind: 'ever',
    language: 'da',
    phrases: `
      aldrig, altid`,
    sample: 'Udgiv aldrig om fredagen.',
  },
  {
    kind: 'duty',
    language: 'da',
    phrases: `
      skal`,
    sample: 'Rapporten skal være kort.',
  },
  {
    kind: 'subject',
    language: 'da',
    phrases: `
      jeg, han, hun, den, det, de, vi, man, en, et, min, vores`,
    sample: 'jeg han',
  },
  {
    kind: 'plain',
    language: 'da',
    phrases: `
      og, at, i, på, med, for, af, til, fra, er, har, ikke, også, som, men, eller, om, så, ved, kan`,
    sample: 'og at i',
  },
  {
    kind: 'rule',
    language: 'da',
    phrases: `
      må ikke, må aldrig, sørg for, husk, glem ikke, under ingen omstændigheder, absolut, forbudt,
      ikke tilladt, uden undtagelse, vigtigt, regel, regler, bør`,
    sample: 'Husk testene.',
  },
  {
    kind: 'order',
    language: 'da',
    phrases: `
      ^brug, ^hold, ^lad, ^kald mig, ^svar, ^spørg, ^vent, ^begræns, ^alle, ^hver`,
    sample: 'Brug altid metriske enheder.',
  },
  {
    kind: 'refusal',
    language: 'da',
    phrases: `
      ingen, ^ikke, ^uden, stop med, undgå, lad være, vil ikke, hader, helst ikke`,
    sample: 'Ingen emojis, tak.',
  },
  {
    kind: 'limit',
    language: 'da',
    phrases: `
      kun, udelukkende, højst, maksimalt, mindst, medmindre, undtagen, i stedet for`,
    sample: 'Højst tre sætninger.',
  },
  {
    kind: 'standing',
    language: 'da',
    phrases: `
      fra nu af, fremover, i fremtiden, hver gang, når du, hvis du, indtil videre`,
    sample: 'Fra nu af skriver vi på dansk.',
  },
  {
    kind: 'choice',
    language: 'da',
    phrases: `
      lad os, jeg vælger, vi vælger, jeg tager, vi tager, besluttet, den første, den anden, den tredje,
      mulighed *, vi bruger`,
    sample: 'Vi tager den anden.',
  },
  {
    kind: 'preference',
    language: 'da',
    phrases: `
      foretrækker, hellere, helst, kan bedst lide`,
    sample: 'Jeg foretrækker tabs.',
  },
  {
    kind: 'correction',
    language: 'da',
    phrases: `
      faktisk, nej, vent, jeg mente, i stedet, alligevel, glem det`,
    sample: 'Nej vent, jeg mente torsdag.',
  },
  {
    kind: 'ever',
    language: 'nb',
    phrases: `
      aldri, alltid`,
    sample: 'Aldri på en fredag.',
  },
  {
    kind: 'duty',
    language: 'nb',
    phrases: `
      må, skal`,
    sample: 'Rapporten må være kort.',
  },
  {
    kind: 'subject',
    language: 'nb',
    phrases: `
      jeg, han, hun, den, det, de, vi, man, en, et, min, vår`,
    sample: 'jeg han',
  },
  {
    kind: 'plain',
    language: 'nb',
    phrases: `
      og, å, at, i, på, med, for, av, til, fra, er, har, ikke, også, som, men, eller, om, så, ved, kan`,
    sample: 'og å at',
  },
  {
    kind: 'rule',
    language: 'nb',
    phrases: `
      må ikke, sørg for, husk, ikke glem, under ingen omstendigheter, absolutt, forbudt, ikke tillatt,
      uten unntak, viktig, regel, regler, bør`,
    sample: 'Husk testene.',
  },
  {
    kind: 'order',
    language: 'nb',
    phrases: `
      ^bruk, ^hold, ^la, ^kall meg, ^svar, ^spør, ^vent, ^begrens, ^alle, ^hver`,
    sample: 'Bruk metriske enheter.',
  },
  {
    kind: 'refusal',
    language: 'nb',
    phrases: `
      ingen, ^ikke, ^uten, slutt å, unngå, la være, vil ikke, hater, helst ikke`,
    sample: 'Ingen emojier, takk.',
  },
  {
    kind: 'limit',
    language: 'nb',
    phrases: `
      bare, kun, utelukkende, høyst, maksimalt, minst, med mindre, unntatt, i stedet for`,
    sample: 'Høyst tre setninger.',
  },
  {
    kind: 'standing',
    language: 'nb',
    phrases: `
      fra nå av, heretter, fremover, i fremtiden, hver gang, når du, hvis du, inntil videre`,
    sample: 'Fra nå av skriver vi på norsk.',
  },
  {
    kind: 'choice',
    language: 'nb',
    phrases: `
      la oss, jeg velger, vi velger, jeg tar, vi tar, bestemt, den første, den andre, den tredje,
      alternativ *, vi bruker`,
    sample: 'Vi tar den andre.',
  },
  {
    kind: 'preference',
    language: 'nb',
    phrases: `
      foretrekker, heller, helst, liker best`,
    sample: 'Jeg foretrekker tabulatorer.',
  },
  {
    kind: 'correction',
    language: 'nb',
    phrases: `
      egentlig, faktisk, nei, vent, jeg mente, i stedet, likevel, glem det`,
    sample: 'Nei vent, jeg mente torsdag.',
  },
]
