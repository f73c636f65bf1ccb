# ruff: noqa: RUF001  # characters that look like others are what the lists are about
"""Languages of texts: told by the function words and letters of a text, or by the script of a word. Pure.

A language has the name of its Snowball stemmer. English is the language of whatever is not clearly another's.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import Stemmer

ENGLISH: Final = "english"
# Names of months and weekdays, in order; several for one stand behind a slash.
MONTHS: Final[Mapping[str, str]] = {
    ENGLISH: "january february march april may june july august september october november december",
    "german": "januar/jänner februar/feber märz april mai juni juli august september oktober november dezember",
    "spanish": "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre",
    "french": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "italian": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "dutch": "januari februari maart april mei juni juli augustus september oktober november december",
}
WEEKDAYS: Final[Mapping[str, str]] = {
    ENGLISH: "monday tuesday wednesday thursday friday saturday sunday",
    "german": "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "spanish": "lunes martes miércoles jueves viernes sábado domingo",
    "french": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "italian": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "portuguese": "segunda-feira/segunda terça-feira/terça quarta-feira/quarta quinta-feira/quinta sexta-feira/sexta"
    " sábado domingo",
    "dutch": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
}

# Function words of each language, without most of those that are English words, too. They carry no meaning of a text,
# and are left out of its terms.
_FUNCTION_WORDS: Mapping[str, str] = {
    "german": """
        der die das den dem des ein eine einen einem einer eines und oder aber ist sind bin bist war waren wird wurde
        werden worden hat habe haben hast hatte hatten ich du er sie es wir ihr mich mir dich dir ihn ihm ihnen uns
        euch mein meine meinen meinem meiner dein deine deinen deiner sein seine seinen seiner unser unsere unseren
        euer nicht kein keine keinen auch nur noch schon sehr mit von vom zu zum zur auf aus bei beim nach vor für
        über unter um an im ins am in durch gegen ohne seit als wie wenn weil dass ob denn so dann doch mal hier dort
        da wo wer was wen wem wann warum wieso welche welcher welches welchen man sich kann kannst können muss musst
        will willst möchte soll gibt ja gerne gern jetzt heute welchem gestern morgen immer
    """,
    "dutch": """
        de het een en of maar is zijn ben bent was waren wordt werd worden heeft heb hebben hebt had hadden ik jij je
        hij zij ze wij we jullie mij me jou hem haar ons hun mijn jouw onze niet geen ook nog al zeer heel met van te
        tot op uit bij naar voor over onder om aan in door tegen zonder sinds als dan dat die dit deze omdat want zo
        hier daar er waar wie wat wanneer waarom welke welk hoe zich kan kun kunnen moet moeten wil willen zal zou
        graag nu vandaag gisteren morgen altijd
    """,
    "swedish": """
        och eller men är var vara varit blir blev har hade ha jag du han hon den det vi ni de mig dig honom henne oss
        er dem min mitt mina din ditt dina sin sitt sina vår vårt våra inte ingen inget också bara redan mycket med av
        från till på ur hos efter för över under om i genom mot utan sedan som när än att därför så då här där vem vad
        varför vilken vilket vilka hur sig kan måste vill ska skulle nu idag igår imorgon alltid en ett
    """,
    "danish": """
        og eller men er var være været bliver blev har havde jeg du han hun den det vi de mig dig ham hende os jer dem
        min mit mine din dit dine sin sit sine vores ikke ingen intet også kun allerede meget med af fra til på ud hos
        efter for over under om i gennem mod uden siden som når end at derfor så da her der hvem hvad hvor hvornår
        hvorfor hvilken hvilket hvordan sig kan skal vil skulle nu idag altid en et nogen
    """,
    "norwegian": """
        og eller men er var være vært blir ble har hadde jeg du han hun den det vi de meg deg ham henne oss dere dem
        min mitt mine din ditt dine sin sitt sine vår vårt våre ikke ingen ingenting også bare allerede veldig mye med
        av fra til på ut hos etter for over under om i gjennom mot uten siden som når enn at derfor så da her der hvem
        hva hvor hvorfor hvilken hvilket hvordan seg kan skal vil skulle nå alltid en et ei noen
    """,
    "spanish": """
        el la los las un una unos unas y e o u pero es son soy eres era eran fue fueron ser está están estoy estás
        estaba ha he has han había hay tiene tengo tienes tienen yo tú él ella ellos ellas nosotros vosotros usted
        ustedes me te se le les lo nos os mi mis tu tus su sus mío mía nuestro nuestra no ni también solo ya muy con
        de del al a en por para sin sobre entre desde hasta como cuando porque que qué si quién quien cuál cuándo
        dónde donde cómo cuánto cuántos cuántas este esta esto ese esa eso aquel aquella más menos aquí allí ahora hoy
        ayer mañana siempre nunca
    """,
    "portuguese": """
        o a os as um uma uns umas e ou mas é são sou era eram foi foram ser está estão estou estava há tem tenho têm
        tinha eu tu ele ela eles elas nós vós você vocês me te se lhe lhes nos meu minha meus minhas teu tua seu sua
        seus suas nosso nossa não nem também só já muito com de do da dos das ao à aos às em no na nas num numa por
        pelo pela para sem sobre entre desde até como quando porque que quem qual quais onde quanto quantos quantas
        este esta isto esse essa isso aquele aquela mais menos aqui ali agora hoje ontem amanhã sempre nunca
    """,
    "french": """
        le la les l un une des du de d et ou mais est sont suis es était étaient être été a ai as ont avait avez avons
        j je tu il elle on nous vous ils elles me m te t se s lui leur leurs mon ma mes ton ta tes son sa ses notre
        nos votre vos ne n pas plus aussi très déjà avec à au aux en dans par pour sans sur sous entre depuis chez
        vers comme quand parce que qu qui quoi quel quelle quels quelles où comment pourquoi combien si ce cet cette
        ces c ça cela ici là y maintenant aujourd hui hier demain toujours jamais
    """,
    "italian": """
        il lo la i gli le l un uno una e ed o ma è sono sei era erano fu essere stato stata ha ho hai hanno aveva c io
        tu lui lei noi voi loro mi ti si ci vi mio mia miei mie tuo tua tuoi suo sua suoi sue nostro nostra non né
        anche solo già molto con di del della dei delle dello dell al alla ai alle in nel nella nei nelle da dal dalla
        per tra fra su sul sulla senza come quando perché che chi quale quali cosa dove quanto quanti quante se questo
        questa questi queste quello quella più meno qui qua lì ora oggi ieri domani sempre mai
    """,
    "romanian": """
        și si sau dar este sunt ești era erau fi fost are am ai au avea eu tu el ea noi voi ei ele îmi mi îți ți își
        îi mă te se ne vă meu mea mei mele tău ta său sa nostru noastră nu nici doar foarte cu de din la în pe pentru
        prin fără despre între până ca când că care ce cine unde cum cât câți câte dacă acest această aceasta acel mai
        aici acolo acum azi ieri mâine mereu un o unei unui
    """,
    "polish": """
        i a oraz lub ale jest są jestem jesteś był była było byli być ma mam masz mają miał ja ty on ona ono my wy oni
        mnie mi cię ci go mu jej jego ich nas was nam wam się sobie mój moja moje moją twój twoja twoje swój nasz
        nasza nie też tylko już bardzo z ze do od na w we o u po za przez dla bez pod nad przed między jak kiedy bo że
        co kto który która które jaki jaka jakie gdzie dlaczego ile czy ten ta to te tego tej tam tu teraz dziś
        dzisiaj wczoraj jutro zawsze nigdy
    """,
    "czech": """
        a i nebo ale je jsou jsem jsi byl byla bylo byli být má mám máš mají měl já ty on ona my vy oni mě mi tě ti ho
        mu jí jeho její jejich nás vás nám vám se si můj moje tvůj tvoje svůj náš naše ne není také jen už velmi s do
        od na v ve o u po za přes pro bez pod nad před mezi jak kdy protože že co kdo který která které jaký jaká jaké
        kde proč kolik jestli ten ta to tam tady teď dnes včera zítra vždy nikdy
    """,
    "turkish": """
        ve veya ama fakat bir bu şu o ben sen biz siz onlar beni seni onu bizi sizi bana sana ona bize benim senin
        onun bizim sizin onların değil yok var da de mi mı mu mü ile için gibi kadar sonra önce daha çok en hem ya ki
        ne kim nerede nereye neden niçin nasıl hangi kaç şimdi bugün dün yarın her zaman hiç burada orada idi oldu
        olan olarak
    """,
    "finnish": """
        ja tai mutta on ovat olen olet oli olivat olla ollut minä sinä hän se me te he ne minun sinun hänen meidän
        minut sinut minulla sinulla hänellä minua mikä mitä kuka missä mihin mistä milloin miksi miten kuinka monta ei
        en et eivät myös vain jo hyvin kanssa että jos kun koska kuin niin siellä täällä nyt tänään eilen huomenna
        aina tämä tuo
    """,
    "hungarian": """
        a az egy és vagy de hogy ha mert van vannak vagyok volt voltak lesz én te ő mi ti ők engem téged őt nekem
        neked neki enyém ki hol hova honnan mikor miért hogyan mennyi hány melyik nem sem is csak már nagyon meg el be
        fel le itt ott most ma tegnap holnap mindig ez ezt azt kell lehet
    """,
    "indonesian": """
        dan atau tetapi tapi adalah ialah yang di ke dari pada untuk dengan oleh dalam saya aku kamu anda dia ia kami
        kita mereka ini itu tidak bukan belum sudah telah akan sedang juga hanya sangat sekali ada apa siapa mana
        kapan mengapa kenapa bagaimana berapa jika kalau karena seperti sini sana sekarang kemarin besok selalu
    """,
    "russian": """
        и а но или да не ни я ты он она оно мы вы они меня мне тебя тебе его ему её ее ей нас нам вас вам их им мой
        моя моё мое мои моего моей твой твоя твои свой своя наш наша ваш это этот эта эти тот та те то в во на с со к
        ко от до из у о об по за под над при для без через между что чтобы как когда где куда откуда кто кого кому
        какой какая какие чей сколько почему зачем если потому так там тут здесь теперь сейчас сегодня вчера завтра
        всегда никогда уже ещё еще только очень тоже был была было были есть нет бы же ли
    """,
    "greek": """
        ο η το οι τα του της των τον την τους τις ένα ένας μια και ή αλλά είναι είμαι είσαι ήταν έχει έχω έχεις εγώ
        εσύ αυτός αυτή αυτό εμείς εσείς μου σου με σε από για στο στη στην στον στα ως όταν γιατί που πού ποιος ποια
        ποιο τι πώς πόσο δεν μην θα να εδώ εκεί τώρα σήμερα χθες αύριο πάντα πολύ
    """,
    "arabic": """
        في من إلى الى على عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم نحن أنا انا أنت انت أن ان إن كان كانت يكون لا
        لم لن ما ماذا متى أين اين كيف لماذا كم هل أو او و ثم لكن قد كل بعد قبل عند لي لك له لها
    """,
    "persian": """
        و در به از که این آن را با برای است بود هست هستم من تو او ما شما آنها ایشان یک هم نیز اما یا تا چه کی کجا چرا
        چطور چند آیا نه هر باید شد می
    """,
    "hindi": """
        और या लेकिन है हैं हूँ हूं था थी थे मैं तू तुम आप वह वे यह ये हम मेरा मेरी मेरे तुम्हारा आपका आपकी उसका उसकी
        उनका का की के को से में पर ने तक भी ही तो नहीं न क्या कौन कहाँ कहां कब क्यों कैसे कितना कितने एक इस उस मुझे
        उसे कि जो
    """,
}
# Verbs of everyday statements, by which a short one shows its language; they carry meaning.
_VERBS: Mapping[str, str] = {
    "german": "heißt heisse heiße heißen wohne wohnt wohnst arbeite arbeitet arbeitest arbeiten wohnen lebt mag magst",
    "dutch": "woon woont werk werkt heet houd houdt",
    "swedish": "bor jobbar heter gillar",
    "danish": "bor arbejder hedder",
    "norwegian": "bor jobber heter liker",
    "spanish": "vive vivo vives vivía trabaja trabajo llama llamo gusta gustan quiero quiere puedo puede",
    "portuguese": "mora moro vive vivo morava trabalha trabalho chama chamo gosta gosto quero quer posso pode",
    "french": "habite habites habitait travaille appelle aime aimes veux veut peux peut fait",
    "italian": "vive vivo abita abito lavora lavoro chiama chiamo piace piacciono voglio vuole posso può",
    "romanian": "locuiește locuiesc lucrează cheamă numește place",
    "polish": "mieszka mieszkam pracuje pracuję nazywa lubi lubię chcę może mogę",
    "czech": "bydlí bydlím pracuje jmenuje rád ráda chci může",
    "turkish": "yaşıyor oturuyor çalışıyor seviyor seviyorum adı adım",
    "finnish": "asuu asun nimi pidän pitää",
    "hungarian": "lakik lakom dolgozik hívják szereti szeretem",
    "indonesian": "tinggal bekerja bernama suka",
}
# Of these a text in English may have one or two, mostly in names: "Los Angeles", "La La Land", "van Gogh".
_WEAK: Final = frozenset(
    """
    a ada af ai al ale ali all alla als also am ama an apa are as at au az bar bare be ben bent bin biz ble bo by c ca
    care chi ci co com come comment como con cum d da dal dan dann dar das data de dei del dell dem den der des di dia
    die dig din dine dir dit do door dos dove du due e ea ed een ei el ella em en end er era et eu fait fan far fel fi
    fin for fra fu go ha had ham han has hasta hat hay he heel hem her here hij him ho hui hun i ik il in ini ins io
    is j ja je jen jo ka ki kim l la las le les llama lo los m ma mag mai mama man mate me mea meg mei mele men met mi
    mia mig min mina mine mis mit mod mon most mu my n na nas ne ni no noi non notre nu num o of on ons op or os over
    pada papa par para pas per place plus po pod pour pro qu que s sa san sans se sedan sei seine sen ser sera ses
    shel si sin sine sit so solo son soy stata su sub sue sur t ta tai tam te ten there ti til till to ton tout tu ty
    u um uma un una under une uno uns ur us ut v van var ve vi via vom von w want war was wat we wil will wy y ya z ze
    zu
    """.split()
)
# English words that say "this is English", if no other language's words outnumber them.
_ENGLISH: Final = frozenset(
    """
        the and is are was were been have has had i you he she it we they my your his her its our their this that
        these those what when where who why how which not don t didn doesn isn of to in on at for with from by as if
        but or so do does did can could will would should be am an a me him them there here just about
    """.split()
)
# Letters that few other languages write.
_LETTERS: Mapping[str, str] = {
    "german": "ßäöü",
    "swedish": "åäö",
    "danish": "æøå",
    "norwegian": "æøå",
    "spanish": "ñ¿¡",
    "portuguese": "ãõç",
    "french": "çœêèùû",
    "italian": "ìòù",
    "romanian": "ăâîșțşţ",
    "polish": "ąęłńśźżć",
    "czech": "ěřůčšžý",
    "turkish": "ğışç",
    "finnish": "äö",
    "hungarian": "őűáé",
}
_SCRIPTS: Final = (
    (0x370, 0x3FF, "greek"),
    (0x400, 0x52F, "russian"),
    (0x530, 0x58F, "armenian"),
    (0x600, 0x6FF, "arabic"),
    (0x900, 0x97F, "hindi"),
    (0xB80, 0xBFF, "tamil"),
    (0x1F00, 0x1FFF, "greek"),
)
_PERSIAN_LETTERS: Final = frozenset("پچژگکی")
_LEAST_WORDS, _SHORT, _LONGEST_READ = 2, 8, 400


class _Markers(NamedTuple):
    """Markers of a language: its function words, and words that tell it from English, verbs among them."""

    words: frozenset[str]
    strong: frozenset[str]


_MARKERS: Final = {
    language: _Markers(
        words := frozenset(listed.split()), (words | {*_VERBS.get(language, "").split()}) - _WEAK - _ENGLISH
    )
    for language, listed in _FUNCTION_WORDS.items()
}
_LATIN: Final = {language: _MARKERS[language] for language in _LETTERS} | {
    language: _MARKERS[language] for language in ("dutch", "indonesian")
}
# English words that are no other's, and other words that English talk has by itself.
_ENGLISH_ALONE: Final = _ENGLISH.difference(*(markers.words for markers in _LATIN.values()))
_ANYWHERE: Final = frozenset(
    "no man die war hat will son van come per via plus or am non end com place data comment care".split()
)
_ANY_STRONG: Final = frozenset(word for markers in _LATIN.values() for word in markers.strong)
_ANY_WEAK: Final = frozenset(word for markers in _LATIN.values() for word in markers.words) - _ENGLISH - _ANYWHERE


def detect_language(words: Sequence[str]) -> str:
    """The language of folded words in Latin script: the one that most of their function words and letters belong to.

    English where no other has more of them than English has; what is in another script is no matter of the text's
    language, as its words tell by themselves (`language_of_script`). A word alone is English, too: it tells nothing.
    """
    if len(words) < _LEAST_WORDS or (_ANY_STRONG.isdisjoint(words) and not _ENGLISH_ALONE.isdisjoint(words)):
        return ENGLISH
    distinct = frozenset(words[:_LONGEST_READ])
    if _ANY_STRONG.isdisjoint(distinct):
        return _detect_by_weak(distinct)
    letters = frozenset("".join(distinct))
    best, most = ENGLISH, 0.0
    for language, markers in _LATIN.items():
        if not markers.strong.isdisjoint(distinct):
            score = len((markers.words | markers.strong) & distinct) + _letter_score(language, letters)
            if score > most:
                best, most = language, score
    english = len(_ENGLISH & distinct - _MARKERS[best].words) if best != ENGLISH else 0
    is_short = len(distinct) <= _SHORT and english == 0
    return best if most > max(english, 0 if is_short else 1) else ENGLISH


def has_english(words: Iterable[str]) -> bool:
    """True if a folded word is one of English alone."""
    return not _ENGLISH_ALONE.isdisjoint(words)


def _detect_by_weak(distinct: frozenset[str]) -> str:
    """The language of words without a strong marker and without English: two others of its function words, or more."""
    counted = distinct & _ANY_WEAK
    if len(counted) < _LEAST_WORDS:
        return ENGLISH
    letters = frozenset("".join(distinct))
    scores = {language: len(markers.words & counted) for language, markers in _LATIN.items()}
    best = max(scores, key=lambda language: scores[language] + _letter_score(language, letters))
    return best if scores[best] >= _LEAST_WORDS else ENGLISH


def _letter_score(language: str, letters: frozenset[str]) -> float:
    return len(letters.intersection(_LETTERS.get(language, ""))) / 2


def language_of_script(word: str) -> str:
    """The language whose stemmer takes a word in a script of its own; English for Latin and all others."""
    code = ord(word[0])
    if code < _SCRIPTS[0][0]:
        return ENGLISH
    for first, last, language in _SCRIPTS:
        if first <= code <= last:
            return "persian" if language == "arabic" and not _PERSIAN_LETTERS.isdisjoint(word) else language
    return ENGLISH


def stop_words(language: str) -> frozenset[str]:
    """The function words of a language but English."""
    markers = _MARKERS.get(language)
    return frozenset() if markers is None else markers.words


def list_names(named: Mapping[str, str]) -> list[str]:
    """List the names of all languages, each once."""
    return [*dict.fromkeys(name for names in named.values() for forms in names.split() for name in forms.split("/"))]


@cache
def stemmer(language: str) -> Stemmer.Stemmer:
    """The Snowball stemmer of a language, made once."""
    import Stemmer  # by the first memory, not by `import engrain`

    return Stemmer.Stemmer(language, maxCacheSize=0)
