import type { Form } from './form.ts'

/** How languages of other families say that something is to hold. */
export const others: readonly Form[] = [
  {
    kind: 'ever',
    language: 'tr',
    phrases: `
      asla, hiçbir zaman, daima, her zaman, hep`,
    sample: 'Cuma günü asla.',
  },
  {
    kind: 'duty',
    language: 'tr',
    phrases: `
      gerek, gerekir, gerekiyor, lazım, *malı, *meli, *malısın, *melisin, olmalı`,
    sample: 'Rapor kısa olmalı.',
  },
  {
    kind: 'subject',
    language: 'tr',
    phrases: `
      ben, o, biz, onlar, benim, bizim, onun, bu, şu`,
    sample: 'ben o',
  },
  {
    kind: 'plain',
    language: 'tr',
    phrases: `
      ve, bir, bu, da, de, için, ile, çok, gibi, kadar, ama, veya, ki, daha, en, olarak, sonra`,
    sample: 've bir bu',
  },
  {
    kind: 'rule',
    language: 'tr',
    phrases: `
      hiçbir koşulda, hiçbir şekilde, hiçbir durumda, kesinlikle, mutlaka, şart, şarttır, zorunlu,
      zorundasın, zorunda, yasak, yasaktır, sakın, katiyen, istisnasız, unutma, unutmayın, hatırla,
      aklında tut, aklınızda, dikkat et, dikkat edin, emin ol, emin olun, önemli, kural, kurallar,
      *malıdır, *melidir, *mamalı, *memeli, *mamalısın, *memelisin, *malısınız, *melisiniz,
      istiyorum ki, rica ediyorum, izin yok, kabul edilemez, olmaz`,
    sample: 'Kesinlikle şemaya dokunma.',
  },
  {
    kind: 'order',
    language: 'tr',
    phrases: `
      ^kullan, ^kullanın, ^tut, ^bırak, ^cevap ver, ^yanıtla, ^konuş, ^varsay, ^sor, ^bekle, ^bütün,
      ^tüm, ^her, ^hepsi, ^önce, ^uy, ^uyun, kullan, kullanın, yaz, yazın, de, diye hitap et, davran,
      olsun`,
    sample: 'Bana Ken diye hitap et.',
  },
  {
    kind: 'wish',
    language: 'tr',
    phrases: `
      lütfen, istiyorum, istiyoruz, isterim, isteriz, ihtiyacım, rica, bu arada, bir şey,
      başlamadan önce, not, iyi olur, gerekli`,
    sample: 'Lütfen kısa yaz.',
  },
  {
    kind: 'refusal',
    language: 'tr',
    phrases: `
      *mayın, *meyin, *mayınız, *meyiniz, *masın, *mesin, kullanma, yapma, yazma, ekleme, değiştirme,
      dokunma, verme, etme, koyma, silme, söyleme, sorma, istemiyorum, istemiyoruz, istemem,
      hoşlanmıyorum, sevmiyorum, nefret, kaçın, kaçının, vazgeç, bırak, olmadan, olmasın, *sız, *siz,
      *suz, *süz, hiç, hiçbir, yok, değil, gerek yok, artık, dur`,
    sample: 'Emoji kullanmayın.',
  },
  {
    kind: 'limit',
    language: 'tr',
    phrases: `
      sadece, yalnızca, yalnız, ancak, en fazla, en çok, en az, azami, asgari, maksimum, minimum, kadar,
      hariç, dışında, yerine, *madıkça, *medikçe, *madan, *meden, sınırla, geçmesin, önce`,
    sample: 'En fazla üç cümle.',
  },
  {
    kind: 'standing',
    language: 'tr',
    phrases: `
      bundan sonra, bundan böyle, şu andan itibaren, artık, ileride, gelecekte, her seferinde,
      her defasında, ne zaman, *dığında, *diğinde, *duğunda, *düğünde, varsayılan, her yerde, her, tüm,
      bütün, boyunca, sürekli, şüphe, aksini, söyleyene kadar`,
    sample: 'Bundan sonra Türkçe yazıyoruz.',
  },
  {
    kind: 'choice',
    language: 'tr',
    phrases: `
      seçiyorum, seçiyoruz, seçtim, seçtik, karar verdim, karar verdik, karar, alıyorum, alalım,
      kullanalım, kullanacağız, gidelim, ile gidelim, devam edelim, olsun, *alım, *elim, seçenek *,
      birinci, birincisi, ikinci, ikincisi, üçüncü, üçüncüsü, sonuncu, diğeri, ilki, tercihim, anlaştık,
      yapalım, vazgeçtik, eledik, o zaman`,
    sample: 'İkincisi olsun.',
  },
  {
    kind: 'preference',
    language: 'tr',
    phrases: `
      tercih, tercih ederim, ederiz, tercihen, daha iyi, daha çok, seviyorum, severim, hoşuma, beğen*,
      mümkünse, yeğlerim`,
    sample: 'Sekmeleri tercih ederim.',
  },
  {
    kind: 'correction',
    language: 'tr',
    phrases: `
      aslında, hayır, dur, bekle, demek istedim, demek istediğim, yani, düzeltme, bunun yerine,
      onun yerine, vazgeçtim, fikrimi değiştirdim, unut, plan değişti, yanlış, yanıldım, pardon,
      dediğim gibi, geri dönelim, yine de`,
    sample: 'Hayır, dur, perşembe demek istedim.',
  },
  {
    kind: 'agreement',
    language: 'tr',
    phrases: `
      ^evet, ^hayır, ^tamam, ^olur, ^peki, ^aynen, ^doğru, ^kabul, ^anlaştık, ^elbette, ^tabii,
      ^öyle yap, ^ikisi de, ^hiçbiri`,
    sample: 'Evet, öyle yap.',
  },
  {
    kind: 'fact',
    language: 'tr',
    phrases: `
      ben, benim, adım, bizim, biz, bizde, bende, *ım, *im, *um, *üm`,
    sample: 'Benim kızım fındığa alerjik.',
  },
  {
    kind: 'speech',
    language: 'tr',
    phrases: `
      sen, senin, sana, siz, sizin, cevap*, yanıt*, açıklama*, öneri*`,
    sample: 'Cevapların çok uzun.',
  },
  {
    kind: 'request',
    language: 'tr',
    phrases: `
      ^bana, açıkla, anlat, göster, listele, özetle, çevir, karşılaştır, tanımla, bul, oluştur, hazırla,
      yardım, misin, mısın, musun, müsün, misiniz, mısınız, merak, bilmek istiyorum, işte, teşekkür*,
      sağ ol`,
    sample: 'Bana görelilik kuramını anlat.',
  },
  {
    kind: 'question',
    language: 'tr',
    phrases: `
      ne, neden, niçin, niye, nasıl, kim, nerede, hangi, kaç, mı, mi, mu, mü, midir, mıdır`,
    sample: "Tokyo'da saat kaç?",
  },
  {
    kind: 'telling',
    language: 'tr',
    phrases: `
      dün, geçen hafta, *ydı, *ydi, vardı, *muştu, *mişti, sanırım, galiba, görünüyor, düşünüyorum,
      *dım, *dim, *dum, *düm, *tım, *tim, *tum, *tüm, *dık, *dik, *duk, *dük, *tık, *tik, *ardı, *erdi,
      *rdu, *rdü, *dü`,
    sample: 'Dün sunucu yavaş görünüyor gibiydi.',
  },
  {
    kind: 'ever',
    language: 'ar',
    phrases: `
      أبدا, أبداً, ابدا, ابداً, دائما, دائماً, دوما, دوماً`,
    sample: 'أبدا يوم الجمعة.',
  },
  {
    kind: 'duty',
    language: 'ar',
    phrases: `
      يجب, ينبغي, لا بد, لابد, لازم, عليك`,
    sample: 'يجب أن يكون التقرير قصيرا.',
  },
  {
    kind: 'subject',
    language: 'ar',
    phrases: `
      أنا, انا, هو, هي, هم, نحن, هذا, هذه, ذلك, تلك, كان, كانت`,
    sample: 'أنا انا',
  },
  {
    kind: 'plain',
    language: 'ar',
    phrases: `
      في, من, على, إلى, عن, أن, إن, ما, مع, هذا, التي, الذي, و, أو, ثم, كل, بين`,
    sample: 'في من على',
  },
  {
    kind: 'rule',
    language: 'ar',
    phrases: `
      لا يجب, يجب أن, لا ينبغي, ممنوع, يمنع, يُمنع, محظور, محرم, لا يجوز, لا يسمح, لا يُسمح, مطلقا,
      مطلقاً, إطلاقا, إطلاقاً, قطعا, قطعاً, بأي حال, تحت أي ظرف, مهما كان, بدون استثناء, دون استثناء,
      إلزامي, ضروري, الضروري, تأكد, تأكدي, احرص, احرصي, تذكر, تذكري, تذكّر, لا تنس, لا تنسى, انتبه,
      ضع في اعتبارك, مهم, المهم, قاعدة, قواعد, القاعدة, شرط, أصر, أريدك أن, أريد منك, عليك أن,
      غير مقبول, غير مسموح, حتما`,
    sample: 'تأكد من ذكر المصدر.',
  },
  {
    kind: 'order',
    language: 'ar',
    phrases: `
      ^استخدم, ^استخدمي, ^استعمل, ^حافظ, ^اترك, ^أجب, ^اجب, ^رد, ^تكلم, ^تحدث, ^نادني, ^اعتبر, ^افترض,
      ^اسأل, ^اسألني, ^انتظر, ^التزم, ^اتبع, ^كن, ^اجعل, ^اكتب دائما, ^كل, ^جميع`,
    sample: 'استخدم النظام المتري.',
  },
  {
    kind: 'wish',
    language: 'ar',
    phrases: `
      من فضلك, لو سمحت, رجاء, رجاءً, الرجاء, أرجو, ارجو, أريد, اريد, نريد, أود, نود, أحتاج, نحتاج, يفضل,
      بالمناسبة, للعلم, ملاحظة, شيء واحد, قبل أن نبدأ, عايز, بدي`,
    sample: 'أريد إجابات قصيرة من فضلك.',
  },
  {
    kind: 'refusal',
    language: 'ar',
    phrases: `
      ^لا, لا تستخدم, لا تستعمل, لا تكتب, لا تفعل, لا تغير, لا تضف, لا تقم, لا تضع, لا أريد, لا اريد,
      لا نريد, لا أحب, ^بدون, بدون, ^دون, ^بلا, بلا, تجنب, تجنبي, توقف, توقفي, كف, امتنع, أكره, لا داعي,
      لا حاجة, ^ليس, ممنوع, مش عايز, ما بدي, ماتستخدمش, بلاش, ^لم, ^لن`,
    sample: 'لا تستخدم الرموز التعبيرية.',
  },
  {
    kind: 'limit',
    language: 'ar',
    phrases: `
      فقط, حصرا, حصراً, لا غير, على الأكثر, كحد أقصى, بحد أقصى, على الأقل, كحد أدنى, أكثر من, لا يزيد,
      لا تزيد, إلا, إلا إذا, ما لم, باستثناء, ما عدا, بدلا من, بدلاً من, عوضا, قبل, قبل أن, حتى`,
    sample: 'ثلاث جمل على الأكثر.',
  },
  {
    kind: 'standing',
    language: 'ar',
    phrases: `
      من الآن, من الآن فصاعدا, من الآن فصاعداً, منذ الآن, بعد الآن, مستقبلا, في المستقبل, في كل مرة,
      كل مرة, كلما, عندما, إذا كنت, إذا لم, افتراضيا, في جميع, في كل, لكل, لجميع, طوال, باستمرار,
      حتى إشعار, عند الشك`,
    sample: 'من الآن فصاعدا نكتب بالعربية.',
  },
  {
    kind: 'choice',
    language: 'ar',
    phrases: `
      لنستخدم, لنذهب, دعنا, دعونا, هيا, سنستخدم, سأستخدم, سأختار, اخترت, اخترنا, أختار, نختار, اختار,
      قررت, قررنا, القرار, قراري, سآخذ, سنأخذ, نعتمد, اعتمدنا, سنعتمد, الخيار *, خيار *, الأول, الأولى,
      الثاني, الثانية, الثالث, الثالثة, الأخير, الأخيرة, الآخر, استقر, اتفقنا, سنمضي, نمشي`,
    sample: 'سأختار الخيار الثاني.',
  },
  {
    kind: 'preference',
    language: 'ar',
    phrases: `
      أفضل, افضل, نفضل, أفضّل, يفضل, أحب, من الأفضل, الأفضل, يعجبني, أميل, تفضيلي, مفضل, المفضل`,
    sample: 'أفضل المسافات.',
  },
  {
    kind: 'correction',
    language: 'ar',
    phrases: `
      في الواقع, في الحقيقة, بل, كلا, لحظة, انتظر, أقصد, قصدت, كنت أقصد, أعني, تصحيح, بدلا من ذلك,
      بدلاً من ذلك, غيرت رأيي, تغيرت الخطة, تراجعت, انس, انسى, تجاهل, خطأ, أخطأت, عفوا, كما قلت, لنعد`,
    sample: 'لا، لحظة، كنت أقصد الخميس.',
  },
  {
    kind: 'agreement',
    language: 'ar',
    phrases: `
      ^نعم, ^أجل, ^ايوه, ^لا, ^كلا, ^حسنا, ^حسناً, ^موافق, ^أوافق, ^تمام, ^صحيح, ^بالضبط, ^طبعا,
      ^بالتأكيد, ^افعل ذلك, ^اوكي, ^كلاهما`,
    sample: 'نعم، افعل ذلك.',
  },
  {
    kind: 'fact',
    language: 'ar',
    phrases: `
      أنا, انا, اسمي, لدي, عندي, نحن, لدينا, عندنا, أعمل, أسكن, ابنتي, ابني, شركتنا, فريقنا`,
    sample: 'أنا نباتي.',
  },
  {
    kind: 'speech',
    language: 'ar',
    phrases: `
      أنت, انت, لك, إجابات*, إجابت*, ردود*, رد*, شرح*, اقتراح*`,
    sample: 'إجاباتك طويلة جدا.',
  },
  {
    kind: 'request',
    language: 'ar',
    phrases: `
      ^اكتب, ^اكتب لي, ^أرني, ^اشرح, ^اعطني, ^أعطني, ^ساعدني, ^أنشئ, ^اعرض, ^لخص, ^ترجم, ^قارن, ^صف,
      ^اذكر, ^أخبرني, ^ابحث, هل يمكنك, هل تستطيع, ممكن, أتساءل, أود أن أعرف, إليك, شكرا, شكراً`,
    sample: 'اشرح لي النسبية.',
  },
  {
    kind: 'question',
    language: 'ar',
    phrases: `
      ^ما, ^ماذا, ^لماذا, ^كيف, ^من هو, ^من هي, ^أين, ^متى, ^أي, ^كم, ^هل, ^وما, ^وهل`,
    sample: 'كم الساعة في طوكيو؟',
  },
  {
    kind: 'telling',
    language: 'ar',
    phrases: `
      كان, كانت, كانوا, أمس, الأسبوع الماضي, أظن, أعتقد, يبدو, حاولت, لاحظت, كنا, كنت, قال, يقول, ذهبنا,
      ذهبت, مشينا, لم`,
    sample: 'أمس كان الخادم بطيئا.',
  },
  {
    kind: 'ever',
    language: 'fa',
    phrases: `
      هرگز, همیشه, همواره, هیچ وقت, هیچوقت`,
    sample: 'هرگز جمعه.',
  },
  {
    kind: 'subject',
    language: 'fa',
    phrases: `
      من, او, ما, آنها, این, آن`,
    sample: 'من او',
  },
  {
    kind: 'plain',
    language: 'fa',
    phrases: `
      و, در, به, از, که, را, با, برای, این, است, هم, یا`,
    sample: 'و در به',
  },
  {
    kind: 'rule',
    language: 'fa',
    phrases: `
      هیچگاه, باید, نباید, حتما, حتماً, به هیچ وجه, تحت هیچ شرایطی, ممنوع, ممنوعه, فراموش نکن,
      یادت باشد, مهم, قانون, الزامی, مطلقا`,
    sample: 'به هیچ وجه طرح را تغییر نده.',
  },
  {
    kind: 'refusal',
    language: 'fa',
    phrases: `
      نکن, نکنید, ننویس, ننویسید, استفاده نکن, استفاده نکنید, بدون, نمی خواهم, نمیخواهم, لازم نیست,
      دوست ندارم`,
    sample: 'بدون ایموجی لطفا.',
  },
  {
    kind: 'limit',
    language: 'fa',
    phrases: `
      فقط, تنها, حداکثر, حداقل, مگر, به جز, به جای, قبل از`,
    sample: 'فقط سه جمله.',
  },
  {
    kind: 'standing',
    language: 'fa',
    phrases: `
      از این به بعد, از حالا, هر بار, هر وقت, در آینده`,
    sample: 'از این به بعد فارسی بنویس.',
  },
  {
    kind: 'choice',
    language: 'fa',
    phrases: `
      انتخاب, انتخاب می کنم, تصمیم, گزینه *, دومی, اولی, برویم, استفاده می کنیم`,
    sample: 'گزینه دوم را انتخاب می کنم.',
  },
  {
    kind: 'preference',
    language: 'fa',
    phrases: `
      ترجیح, بهتر, دوست دارم`,
    sample: 'من تب را ترجیح می دهم.',
  },
  {
    kind: 'ever',
    language: 'he',
    phrases: `
      לעולם, אף פעם, תמיד`,
    sample: 'לעולם לא ביום שישי.',
  },
  {
    kind: 'subject',
    language: 'he',
    phrases: `
      אני, הוא, היא, אנחנו, הם, זה, זאת`,
    sample: 'אני הוא',
  },
  {
    kind: 'plain',
    language: 'he',
    phrases: `
      של, את, על, עם, זה, לא, כי, גם, או, אם, מה, יש`,
    sample: 'של את על',
  },
  {
    kind: 'rule',
    language: 'he',
    phrases: `
      חייב, חייבים, חייבת, אסור, בשום אופן, בשום פנים, בשום מקרה, תזכור, אל תשכח, חובה, חשוב, כלל, צריך,
      צריכה, בהחלט`,
    sample: 'בשום אופן לא לגעת בסכמה.',
  },
  {
    kind: 'refusal',
    language: 'he',
    phrases: `
      ^אל, אל תשתמש, אל תכתוב, ^בלי, בלי, ללא, ^לא, תפסיק, להימנע, לא רוצה, שונא`,
    sample: "בלי אימוג'ים בבקשה.",
  },
  {
    kind: 'limit',
    language: 'he',
    phrases: `
      רק, אך ורק, בלבד, לכל היותר, לפחות, מקסימום, אלא אם, חוץ, במקום, לפני`,
    sample: 'לכל היותר שלושה משפטים.',
  },
  {
    kind: 'standing',
    language: 'he',
    phrases: `
      מעכשיו, מכאן והלאה, בעתיד, בכל פעם, כל פעם, כאשר`,
    sample: 'מעכשיו כותבים בעברית.',
  },
  {
    kind: 'choice',
    language: 'he',
    phrases: `
      בוא, בואו, אני בוחר, אני בוחרת, נבחר, החלטתי, החלטנו, נלך על, אפשרות *, השני, השנייה, הראשון,
      הראשונה`,
    sample: 'נלך על השני.',
  },
  {
    kind: 'preference',
    language: 'he',
    phrases: `
      מעדיף, מעדיפה, מעדיפים, עדיף, אוהב`,
    sample: 'אני מעדיף טאבים.',
  },
  {
    kind: 'ever',
    language: 'hi',
    phrases: `
      हमेशा, सदा, सदैव, कभी नहीं, कभी भी, कभी, kabhi nahi, kabhi, hamesha`,
    sample: 'शुक्रवार को कभी नहीं।',
  },
  {
    kind: 'duty',
    language: 'hi',
    phrases: `
      चाहिए, होना चाहिए, होगा, होगी, करना है, करना होगा`,
    sample: 'रिपोर्ट छोटी होनी चाहिए।',
  },
  {
    kind: 'subject',
    language: 'hi',
    phrases: `
      मैं, मैंने, वह, वे, हम, हमने, उन्होंने, उसने, मेरा, मेरी, मेरे, हमारा, हमारी, यह, ये, इस, उस`,
    sample: 'मैं मैंने',
  },
  {
    kind: 'plain',
    language: 'hi',
    phrases: `
      का, की, के, को, में, से, पर, है, हैं, और, ने, भी, तो, या, कि, एक, हो`,
    sample: 'का की के',
  },
  {
    kind: 'rule',
    language: 'hi',
    phrases: `
      ज़रूर, जरूर, अवश्य, अनिवार्य, ज़रूरी, जरूरी, आवश्यक, किसी भी हालत, किसी भी सूरत, किसी भी स्थिति,
      हरगिज़, हरगिज, बिल्कुल, बिलकुल, सख्त, सख़्त, मना, मनाही, वर्जित, निषिद्ध, इजाज़त नहीं,
      अनुमति नहीं, याद रखो, याद रखें, याद रखना, याद रहे, ध्यान रखो, ध्यान रखें, ध्यान रखना, ध्यान दें,
      ध्यान रहे, मत भूलना, भूलना मत, न भूलें, सुनिश्चित, पक्का, नियम, शर्त, नहीं चाहिए,
      मैं चाहता हूँ कि, मैं चाहती हूँ कि, चाहता हूँ, चाहती हूँ, महत्वपूर्ण, बिना अपवाद, zaroor,
      mat karna, dhyan rakhna, yaad rakhna, chahiye`,
    sample: 'ध्यान रखो कि स्रोत लिखा हो।',
  },
  {
    kind: 'order',
    language: 'hi',
    phrases: `
      ^सिर्फ, ^सभी, ^हर, ^सब, ^पहले, मुझे बुलाओ, कहकर बुलाओ, कहकर बुलाएँ, इस्तेमाल करो, इस्तेमाल करें,
      इस्तेमाल करना, उपयोग करें, उपयोग करो, उपयोग करना, प्रयोग करें, रखो, रखें, रखना, जवाब दो, जवाब दें,
      जवाब देना, बात करो, मानो, मानकर, पूछो, पूछें, पूछना, रुको, लिखना, करना`,
    sample: 'हर जगह मीट्रिक इकाइयाँ इस्तेमाल करें।',
  },
  {
    kind: 'wish',
    language: 'hi',
    phrases: `
      कृपया, प्लीज़, प्लीज, मैं चाहता, मैं चाहती, हम चाहते, मुझे चाहिए, हमें चाहिए, वैसे, एक बात,
      शुरू करने से पहले, बता दूँ, बेहतर होगा, अच्छा होगा`,
    sample: 'एक बात, रिपोर्ट में शीर्षक हों तो अच्छा होगा।',
  },
  {
    kind: 'refusal',
    language: 'hi',
    phrases: `
      मत, नहीं, न, ना, मत करो, मत करना, न करें, ना करें, नहीं करना, नहीं चाहता, नहीं चाहती, नहीं चाहते,
      बिना, बगैर, बंद करो, बंद करें, बचें, बचो, परहेज, नफरत, पसंद नहीं, ज़रूरत नहीं, जरूरत नहीं,
      कोई नहीं, छोड़ो, छोड़ दो, हटाओ, mat, nahi`,
    sample: 'इमोजी मत लगाओ।',
  },
  {
    kind: 'limit',
    language: 'hi',
    phrases: `
      केवल, सिर्फ, सिर्फ़, मात्र, ही, ज़्यादा से ज़्यादा, ज्यादा से ज्यादा, अधिकतम, कम से कम, न्यूनतम,
      से ज़्यादा नहीं, से अधिक नहीं, जब तक, के अलावा, को छोड़कर, के बजाय, की जगह, की बजाय, पहले, तक`,
    sample: 'अधिकतम तीन वाक्य।',
  },
  {
    kind: 'standing',
    language: 'hi',
    phrases: `
      अब से, आज से, अब आगे, आगे से, आइंदा, भविष्य में, हर बार, जब भी, जब तुम, जब आप, अगर तुम, अगर आप,
      डिफ़ॉल्ट, हर जगह, सभी, हर, पूरे, लगातार, हमेशा के लिए, शक हो, aage se, ab se`,
    sample: 'अब से हम हिंदी में लिखेंगे।',
  },
  {
    kind: 'choice',
    language: 'hi',
    phrases: `
      चलो, चलिए, मैं लूँगा, मैं लूंगा, मैं लूँगी, लेते हैं, चुनता हूँ, चुनती हूँ, चुनते हैं, चुना,
      चुनूँगा, तय किया, तय है, तय, फैसला, फ़ैसला, निर्णय, विकल्प *, पहला, पहली, पहले वाला, दूसरा, दूसरी,
      दूसरे वाला, दूसरा वाला, तीसरा, तीसरी, आखिरी, अंतिम वाला, वाला, वाली, यही, वही, रखते हैं, करते हैं,
      करेंगे, इस्तेमाल करेंगे`,
    sample: 'चलो दूसरा वाला लेते हैं।',
  },
  {
    kind: 'preference',
    language: 'hi',
    phrases: `
      पसंद, पसंद है, पसंद करता, पसंद करती, बेहतर, अच्छा लगता, तरजीह, वरीयता, प्राथमिकता, हो सके तो`,
    sample: 'मुझे टैब पसंद हैं।',
  },
  {
    kind: 'correction',
    language: 'hi',
    phrases: `
      असल में, दरअसल, वास्तव में, नहीं रुको, रुको, रुकिए, मेरा मतलब, मतलब, सुधार, बल्कि, इसके बजाय,
      उसकी जगह, मन बदल, इरादा बदल, योजना बदल, भूल जाओ, भूल जाइए, गलत, ग़लत, गलती, माफ़, जैसा मैंने कहा,
      वापस`,
    sample: 'नहीं रुको, मेरा मतलब गुरुवार था।',
  },
  {
    kind: 'agreement',
    language: 'hi',
    phrases: `
      ^हाँ, ^हां, ^जी, ^नहीं, ^ठीक, ^ठीक है, ^सही, ^बिल्कुल, ^सहमत, ^मंज़ूर, ^ओके, ^अच्छा, ^ऐसा ही,
      ^दोनों, ^haan, ^theek`,
    sample: 'हाँ, ऐसा ही करो।',
  },
  {
    kind: 'fact',
    language: 'hi',
    phrases: `
      मैं, मेरा, मेरी, मेरे, मुझे, हम, हमारा, हमारी, हमारे, हमें`,
    sample: 'मेरी बेटी को मूँगफली से एलर्जी है।',
  },
  {
    kind: 'speech',
    language: 'hi',
    phrases: `
      तुम, तुम्हें, तुम्हारे, तुम्हारा, आप, आपको, आपके, आपका, जवाब, उत्तर, समझाना, सुझाव`,
    sample: 'तुम्हारे जवाब बहुत लंबे हैं।',
  },
  {
    kind: 'request',
    language: 'hi',
    phrases: `
      ^लिखो, ^लिखें, बताओ, बताइए, बताएँ, बताएं, समझाओ, समझाइए, समझाएँ, दिखाओ, दिखाइए, बनाओ, बनाइए,
      अनुवाद करो, तुलना करो, सारांश, सूची बनाओ, मदद, सकते हो, सकते हैं, सकती हैं, जानना, यह रहा,
      धन्यवाद, शुक्रिया`,
    sample: 'मुझे सापेक्षता समझाओ।',
  },
  {
    kind: 'question',
    language: 'hi',
    phrases: `
      क्या, क्यों, कैसे, कौन, कहाँ, कहां, कब, कितना, कितने, कितनी, किसका, कौनसा`,
    sample: 'टोक्यो में कितने बजे हैं?',
  },
  {
    kind: 'telling',
    language: 'hi',
    phrases: `
      था, थी, थे, कल, पिछले हफ्ते, पिछले सप्ताह, लगता है, सोचा, शायद, देखा, हुआ, हुई, गया, गए, गई, चला,
      चले, कहा, कहते थे, समझ नहीं आया, आया, उतरे`,
    sample: 'कल सर्वर धीमा था।',
  },
  {
    kind: 'ever',
    language: 'id',
    phrases: `
      selalu, pasti`,
    sample: 'Selalu jawab singkat.',
  },
  {
    kind: 'duty',
    language: 'id',
    phrases: `
      harus, mesti, musti, seharusnya, sebaiknya`,
    sample: 'Laporan harus singkat.',
  },
  {
    kind: 'subject',
    language: 'id',
    phrases: `
      dia, mereka, ia, itu, ini, ada`,
    sample: 'dia mereka',
  },
  {
    kind: 'plain',
    language: 'id',
    phrases: `
      yang, dan, di, ke, dari, untuk, dengan, pada, adalah, ini, itu, akan, atau, tetapi, tapi, juga,
      dalam, sebagai, oleh`,
    sample: 'yang dan di',
  },
  {
    kind: 'rule',
    language: 'id',
    phrases: `
      jangan pernah, tidak pernah boleh, wajib, tidak boleh, nggak boleh, gak boleh, dilarang,
      terlarang, dalam keadaan apa pun, dalam kondisi apa pun, dalam situasi apa pun, sama sekali,
      mutlak, pastikan, ingat, ingatlah, jangan lupa, perhatikan, ketahui, penting, aturan, peraturan,
      syarat, ketentuan, tanpa kecuali, tanpa pengecualian, saya ingin kamu, saya ingin anda,
      saya mau kamu, saya minta, diharuskan, diwajibkan, haram, pantang, tak boleh`,
    sample: 'Jangan pernah menaruh kata sandi di kode.',
  },
  {
    kind: 'order',
    language: 'id',
    phrases: `
      ^gunakan, ^pakai, ^pakailah, ^jaga, ^biarkan, ^panggil saya, ^panggil aku, ^jawab, ^jawablah,
      ^bicara, ^anggap, ^asumsikan, ^tanya, ^tanyakan, ^tunggu, ^ikuti, ^patuhi, ^batasi, ^semua,
      ^setiap, ^segala, ^seluruh, ^tetap`,
    sample: 'Gunakan satuan metrik.',
  },
  {
    kind: 'wish',
    language: 'id',
    phrases: `
      tolong, mohon, harap, silakan, saya ingin, saya mau, aku mau, kami ingin, kami mau, saya butuh,
      kami butuh, perlu, dibutuhkan, omong omong, btw, satu hal, sebelum mulai, sebelum kita mulai,
      catatan, sekadar info, usahakan, baiknya`,
    sample: 'Satu hal sebelum kita mulai: laporan perlu judul.',
  },
  {
    kind: 'refusal',
    language: 'id',
    phrases: `
      ^jangan, jangan, ^tanpa, tanpa, ^tidak, ^tak, ^nggak, ^gak, tidak usah, nggak usah, gak usah,
      tidak perlu, hindari, ^hindari, berhenti, ^stop, saya tidak mau, saya tidak ingin, kami tidak,
      tidak mau, ogah, benci, tidak suka, nggak suka, gak suka, jangan lagi, tidak lagi, bukan, tiada`,
    sample: 'Jangan pakai emoji.',
  },
  {
    kind: 'limit',
    language: 'id',
    phrases: `
      hanya, cuma, cukup, saja, semata, khusus, maksimal, maksimum, paling banyak, paling lama,
      paling sedikit, minimal, minimum, tidak lebih dari, setidaknya, kecuali, selain, daripada,
      bukannya, alih alih, sebelum, sampai, hingga`,
    sample: 'Maksimal tiga kalimat.',
  },
  {
    kind: 'standing',
    language: 'id',
    phrases: `
      mulai sekarang, dari sekarang, sejak sekarang, mulai saat ini, ke depannya, ke depan, selanjutnya,
      seterusnya, di masa depan, setiap kali, tiap kali, kapan pun, ketika kamu, jika kamu, kalau kamu,
      jika anda, bila, secara default, di mana pun, di semua, untuk semua, di setiap, untuk setiap,
      terus, sepanjang, kalau ragu, jika ragu`,
    sample: 'Mulai sekarang kita menulis dalam bahasa Indonesia.',
  },
  {
    kind: 'choice',
    language: 'id',
    phrases: `
      ayo, mari, kita pakai, kita gunakan, saya pilih, aku pilih, kami pilih, pilih, saya ambil,
      kita ambil, putuskan, memutuskan, diputuskan, keputusan, sepakat, opsi *, pilihan *, yang pertama,
      yang kedua, yang ketiga, yang terakhir, yang lain, yang itu, yang ini, lanjut dengan, jadinya,
      akan pakai, akan menggunakan, tetap dengan`,
    sample: 'Saya pilih yang kedua.',
  },
  {
    kind: 'preference',
    language: 'id',
    phrases: `
      lebih suka, lebih memilih, lebih baik, lebih senang, suka, prefer, preferensi, kalau bisa,
      idealnya, favorit, mending, mendingan`,
    sample: 'Saya lebih suka tab.',
  },
  {
    kind: 'correction',
    language: 'id',
    phrases: `
      sebenarnya, tunggu, maksud saya, maksudku, koreksi, ralat, sebagai gantinya, malah,
      berubah pikiran, ganti rencana, rencana berubah, lupakan, abaikan, keliru, bukan itu,
      seperti saya bilang, kembali ke, ternyata, diganti, ganti`,
    sample: 'Tunggu, maksud saya hari Kamis.',
  },
  {
    kind: 'agreement',
    language: 'id',
    phrases: `
      ^ya, ^iya, ^tidak, ^bukan, ^oke, ^ok, ^baik, ^baiklah, ^setuju, ^benar, ^betul, ^tepat, ^sip,
      ^lakukan, ^boleh, ^tentu, ^keduanya`,
    sample: 'Ya, lakukan itu.',
  },
  {
    kind: 'fact',
    language: 'id',
    phrases: `
      saya, aku, nama saya, kami, kita punya, milik kami, anak saya, tim kami, perusahaan kami`,
    sample: 'Anak saya alergi kacang.',
  },
  {
    kind: 'speech',
    language: 'id',
    phrases: `
      kamu, anda, engkau, mu, jawaban*, balasan*, menjawab, penjelasan*, saran*`,
    sample: 'Jawaban kamu terlalu panjang.',
  },
  {
    kind: 'request',
    language: 'id',
    phrases: `
      ^tulis, ^tuliskan, ^buat, ^buatkan, ^jelaskan, ^tunjukkan, ^beri, ^berikan, ^bantu, ^terjemahkan,
      ^bandingkan, ^rangkum, ^sebutkan, ^ceritakan, ^cari, ^carikan, ^hitung, bisakah, bisa tolong,
      dapatkah, maukah, penasaran, ingin tahu, berikut, ini dia, terima kasih, makasih`,
    sample: 'Jelaskan teori relativitas.',
  },
  {
    kind: 'question',
    language: 'id',
    phrases: `
      ^apa, ^mengapa, ^kenapa, ^bagaimana, ^gimana, ^siapa, ^di mana, ^kapan, ^berapa, ^apakah,
      ^yang mana, ^adakah, ^mana`,
    sample: 'Jam berapa di Tokyo? Apa zona waktunya?',
  },
  {
    kind: 'telling',
    language: 'id',
    phrases: `
      kemarin, minggu lalu, tadi, pernah, sepertinya, kelihatannya, rasanya, saya pikir, katanya, sudah,
      waktu itu, dulu, bilang, dahulu`,
    sample: 'Kemarin server lambat.',
  },
  {
    kind: 'ever',
    language: 'vi',
    phrases: `
      không bao giờ, chẳng bao giờ, luôn, luôn luôn, lúc nào cũng`,
    sample: 'Không bao giờ vào thứ Sáu.',
  },
  {
    kind: 'duty',
    language: 'vi',
    phrases: `
      phải, nên, cần phải`,
    sample: 'Báo cáo phải ngắn.',
  },
  {
    kind: 'subject',
    language: 'vi',
    phrases: `
      nó, họ, anh ấy, cô ấy, ông ấy, có, đó, này`,
    sample: 'nó họ',
  },
  {
    kind: 'plain',
    language: 'vi',
    phrases: `
      và, của, cho, với, là, các, những, một, trong, trên, được, để, khi, thì, mà, từ, ở, nhé`,
    sample: 'và của cho',
  },
  {
    kind: 'rule',
    language: 'vi',
    phrases: `
      bắt buộc, không được, không được phép, cấm, nghiêm cấm, tuyệt đối, dù thế nào,
      trong mọi trường hợp, bất kể, nhất định, nhất thiết, không có ngoại lệ, hãy chắc chắn, đảm bảo,
      bảo đảm, nhớ, hãy nhớ, đừng quên, lưu ý, chú ý, ghi nhớ, quan trọng, quy tắc, quy định,
      nguyên tắc, yêu cầu, điều kiện, không nên, tôi muốn bạn, mong bạn, đề nghị`,
    sample: 'Tuyệt đối giữ nguyên lược đồ.',
  },
  {
    kind: 'order',
    language: 'vi',
    phrases: `
      ^hãy, ^dùng, ^sử dụng, ^giữ, ^để, ^gọi tôi, ^trả lời, ^nói, ^coi, ^xem như, ^giả sử, ^hỏi, ^chờ,
      ^đợi, ^tuân, ^giới hạn, ^tất cả, ^mọi, ^mỗi, ^từng, ^cứ`,
    sample: 'Hãy dùng hệ mét.',
  },
  {
    kind: 'wish',
    language: 'vi',
    phrases: `
      làm ơn, vui lòng, xin, xin hãy, tôi muốn, mình muốn, chúng tôi muốn, tôi cần, mình cần, cần,
      nhân tiện, một điều, một việc, trước khi bắt đầu, nói trước, mong, ước gì, giùm, giúp tôi`,
    sample: 'Một điều trước khi bắt đầu: báo cáo cần có tiêu đề.',
  },
  {
    kind: 'refusal',
    language: 'vi',
    phrases: `
      ^đừng, đừng, ^không, không cần, không muốn, không dùng, không sử dụng, ^chớ, ^thôi, tránh, ^tránh,
      ngừng, dừng, bỏ, ^bỏ, ghét, không thích, không chấp nhận, khỏi, miễn, không phải, không có, chẳng`,
    sample: 'Đừng dùng biểu tượng cảm xúc.',
  },
  {
    kind: 'limit',
    language: 'vi',
    phrases: `
      chỉ, duy nhất, mỗi, tối đa, nhiều nhất, tối thiểu, ít nhất, không quá, không hơn, trừ khi, trừ,
      ngoại trừ, ngoài, thay vì, thay cho, trước khi, cho đến khi, thôi`,
    sample: 'Tối đa ba câu.',
  },
  {
    kind: 'standing',
    language: 'vi',
    phrases: `
      từ giờ, từ bây giờ, từ nay, từ nay về sau, kể từ bây giờ, về sau, sau này, trong tương lai,
      mỗi khi, mỗi lần, bất cứ khi nào, khi bạn, nếu bạn, khi nào, mặc định, ở mọi nơi, trong mọi,
      cho mọi, cho tất cả, suốt, liên tục, nếu không chắc`,
    sample: 'Từ giờ chúng ta viết tiếng Việt.',
  },
  {
    kind: 'choice',
    language: 'vi',
    phrases: `
      chọn, tôi chọn, mình chọn, chúng ta chọn, lấy, tôi lấy, đi với, quyết định, chốt, chúng ta dùng,
      chúng ta sẽ, mình sẽ, tôi sẽ, sẽ dùng, phương án *, lựa chọn *, cái đầu, cái thứ nhất,
      cái thứ hai, cái thứ ba, thứ hai, thứ nhất, thứ ba, cái sau, cái trước, cái cuối, cái kia, cái đó,
      hãy cùng, theo`,
    sample: 'Tôi chọn cái thứ hai.',
  },
  {
    kind: 'preference',
    language: 'vi',
    phrases: `
      thích hơn, thích, ưu tiên, ưa, thà, tốt hơn, tốt nhất, hơn là, nếu được`,
    sample: 'Tôi thích tab hơn.',
  },
  {
    kind: 'correction',
    language: 'vi',
    phrases: `
      thực ra, thật ra, khoan, khoan đã, chờ đã, ý tôi là, ý mình là, đính chính, sửa lại, thay vào đó,
      đổi ý, nghĩ lại, quên, bỏ qua, nhầm, sai, đổi kế hoạch, như tôi đã nói, quay lại, đổi sang,
      chuyển sang, à không`,
    sample: 'Khoan, ý tôi là thứ Năm.',
  },
  {
    kind: 'agreement',
    language: 'vi',
    phrases: `
      ^vâng, ^dạ, ^ừ, ^có, ^không, ^được, ^ok, ^okay, ^đồng ý, ^đúng, ^đúng rồi, ^chính xác, ^tốt,
      ^làm đi, ^làm vậy đi, ^nhất trí, ^cả hai`,
    sample: 'Vâng, làm vậy đi.',
  },
  {
    kind: 'fact',
    language: 'vi',
    phrases: `
      tôi là, tên tôi, tôi có, tôi đang, của tôi, của chúng tôi, chúng tôi, bên tôi, công ty tôi,
      nhóm tôi, con gái tôi, mình là`,
    sample: 'Con gái tôi dị ứng đậu phộng.',
  },
  {
    kind: 'speech',
    language: 'vi',
    phrases: `
      bạn, cậu, anh, câu trả lời, trả lời, giải thích, đề xuất, gợi ý`,
    sample: 'Câu trả lời của bạn quá dài.',
  },
  {
    kind: 'request',
    language: 'vi',
    phrases: `
      ^viết, ^giải thích, ^cho tôi, ^cho mình, ^giúp, ^tạo, ^liệt kê, ^tóm tắt, ^dịch, ^so sánh, ^mô tả,
      ^tìm, ^kể, ^hướng dẫn, bạn có thể, có thể giúp, tôi muốn biết, thắc mắc, đây là, cảm ơn`,
    sample: 'Giải thích thuyết tương đối.',
  },
  {
    kind: 'question',
    language: 'vi',
    phrases: `
      tại sao, vì sao, thế nào, như thế nào, ai, ở đâu, bao giờ, bao nhiêu, gì, là gì, nào, phải không,
      sao`,
    sample: 'Mấy giờ ở Tokyo, múi giờ là gì?',
  },
  {
    kind: 'telling',
    language: 'vi',
    phrases: `
      hôm qua, tuần trước, đã, hình như, có vẻ, tôi nghĩ, tôi thấy, năm ngoái, hồi, đã từng, từng,
      nói rằng, chưa bao giờ`,
    sample: 'Hôm qua máy chủ có vẻ chậm.',
  },
  {
    kind: 'rule',
    language: 'ms',
    phrases: `
      jangan sekali kali, sentiasa, mesti, wajib, tidak boleh, dilarang, pastikan, ingat, penting`,
    sample: 'Sentiasa jawab dengan ringkas.',
  },
  {
    kind: 'ever',
    language: 'fi',
    phrases: `
      ei koskaan, aina`,
    sample: 'Ei koskaan perjantaina.',
  },
  {
    kind: 'subject',
    language: 'fi',
    phrases: `
      minä, hän, se, me, he, tämä, minun`,
    sample: 'minä hän',
  },
  {
    kind: 'plain',
    language: 'fi',
    phrases: `
      ja, on, ei, että, se, mutta, tai, jos, kun, myös, niin, kuin, ovat, oli`,
    sample: 'ja on ei',
  },
  {
    kind: 'rule',
    language: 'fi',
    phrases: `
      älä koskaan, pitää, täytyy, on pakko, ei saa, ei missään tapauksessa, ehdottomasti, muista,
      älä unohda, varmista, kielletty, pakollinen, tärkeää, sääntö`,
    sample: 'Älä koskaan kirjoita salasanoja koodiin.',
  },
  {
    kind: 'refusal',
    language: 'fi',
    phrases: `
      ^älä, ^älkää, älä, ^ei, ilman, vältä, lopeta, en halua, en tykkää`,
    sample: 'Älä käytä emojeita.',
  },
  {
    kind: 'limit',
    language: 'fi',
    phrases: `
      vain, ainoastaan, pelkästään, enintään, korkeintaan, vähintään, paitsi, sijaan`,
    sample: 'Enintään kolme lausetta.',
  },
  {
    kind: 'standing',
    language: 'fi',
    phrases: `
      tästä lähtien, jatkossa, vastedes, joka kerta, aina kun`,
    sample: 'Tästä lähtien kirjoitamme suomeksi.',
  },
  {
    kind: 'choice',
    language: 'fi',
    phrases: `
      valitsen, valitaan, otetaan, otan, mennään, päätin, päätimme, vaihtoehto *, toinen, ensimmäinen,
      jälkimmäinen, käytetään`,
    sample: 'Otetaan toinen.',
  },
  {
    kind: 'preference',
    language: 'fi',
    phrases: `
      mieluummin, mieluiten, pidän enemmän, tykkään`,
    sample: 'Käytän mieluummin sarkaimia.',
  },
  {
    kind: 'correction',
    language: 'fi',
    phrases: `
      itse asiassa, ei vaan, odota, tarkoitin, sen sijaan, muutin mieleni`,
    sample: 'Odota, tarkoitin torstaita.',
  },
  {
    kind: 'ever',
    language: 'hu',
    phrases: `
      soha, sose, mindig`,
    sample: 'Soha pénteken.',
  },
  {
    kind: 'subject',
    language: 'hu',
    phrases: `
      én, ő, mi, ők, a, az, ez, egy`,
    sample: 'én ő',
  },
  {
    kind: 'plain',
    language: 'hu',
    phrases: `
      és, a, az, hogy, nem, is, de, vagy, ha, mint, van, volt, egy, meg`,
    sample: 'és a az',
  },
  {
    kind: 'rule',
    language: 'hu',
    phrases: `
      kell, nem szabad, tilos, semmilyen körülmények, semmiképp*, feltétlenül, ne felejtsd, jegyezd meg,
      ügyelj, kötelező, fontos, szabály`,
    sample: 'Semmilyen körülmények között.',
  },
  {
    kind: 'refusal',
    language: 'hu',
    phrases: `
      ^ne, ^nincs, nélkül, kerüld, hagyd abba, nem akarok, nem szeretem, utálom`,
    sample: 'Ne használj emojit.',
  },
  {
    kind: 'limit',
    language: 'hu',
    phrases: `
      csak, kizárólag, kizárólagosan, legfeljebb, maximum, legalább, kivéve, helyett`,
    sample: 'Legfeljebb három mondat.',
  },
  {
    kind: 'standing',
    language: 'hu',
    phrases: `
      mostantól, ezentúl, a jövőben, minden alkalommal, valahányszor, alapértelmezetten`,
    sample: 'Mostantól magyarul írunk.',
  },
  {
    kind: 'choice',
    language: 'hu',
    phrases: `
      legyen, válasszuk, választom, döntöttem, döntöttünk, maradjunk, a második, az első, a harmadik,
      használjuk`,
    sample: 'Legyen a második.',
  },
  {
    kind: 'preference',
    language: 'hu',
    phrases: `
      inkább, jobban szeretem, szívesebben`,
    sample: 'Inkább tabulátort használok.',
  },
  {
    kind: 'correction',
    language: 'hu',
    phrases: `
      valójában, várj, úgy értettem, helyette, mégis, meggondoltam`,
    sample: 'Várj, csütörtököt mondtam volna, úgy értettem.',
  },
  {
    kind: 'ever',
    language: 'el',
    phrases: `
      ποτέ, πάντα, πάντοτε`,
    sample: 'Ποτέ την Παρασκευή.',
  },
  {
    kind: 'subject',
    language: 'el',
    phrases: `
      εγώ, αυτός, αυτή, το, ο, η, οι, τα, ένα, μια`,
    sample: 'εγώ αυτός',
  },
  {
    kind: 'plain',
    language: 'el',
    phrases: `
      και, το, να, του, της, με, για, στο, στη, από, που, δεν, είναι, αλλά, ή`,
    sample: 'και το να',
  },
  {
    kind: 'rule',
    language: 'el',
    phrases: `
      πρέπει, δεν πρέπει, απαγορεύεται, σε καμία περίπτωση, οπωσδήποτε, απολύτως, θυμήσου, μην ξεχνάς,
      μην ξεχάσεις, υποχρεωτικ*, σημαντικό, κανόνας`,
    sample: 'Σε καμία περίπτωση.',
  },
  {
    kind: 'refusal',
    language: 'el',
    phrases: `
      ^μην, ^μη, μην, ^χωρίς, χωρίς, απόφυγε, σταμάτα, δεν θέλω, ^όχι`,
    sample: 'Μην χρησιμοποιείς emoji.',
  },
  {
    kind: 'limit',
    language: 'el',
    phrases: `
      μόνο, αποκλειστικά, το πολύ, τουλάχιστον, εκτός, αντί`,
    sample: 'Το πολύ τρεις προτάσεις.',
  },
  {
    kind: 'standing',
    language: 'el',
    phrases: `
      από εδώ και πέρα, από τώρα, στο εξής, κάθε φορά, όποτε`,
    sample: 'Από εδώ και πέρα γράφουμε ελληνικά.',
  },
  {
    kind: 'choice',
    language: 'el',
    phrases: `
      ας, διαλέγω, επιλέγω, αποφάσισα, αποφασίσαμε, το δεύτερο, η δεύτερη, το πρώτο, επιλογή *, πάμε με`,
    sample: 'Επιλέγω το δεύτερο.',
  },
  {
    kind: 'preference',
    language: 'el',
    phrases: `
      προτιμώ, προτιμάμε, καλύτερα, μου αρέσει`,
    sample: 'Προτιμώ τα tabs.',
  },
  {
    kind: 'correction',
    language: 'el',
    phrases: `
      βασικά, στην πραγματικότητα, περίμενε, εννοούσα, αντ' αυτού, άλλαξα γνώμη`,
    sample: 'Περίμενε, εννοούσα την Πέμπτη.',
  },
]
