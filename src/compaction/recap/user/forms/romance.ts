import type { Form } from './form.ts'

/** How French, Spanish, Portuguese, Italian and Romanian say that something is to hold. */
export const romance: readonly Form[] = [
  {
    kind: 'ever',
    language: 'fr',
    phrases: `
      jamais, toujours`,
    sample: 'Jamais le vendredi.',
  },
  {
    kind: 'duty',
    language: 'fr',
    phrases: `
      doit, doivent, dois, devez, devrait, devrais, devriez, devraient, il faut, faut`,
    sample: 'Il faut un rapport court.',
  },
  {
    kind: 'subject',
    language: 'fr',
    phrases: `
      je, j'ai, j'avais, j'étais, il, elle, on, nous, ils, elles, le, la, les, un, une, des, mon, ma,
      mes, notre, nos, son, sa, ses, leur, ce, cette, ces, ça, c'est, c'était`,
    sample: "je j'ai",
  },
  {
    kind: 'plain',
    language: 'fr',
    phrases: `
      de, du, des, et, à, en, dans, pour, sur, avec, par, est, sont, a, ont, pas, que, qui, mais, ou,
      si, au, aux, d'un, d'une, l'*, d'*, qu'*, plus`,
    sample: 'de du des',
  },
  {
    kind: 'rule',
    language: 'fr',
    phrases: `
      ne doit, il ne faut, faut pas, en aucun cas, sous aucun prétexte, en aucune circonstance,
      à aucun moment, impérativement, impératif, absolument, surtout, obligatoire*, obligatoirement,
      interdit*, interdiction, défendu, proscrit*, pas autorisé, hors de question, exclu,
      non négociable, sans exception, sans faute, assure toi, assurez vous, veille à, veillez à,
      fais attention, faites attention, fais en sorte, faites en sorte, n'oublie pas, n'oubliez pas,
      souviens toi, souvenez vous, rappelle toi, rappelez vous, garde en tête, gardez en tête,
      garde à l'esprit, gardez à l'esprit, retiens, retenez, important, essentiel, règle, règles,
      consigne, consignes, contrainte*, exige, j'exige, j'insiste, tiens à ce que, veux que tu,
      veux que vous, voudrais que, souhaite que, aimerais que`,
    sample: 'En aucun cas tu ne touches au schéma.',
  },
  {
    kind: 'order',
    language: 'fr',
    phrases: `
      ^utilise, ^utilisez, ^garde, ^gardez, ^reste, ^restez, ^laisse, ^laissez, ^appelle moi,
      ^appelez moi, ^réponds, ^répondez, ^parle, ^parlez, ^tutoie, ^vouvoie*, ^limite, ^limitez,
      ^respecte*, ^considère*, ^considérez, ^pars du principe, ^partez du principe, ^suppose*,
      ^demande moi, ^demandez moi, ^attends, ^attendez, ^préviens*, ^prévenez, ^sois, ^soyez, ^fais,
      ^faites, ^mets, ^mettez, ^privilégie*, ^privilégiez, ^applique*, ^suis, ^suivez, ^tous, ^toutes,
      ^tout, ^chaque`,
    sample: 'Utilise partout le système métrique.',
  },
  {
    kind: 'wish',
    language: 'fr',
    phrases: `
      s'il te plaît, s'il vous plaît, stp, svp, merci de, je veux, nous voulons, on veut, je voudrais,
      j'aimerais, je souhaite, j'ai besoin, besoin de, nécessaire, ce serait bien, ça serait bien,
      prière de, au fait, d'ailleurs, une chose, une précision, petite précision, avant de commencer,
      pour info, à noter, note que, notez que, tu peux, vous pouvez`,
    sample: 'Une chose avant de commencer : le rapport a besoin de titres.',
  },
  {
    kind: 'refusal',
    language: 'fr',
    phrases: `
      ^ne, ^n'*, ^pas, pas de, pas d'*, surtout pas, ^aucun*, aucun, aucune, ^sans, ^arrête*, arrête,
      arrêtez, cesse*, ^évite*, évite, évitez, éviter, abstiens, abstenez, je ne veux pas, ne veux pas,
      veux pas, je ne veux plus, plus de, n'aime pas, déteste, supporte pas, ne supporte, hors de,
      ne touche*, touche pas, laisse tomber, rien, on ne, nous ne, non`,
    sample: 'Pas d’emojis, s’il te plaît.',
  },
  {
    kind: 'limit',
    language: 'fr',
    phrases: `
      seulement, uniquement, exclusivement, rien que, au maximum, maximum, au plus, tout au plus,
      au moins, au minimum, minimum, pas plus de, pas plus d'*, que si, sauf, à moins, excepté, hormis,
      plutôt que, au lieu de, au lieu d'*, à la place de, avant de, avant d'*, tant que, jusqu'à,
      que des`,
    sample: 'Trois phrases au maximum.',
  },
  {
    kind: 'standing',
    language: 'fr',
    phrases: `
      désormais, dorénavant, à partir de maintenant, à partir d'aujourd'hui, dès maintenant, à l'avenir,
      par la suite, jusqu'à nouvel ordre, chaque fois, à chaque, quand tu, quand vous, quand je, si tu,
      si vous, lorsque, par défaut, partout, dans tous, dans toutes, pour tous, pour toutes,
      pour chaque, en cas de doute, tout le temps, tout au long, en général, d'ici là`,
    sample: 'Désormais on écrit en français.',
  },
  {
    kind: 'choice',
    language: 'fr',
    phrases: `
      on prend, je prends, prenons, nous prenons, on part sur, partons sur, je pars sur, allons y,
      on y va, je choisis, nous choisissons, on choisit, choisi, opte pour, optons, opté, décidé,
      décision, on garde, gardons, on reste sur, restons, on utilise, nous utilisons, utilisons,
      va pour, ce sera, on va, nous allons, option *, le premier, la première, le deuxième, la deuxième,
      le second, la seconde, le troisième, la troisième, le dernier, la dernière, ce dernier, l'autre,
      tranché, retenu, validé, on fait, abandonné, écarté, renoncé, alors le, alors la`,
    sample: 'Va pour la deuxième option.',
  },
  {
    kind: 'preference',
    language: 'fr',
    phrases: `
      préfère, préférons, préférence, de préférence, préférable, plutôt, j'aime, j'aime mieux,
      mieux vaut, idéalement, favori, mieux si, vaut mieux, me convient`,
    sample: 'Je préfère les tabulations.',
  },
  {
    kind: 'correction',
    language: 'fr',
    phrases: `
      en fait, finalement, plutôt, non, attends, je voulais dire, je veux dire, correction, à la place,
      au temps pour moi, autant pour moi, oublie ça, oublie, oubliez, changé d'avis, changement de plan,
      réflexion faite, à bien y réfléchir, erreur, je me suis trompé*, me suis mal, rectification,
      comme je l'ai dit, revenons, en réalité`,
    sample: 'Non attends, je voulais dire jeudi.',
  },
  {
    kind: 'agreement',
    language: 'fr',
    phrases: `
      ^oui, ^non, ^ouais, ^ok, ^d'accord, ^parfait, ^très bien, ^exactement, ^exact, ^vas y, ^allez y,
      ^c'est ça, ^bien sûr, ^entendu, ^ça marche, ^ça me va, ^les deux, ^ni`,
    sample: 'Oui, vas-y.',
  },
  {
    kind: 'fact',
    language: 'fr',
    phrases: `
      je suis, je m'appelle, mon, ma, mes, notre, nos, nous sommes, on est, nous avons, j'ai, on a,
      je travaille, j'habite, chez nous`,
    sample: 'Ma fille est allergique aux noix.',
  },
  {
    kind: 'speech',
    language: 'fr',
    phrases: `
      tu, toi, te, ton, ta, tes, vous, votre, vos, réponse*, répond*, explication*, suggestion*`,
    sample: 'Tes réponses sont trop longues.',
  },
  {
    kind: 'request',
    language: 'fr',
    phrases: `
      ^écris, ^écrivez, ^montre*, ^explique*, ^donne*, ^aide*, ^crée*, ^créez, ^liste*, ^résume*,
      ^traduis, ^compare*, ^décris, ^trouve*, ^cherche*, ^propose*, peux tu, pouvez vous, pourrais tu,
      pourriez vous, tu peux m'expliquer, je cherche, je me demande, j'aimerais savoir, voici, voilà,
      merci pour`,
    sample: 'Explique-moi la relativité.',
  },
  {
    kind: 'question',
    language: 'fr',
    phrases: `
      ^qu'est ce, ^que, ^quoi, ^pourquoi, ^comment, ^qui, ^où, ^quand est, ^quel*, ^est ce, ^combien,
      ^c'est quoi, ^y a t il`,
    sample: 'Quelle heure est-il à Tokyo ?',
  },
  {
    kind: 'telling',
    language: 'fr',
    phrases: `
      était, étaient, avait, avaient, hier, la semaine dernière, j'ai essayé, j'ai vu, je pense,
      je crois, semble, paraît, il y a, étions, étais, *aient, disait, compris, *ions, avons, ont,
      est allé, sommes allés`,
    sample: 'Hier le serveur était lent.',
  },
  {
    kind: 'ever',
    language: 'es',
    phrases: `
      nunca, jamás, siempre`,
    sample: 'Nunca en viernes.',
  },
  {
    kind: 'duty',
    language: 'es',
    phrases: `
      debe, deben, debes, debería, deberían, deberías, hay que, tiene que, tienen que, tienes que`,
    sample: 'Hay que ser breve.',
  },
  {
    kind: 'subject',
    language: 'es',
    phrases: `
      yo, él, ella, ellos, ellas, nosotros, el, la, los, las, un, una, mi, mis, nuestro, nuestra, su,
      sus, este, esta, esto, eso, ese, esa, lo, se`,
    sample: 'yo él',
  },
  {
    kind: 'plain',
    language: 'es',
    phrases: `
      de, del, y, a, en, para, por, con, sobre, es, son, ha, que, pero, o, si, al, como, más, muy,
      entre, desde, cuando, también`,
    sample: 'de del y',
  },
  {
    kind: 'rule',
    language: 'es',
    phrases: `
      no debe*, no hay que, bajo ningún concepto, bajo ninguna circunstancia, en ningún caso,
      de ninguna manera, de ningún modo, en ningún momento, sin excepción, sin excepciones, sin falta,
      obligatorio, obligatoria, prohibido, prohibida, queda prohibid*, no está permitid*, no se permite,
      no se puede, inaceptable, no negociable, asegúrate, asegúrese, asegurate, cuida que, procura,
      recuerda, recuerde, recordá, acuérdate, no olvides, no olvide, no te olvides, ten en cuenta,
      tenga en cuenta, tené en cuenta, ten presente, importante, imprescindible, esencial, fundamental,
      regla, reglas, norma, normas, requisito, exijo, insisto, quiero que, necesito que, queremos que,
      me gustaría que, te pido que, prefiero que, absolutamente, terminantemente, rotundamente, sí o sí`,
    sample: 'Asegúrate de citar la fuente.',
  },
  {
    kind: 'order',
    language: 'es',
    phrases: `
      ^usa, ^use, ^usá, ^utiliza, ^utilice, ^mantén, ^mantenga, ^quédate, ^deja, ^deje, ^llámame,
      ^responde, ^responda, ^contesta, ^conteste, ^habla, ^hable, ^háblame, ^tutéame, ^limita,
      ^limítate, ^respeta, ^considera, ^asume, ^supón, ^pregúntame, ^pregunta, ^espera, ^avísame, ^sé,
      ^sea, ^haz, ^haga, ^pon, ^ponga, ^sigue, ^siga, ^aplica, ^trata, ^todo, ^todos, ^todas, ^cada`,
    sample: 'Usa siempre unidades métricas.',
  },
  {
    kind: 'wish',
    language: 'es',
    phrases: `
      por favor, porfa, quiero, queremos, quisiera, me gustaría, necesito, necesitamos, necesario,
      hace falta, estaría bien, sería bueno, por cierto, una cosa, antes de empezar, que quede claro,
      para que sepas, ojo, nota, toma nota, favor de`,
    sample: 'Una cosa antes de empezar: el informe necesita títulos.',
  },
  {
    kind: 'refusal',
    language: 'es',
    phrases: `
      ^no, no quiero, no queremos, no uses, no use, no hagas, no me, no se, ^nada de, nada de, ^sin,
      ^ningún, ^ninguna, ninguno, ^evita, evita, evite, evitar, ^deja de, deja de, deje de, para de,
      abstente, no más, no toques, odio, detesto, no soporto, no me gusta*, ya no, prefiero no,
      ni se te ocurra, nada, tampoco`,
    sample: 'Nada de emojis, por favor.',
  },
  {
    kind: 'limit',
    language: 'es',
    phrases: `
      solo, sólo, solamente, únicamente, exclusivamente, nada más, como máximo, máximo, como mucho,
      al menos, como mínimo, mínimo, no más de, a menos que, salvo, excepto, en vez de, en lugar de,
      antes de, mientras, hasta que`,
    sample: 'Tres frases como máximo.',
  },
  {
    kind: 'standing',
    language: 'es',
    phrases: `
      a partir de ahora, de ahora en adelante, desde ahora, en adelante, en lo sucesivo, en el futuro,
      hasta nuevo aviso, cada vez, siempre que, cuando te, cuando me, cuando yo, si te, si me,
      si tienes, por defecto, en todas partes, en todos, en todas, para todos, para todas, en cada,
      en caso de duda, todo el tiempo, en general, de aquí en`,
    sample: 'A partir de ahora escribimos en español.',
  },
  {
    kind: 'choice',
    language: 'es',
    phrases: `
      vamos con, vamos a, me quedo con, nos quedamos con, quedémonos, elijo, elegimos, elegí, escojo,
      escogemos, opto por, optamos, decidí, decidimos, decidido, hemos decidido, decisión, usaremos,
      usamos, usemos, utilizaremos, tomo, tomamos, la opción *, opción *, la primera, el primero,
      la segunda, el segundo, la tercera, el tercero, la última, el último, la otra, el otro, será,
      que sea, va a ser, mejor la, mejor el, dale, seguimos con, hagamos, haremos, descartado,
      descartamos, abandonado, entonces la, entonces el`,
    sample: 'Me quedo con la segunda opción.',
  },
  {
    kind: 'preference',
    language: 'es',
    phrases: `
      prefiero, preferimos, preferiría, preferible*, preferencia, de preferencia, mejor, me gusta,
      me gustan, me encanta, favorito, favorita, idealmente, más bien, me viene mejor`,
    sample: 'Prefiero los tabuladores.',
  },
  {
    kind: 'correction',
    language: 'es',
    phrases: `
      en realidad, no espera, espera, quise decir, quería decir, me refería, corrección, en su lugar,
      mejor dicho, pensándolo bien, pensándolo mejor, olvida, olvídalo, olvide, cambié de opinión,
      he cambiado de, cambio de planes, cambio de plan, me equivoqué, me he equivocado, error, perdón,
      rectifico, como dije, volvamos`,
    sample: 'No, espera, quise decir el jueves.',
  },
  {
    kind: 'agreement',
    language: 'es',
    phrases: `
      ^sí, ^si, ^no, ^vale, ^ok, ^okay, ^de acuerdo, ^perfecto, ^claro, ^exacto, ^correcto, ^hazlo,
      ^adelante, ^está bien, ^bueno, ^dale, ^así es, ^ambos, ^ambas, ^ninguno, ^ninguna,
      ^me parece bien`,
    sample: 'Sí, hazlo.',
  },
  {
    kind: 'fact',
    language: 'es',
    phrases: `
      soy, me llamo, mi, mis, nuestro*, nuestra*, somos, tenemos, tengo, trabajo, vivo, trabajamos,
      estamos`,
    sample: 'Mi hija es alérgica a las nueces.',
  },
  {
    kind: 'speech',
    language: 'es',
    phrases: `
      tú, vos, usted, ustedes, tu, tus, te, su, respuesta*, respond*, explicaci*, sugerencia*`,
    sample: 'Tus respuestas son muy largas.',
  },
  {
    kind: 'request',
    language: 'es',
    phrases: `
      ^escribe, ^escríbeme, ^muestra*, ^muéstrame, ^explica*, ^explícame, ^dame, ^da, ^ayuda*, ^ayúdame,
      ^crea, ^genera, ^lista, ^resume, ^traduce, ^compara, ^describe, ^busca, ^encuentra, ^dime,
      ^cuéntame, puedes, puede usted, podrías, podría usted, me pregunto, quisiera saber,
      me gustaría saber, aquí está, gracias`,
    sample: 'Explícame la relatividad.',
  },
  {
    kind: 'question',
    language: 'es',
    phrases: `
      ^qué, ^por qué, ^cómo, ^quién, ^dónde, ^cuándo, ^cuál*, ^cuánto*, ^es, ^hay, ^está, ^y qué,
      ^y cómo`,
    sample: '¿Qué hora es en Tokio?',
  },
  {
    kind: 'telling',
    language: 'es',
    phrases: `
      era, eran, fue, fueron, estaba, había, ayer, la semana pasada, pensé, creo, parece, intenté, vi,
      *aba, *aban, *aron, *ieron, *ábamos, *íamos, dije, dijo, entendí, fuimos, decía, hice`,
    sample: 'Ayer el servidor estaba lento.',
  },
  {
    kind: 'ever',
    language: 'pt',
    phrases: `
      nunca, jamais, sempre`,
    sample: 'Nunca na sexta.',
  },
  {
    kind: 'duty',
    language: 'pt',
    phrases: `
      deve, devem, deves, deveria, deveriam, tem que, tem de, têm que, tens de, é preciso`,
    sample: 'O relatório deveria ser curto.',
  },
  {
    kind: 'subject',
    language: 'pt',
    phrases: `
      eu, ele, ela, eles, elas, nós, o, a, os, as, um, uma, meu, minha, nosso, nossa, seu, sua, este,
      esta, esse, essa, isso, isto, gente`,
    sample: 'eu ele',
  },
  {
    kind: 'plain',
    language: 'pt',
    phrases: `
      de, do, da, dos, das, e, em, no, na, nos, nas, para, por, com, sobre, é, são, que, mas, ou, se,
      ao, à, como, mais, muito, entre, quando, também`,
    sample: 'de do da',
  },
  {
    kind: 'rule',
    language: 'pt',
    phrases: `
      não deve, não pode, não podem, de jeito nenhum, de forma alguma, de maneira nenhuma,
      em hipótese alguma, em hipótese nenhuma, sob nenhuma circunstância, em nenhum caso, em caso algum,
      em circunstância alguma, sem exceção, sem exceções, sem falta, obrigatório, obrigatória, proibido,
      proibida, não é permitid*, inaceitável, inegociável, certifique, certifica te, garanta, garante,
      lembre, lembra te, lembra, não esqueça, não se esqueça, não te esqueças, não esqueças,
      tenha em mente, tem em conta, leve em conta, importante, essencial, fundamental, imprescindível,
      regra, regras, requisito, exijo, faço questão, insisto, quero que, preciso que, gostaria que,
      peço que, absolutamente, terminantemente, expressamente`,
    sample: 'Não se esqueça de citar a fonte.',
  },
  {
    kind: 'order',
    language: 'pt',
    phrases: `
      ^use, ^usa, ^utilize, ^utiliza, ^mantenha, ^mantém, ^fique, ^fica, ^deixe, ^deixa, ^me chame,
      ^chame me, ^chama me, ^responda, ^responde, ^fale, ^fala, ^limite, ^respeite, ^considere, ^assuma,
      ^assume, ^pergunte, ^pergunta, ^espere, ^avise, ^seja, ^sê, ^faça, ^faz, ^ponha, ^coloque, ^siga,
      ^aplique, ^trate, ^tudo, ^todos, ^todas, ^cada`,
    sample: 'Use sempre o sistema métrico.',
  },
  {
    kind: 'wish',
    language: 'pt',
    phrases: `
      por favor, quero, queremos, queria, gostaria, preciso, precisamos, necessário, seria bom,
      faz favor, a propósito, uma coisa, antes de começar, que fique claro, só para saber, nota,
      atenção`,
    sample: 'Uma coisa antes de começar: o relatório precisa de títulos.',
  },
  {
    kind: 'refusal',
    language: 'pt',
    phrases: `
      ^não, ^nao, não quero, não queremos, não use, não uses, não faça, não faças, nao use, ^nada de,
      nada de, ^sem, ^nenhum, ^nenhuma, nenhum, nenhuma, ^evite, evite, evita, evitar, ^pare de,
      pare de, para de, deixe de, chega de, odeio, detesto, não suporto, não gosto, prefiro não,
      não mexa, não toque*, nada`,
    sample: 'Nada de emojis, por favor.',
  },
  {
    kind: 'limit',
    language: 'pt',
    phrases: `
      só, somente, apenas, unicamente, exclusivamente, no máximo, máximo, ao menos, pelo menos,
      no mínimo, mínimo, não mais de, não mais que, a menos que, a não ser, salvo, exceto, em vez de,
      ao invés de, em lugar de, antes de, enquanto, até que`,
    sample: 'No máximo três frases.',
  },
  {
    kind: 'standing',
    language: 'pt',
    phrases: `
      a partir de agora, de agora em diante, daqui em diante, daqui para a frente, daqui pra frente,
      doravante, no futuro, até segunda ordem, até nova ordem, cada vez, toda vez, sempre que,
      quando você, se você, quando eu, por padrão, por omissão, em todos, em todas, em toda parte,
      para todos, para todas, em cada, em caso de dúvida, o tempo todo, em geral`,
    sample: 'A partir de agora escrevemos em português.',
  },
  {
    kind: 'choice',
    language: 'pt',
    phrases: `
      vamos de, vamos com, vamos usar, vamos, fico com, ficamos com, eu fico, escolho, escolhemos,
      escolhi, opto por, optamos, decidi, decidimos, decidido, está decidido, decisão, usaremos, vou de,
      vou com, pego, opção *, a primeira, o primeiro, a segunda, o segundo, a terceira, o terceiro,
      a última, o último, a outra, o outro, será, vai ser, que seja, pode ser, seguimos com, fechado,
      descartamos, descartado, abandonamos, então a, então o`,
    sample: 'Fico com a segunda opção.',
  },
  {
    kind: 'preference',
    language: 'pt',
    phrases: `
      prefiro, preferimos, preferia, preferência, de preferência, preferível, melhor, gosto de,
      gosto mais, favorito, favorita, idealmente, de preferencia`,
    sample: 'Prefiro tabulações.',
  },
  {
    kind: 'correction',
    language: 'pt',
    phrases: `
      na verdade, aliás, não espera, espera, espere, quis dizer, queria dizer, correção, em vez disso,
      ao invés disso, pensando bem, pensando melhor, esqueça, esquece, mudei de ideia,
      mudança de planos, me enganei, enganei me, erro, retifico, como eu disse, voltemos`,
    sample: 'Não, espera, eu quis dizer quinta-feira.',
  },
  {
    kind: 'agreement',
    language: 'pt',
    phrases: `
      ^sim, ^não, ^ok, ^okay, ^tá, ^de acordo, ^perfeito, ^claro, ^exato, ^exatamente, ^correto, ^certo,
      ^faça isso, ^pode fazer, ^pode ser, ^está bem, ^tudo bem, ^combinado, ^ambos, ^nenhum, ^isso`,
    sample: 'Sim, faça isso.',
  },
  {
    kind: 'fact',
    language: 'pt',
    phrases: `
      sou, eu sou, me chamo, chamo me, meu, minha, meus, minhas, nosso*, nossa*, somos, temos, tenho,
      trabalho, moro, trabalhamos, estamos`,
    sample: 'Minha filha é alérgica a nozes.',
  },
  {
    kind: 'speech',
    language: 'pt',
    phrases: `
      você, vocês, tu, te, teu, tua, seu, sua, suas, resposta*, respond*, explicaç*, sugest*`,
    sample: 'Suas respostas são longas demais.',
  },
  {
    kind: 'request',
    language: 'pt',
    phrases: `
      ^escreva, ^escreve, ^mostre*, ^mostra*, ^explique*, ^explica*, ^me explique, ^me dê, ^dê, ^dá me,
      ^ajude*, ^me ajude, ^crie, ^gere, ^liste, ^resuma, ^traduza, ^compare, ^descreva, ^encontre,
      ^diga me, você pode, pode me, poderia, podes, gostaria de saber, me pergunto, aqui está, segue,
      obrigado, obrigada`,
    sample: 'Explique a relatividade.',
  },
  {
    kind: 'question',
    language: 'pt',
    phrases: `
      ^o que, ^por que, ^porque, ^como, ^quem, ^onde, ^quando é, ^qual, ^quais, ^quanto*, ^é, ^há,
      ^tem como, ^e como`,
    sample: 'Que horas são em Tóquio? Qual é o fuso?',
  },
  {
    kind: 'telling',
    language: 'pt',
    phrases: `
      era, eram, foi, foram, estava, tinha, ontem, semana passada, pensei, acho, parece, tentei, vi,
      *ava, *avam, *aram, *eram, *iram, disse, dizia, entendi, fomos, fiz`,
    sample: 'Ontem o servidor estava lento.',
  },
  {
    kind: 'ever',
    language: 'it',
    phrases: `
      mai, sempre`,
    sample: 'Mai di venerdì.',
  },
  {
    kind: 'duty',
    language: 'it',
    phrases: `
      deve, devono, devi, dovete, dovrebbe, dovresti, bisogna, occorre, vanno`,
    sample: 'Bisogna essere brevi.',
  },
  {
    kind: 'subject',
    language: 'it',
    phrases: `
      io, lui, lei, loro, noi, il, lo, la, i, gli, le, un, una, mio, mia, nostro, nostra, suo, sua,
      questo, questa, quello, quella, si, ci`,
    sample: 'io lui',
  },
  {
    kind: 'plain',
    language: 'it',
    phrases: `
      di, del, della, dei, delle, e, a, in, nel, nella, per, con, su, è, che, ma, o, se, al, alla, come,
      più, molto, tra, quando, anche, dell'*, l'*, un'*, da, dal`,
    sample: 'di del della',
  },
  {
    kind: 'rule',
    language: 'it',
    phrases: `
      non deve, non devi, non si deve, non si può, non può, va sempre, in nessun caso,
      per nessun motivo, per nessuna ragione, in nessuna circostanza, assolutamente, tassativamente,
      tassativo, rigorosamente, obbligatorio, obbligatoria, vietato, vietata, vietati, proibito,
      non è ammesso, non è consentito, inaccettabile, non negoziabile, senza eccezioni, senza eccezione,
      assicurati, si assicuri, fai in modo, faccia in modo, fai attenzione, attenzione, ricorda,
      ricordati, ricordi, si ricordi, non dimenticare, tieni presente, tenga presente, tieni conto,
      importante, fondamentale, essenziale, indispensabile, regola, regole, requisito, vincolo, esigo,
      pretendo, insisto, ci tengo, voglio che, vorrei che, mi aspetto`,
    sample: 'In nessun caso toccare lo schema.',
  },
  {
    kind: 'order',
    language: 'it',
    phrases: `
      ^usa, ^usi, ^utilizza, ^utilizzi, ^mantieni, ^mantenga, ^resta, ^rimani, ^lascia, ^lasci,
      ^chiamami, ^mi chiami, ^rispondi, ^risponda, ^parla, ^parli, ^dammi del, ^limita*, ^rispetta,
      ^considera, ^consideri, ^supponi, ^parti dal presupposto, ^chiedi, ^chiedimi, ^aspetta, ^avvisami,
      ^sii, ^sia, ^fai, ^faccia, ^metti, ^segui, ^segua, ^applica, ^tratta, ^tutto, ^tutti, ^tutte,
      ^ogni`,
    sample: 'Usa ovunque il sistema metrico.',
  },
  {
    kind: 'wish',
    language: 'it',
    phrases: `
      per favore, per piacere, per cortesia, voglio, vogliamo, vorrei, mi piacerebbe, ho bisogno, serve,
      servono, necessario, sarebbe bello, sarebbe meglio, a proposito, tra l'altro, una cosa,
      prima di iniziare, prima di cominciare, sia chiaro, nota bene, giusto per, puoi`,
    sample: 'Una cosa prima di iniziare: servono i titoli.',
  },
  {
    kind: 'refusal',
    language: 'it',
    phrases: `
      ^non, ^niente, niente, ^nessun*, nessun, nessuna, ^senza, basta, smettila, smetti di, ^evita,
      evita, evitare, eviti, astieniti, non voglio, non vogliamo, non mi piac*, odio, detesto,
      non sopporto, non toccare, non usare, non fare, lascia stare, preferirei non, non più, nulla`,
    sample: 'Niente emoji, per favore.',
  },
  {
    kind: 'limit',
    language: 'it',
    phrases: `
      solo, soltanto, solamente, unicamente, esclusivamente, al massimo, massimo, al più, almeno,
      minimo, come minimo, non più di, a meno che, salvo, tranne, eccetto, invece di, anziché,
      piuttosto che, al posto di, prima di, finché`,
    sample: 'Al massimo tre frasi.',
  },
  {
    kind: 'standing',
    language: 'it',
    phrases: `
      d'ora in poi, da ora in poi, da adesso, da oggi, d'ora in avanti, in futuro, in avanti,
      fino a nuovo ordine, ogni volta, quando mi, quando ti, se ti, se hai, ogniqualvolta, di default,
      per impostazione, ovunque, dappertutto, in tutti, in tutte, per tutti, per tutte, in ogni,
      per ogni, in caso di dubbio, nel dubbio, in generale`,
    sample: "D'ora in poi scriviamo in italiano.",
  },
  {
    kind: 'choice',
    language: 'it',
    phrases: `
      andiamo con, andiamo per, vado con, vada per, prendo, prendiamo, scelgo, scegliamo, ho scelto,
      abbiamo scelto, opto, optiamo, deciso, ho deciso, abbiamo deciso, decisione, useremo, usiamo,
      facciamo, teniamo, restiamo, rimaniamo, opzione *, la prima, il primo, la seconda, il secondo,
      la terza, il terzo, l'ultima, l'ultimo, quest'ultimo, l'altra, l'altro, sarà, aggiudicato,
      scartato, abbandonato, rinunciato, allora la, allora il`,
    sample: 'Vada per la seconda opzione.',
  },
  {
    kind: 'preference',
    language: 'it',
    phrases: `
      preferisco, preferiamo, preferirei, preferenza, di preferenza, preferibilmente, preferibile,
      meglio, piuttosto, mi piace, mi piacciono, favorito, preferito, idealmente`,
    sample: 'Preferisco le tabulazioni.',
  },
  {
    kind: 'correction',
    language: 'it',
    phrases: `
      in realtà, anzi, no aspetta, aspetta, volevo dire, intendevo, correzione, invece, ripensandoci,
      a pensarci bene, lascia perdere, dimentica, ho cambiato idea, cambio di programma,
      mi sono sbagliat*, errore, scusa, rettifico, come ho detto, torniamo`,
    sample: 'No aspetta, volevo dire giovedì.',
  },
  {
    kind: 'agreement',
    language: 'it',
    phrases: `
      ^sì, ^si, ^no, ^ok, ^okay, ^va bene, ^d'accordo, ^perfetto, ^certo, ^esatto, ^giusto, ^fallo,
      ^procedi, ^vai, ^bene, ^entrambi, ^entrambe, ^nessuno, ^nessuna`,
    sample: 'Sì, fallo pure.',
  },
  {
    kind: 'fact',
    language: 'it',
    phrases: `
      sono, mi chiamo, mio, mia, miei, mie, nostro, nostra, nostri, nostre, siamo, abbiamo, ho, lavoro,
      vivo, abito, da noi`,
    sample: 'Mia figlia è allergica alle noci.',
  },
  {
    kind: 'speech',
    language: 'it',
    phrases: `
      tu, lei, te, tuo, tua, tuoi, tue, risposta, risposte, rispond*, spiegazion*, suggeriment*`,
    sample: 'Le tue risposte sono troppo lunghe.',
  },
  {
    kind: 'request',
    language: 'it',
    phrases: `
      ^scrivi, ^scrivimi, ^mostra*, ^spiega*, ^dammi, ^dai, ^aiuta*, ^crea, ^genera, ^elenca, ^riassumi,
      ^traduci, ^confronta, ^descrivi, ^trova, ^dimmi, ^raccontami, puoi spiegar*, può spiegar*,
      puoi dirmi, potresti, potrebbe, mi chiedo, vorrei sapere, ecco, grazie`,
    sample: 'Spiegami la relatività.',
  },
  {
    kind: 'question',
    language: 'it',
    phrases: `
      ^che, ^cosa, ^perché, ^come, ^chi, ^dove, ^quando, ^quale, ^quali, ^quanto, ^quanti, ^è, ^c'è,
      ^e come`,
    sample: 'Che ore sono a Tokyo?',
  },
  {
    kind: 'telling',
    language: 'it',
    phrases: `
      era, erano, fu, stava, aveva, ieri, la settimana scorsa, ho pensato, penso, credo, sembra, pare,
      ho provato, ho, hai, ha, hanno, siamo, diceva, stati, stato, stata, *ava, *avano, *eva, *evano,
      abbiamo, capito`,
    sample: 'Ieri il server era lento.',
  },
  {
    kind: 'ever',
    language: 'ro',
    phrases: `
      niciodată, nicicând, întotdeauna, mereu`,
    sample: 'Niciodată vinerea.',
  },
  {
    kind: 'subject',
    language: 'ro',
    phrases: `
      eu, el, ea, ei, ele, noi, un, o, meu, mea, nostru, acest, această`,
    sample: 'eu el',
  },
  {
    kind: 'plain',
    language: 'ro',
    phrases: `
      de, și, în, la, pe, cu, pentru, din, este, sunt, nu, că, dar, sau, dacă, mai, care, să`,
    sample: 'de și în',
  },
  {
    kind: 'rule',
    language: 'ro',
    phrases: `
      trebuie, nu trebuie, în niciun caz, sub nicio formă, asigură te, ține minte, nu uita, obligatoriu,
      interzis, important, regulă, vreau să`,
    sample: 'Asigură te că citezi sursa.',
  },
  {
    kind: 'order',
    language: 'ro',
    phrases: `
      ^folosește, ^păstrează, ^răspunde, ^vorbește, ^toate, ^fiecare`,
    sample: 'Folosește sistemul metric.',
  },
  {
    kind: 'refusal',
    language: 'ro',
    phrases: `
      ^nu, fără, ^niciun, ^nicio, evită, nu vreau, încetează`,
    sample: 'Fără emoji, te rog.',
  },
  {
    kind: 'limit',
    language: 'ro',
    phrases: `
      doar, numai, exclusiv, cel mult, cel puțin, maxim, minim, în afară de, în loc de`,
    sample: 'Cel mult trei fraze.',
  },
  {
    kind: 'standing',
    language: 'ro',
    phrases: `
      de acum înainte, de acum încolo, pe viitor, de fiecare dată, ori de câte ori`,
    sample: 'De acum înainte scriem în română.',
  },
  {
    kind: 'choice',
    language: 'ro',
    phrases: `
      hai să, aleg, alegem, mergem pe, am decis, am hotărât, opțiunea *, a doua, al doilea, prima,
      primul`,
    sample: 'Aleg a doua variantă.',
  },
  {
    kind: 'preference',
    language: 'ro',
    phrases: `
      prefer, preferăm, mai degrabă, mai bine`,
    sample: 'Prefer taburile.',
  },
  {
    kind: 'correction',
    language: 'ro',
    phrases: `
      de fapt, nu stai, voiam să spun, în schimb, m am răzgândit, corecție`,
    sample: 'De fapt, voiam să spun joi.',
  },
]
