# ruff: noqa: RUF001  # characters that look like others belong to other alphabets
"""Small talk, which asks nothing of a memory, and texts in the first person, which a memory alone can answer. Pure.

Words of other languages than English are the most frequent ones; a phrase that is not known here asks for something.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from engrain.domain.text.analysis import STOP_WORDS, words
from engrain.domain.text.patterns import lazy_pattern

_MOST_CHARACTERS = 80

# Whoever is greeted or thanked may be named after them: "good morning, house", "thanks coach".
_ADDRESSED = """
    hello; hi; hey; hiya; howdy; yo; greetings; good morning; good afternoon; good evening; good night; good day;
    morning; evening; night; welcome back; hallo; guten tag; guten morgen; guten abend; gute nacht; moin; servus;
    hola; buenos dias; buenas noches; salut; bonjour; bonsoir; ciao; buongiorno; ola; bom dia; hej; thanks; thank you;
    thx; ty; cheers; many thanks; danke; vielen dank; merci; gracias; grazie; obrigado; obrigada; tack; bedankt; danke
    schon; danke sehr; danke dir; muchas gracias; merci beaucoup; grazie mille; muito obrigado; muito obrigada; buenas
    tardes; boa tarde; boa noite; buonasera; buona notte; bonne nuit; bis morgen; bis bald; bis spater; hasta manana;
    hasta luego; a demain; a bientot; a domani; ate amanha; bye; goodbye; bye bye; farewell; see you; see ya; cya;
    tschuss; adios; au revoir; take care; hi there; gm; gn; ttyl; see you tomorrow; goedemorgen; hoi; buona giornata;
    bonne journee; bonne soiree; dank je wel; tack sa mycket; arrivederci; tchau; доброе утро; добрый день; добрый
    вечер; привет; здравствуйте; спасибо; большое спасибо; пока; 你好; 您好; 谢谢; 多谢; 再见; 早上好; 晚安;
    こんにちは; こんばんは; おはよう; おはようございます; ありがとう; ありがとうございます; おやすみ; 안녕하세요;
    안녕; 감사합니다; 고마워요; dziękuję; dziękuję bardzo; dzięki; dzień dobry; dobry wieczór; dobranoc; cześć; do
    widzenia; do jutra; na razie; děkuji; díky; ahoj; dobrý den; na shledanou; dobrou noc; mulțumesc; bună; bună ziua;
    la revedere; köszönöm; szia; jó napot; viszlát; kiitos; moi; moikka; hei; takk; tusen takk; tak; mange tak; hej
    då; dank je; doei; tot ziens; oi; até logo; valeu; boa; a dopo; a presto; teşekkürler; teşekkür ederim; çok
    teşekkürler; sağ ol; merhaba; selam; günaydın; iyi günler; iyi akşamlar; iyi geceler; görüşürüz; terima kasih;
    makasih; halo; selamat pagi; selamat malam; sampai jumpa; cảm ơn; cám ơn; xin chào; chào; tạm biệt; chúc ngủ ngon;
    до свидания; спокойной ночи; здравствуй; дякую; привіт; добрий день; ευχαριστώ; ευχαριστώ πολύ; γεια; γεια σου;
    γεια σας; καλημέρα; καλησπέρα; καληνύχτα; شكرا; شكرا جزيلا; شكرا لك; مرحبا; أهلا; أهلا وسهلا; السلام عليكم; صباح
    الخير; مساء الخير; تصبح على خير; مع السلامة; ممنون; سلام; מה שלומך; תודה; תודה רבה; שלום; היי; בוקר טוב; ערב טוב;
    לילה טוב; להתראות; ביי; धन्यवाद; बहुत धन्यवाद; शुक्रिया; नमस्ते; नमस्कार; शुभ रात्रि; ขอบคุณ; ขอบคุณมาก; สวัสดี;
    ราตรีสวัสดิ์; 谢谢你; 谢谢您; 感谢; 拜拜; 早安; 早; 晚上好; 下午好; 謝謝; 謝謝你; 再見; どうも; どうもありがとう;
    どうもありがとうございます; ありがとうございました; さようなら; またね; おやすみなさい; お疲れ様です; 고맙습니다;
    안녕히 가세요; 안녕히 계세요; 잘 자요; 좋은 아침; ta
"""
_NODS = """
    ok; okay; k; kk; yes; yeah; yep; yup; y; no; nope; n; sure; fine; right; alright; all right; all good; good;
    great; nice; cool; perfect; awesome; excellent; amazing; wonderful; lovely; super; brilliant; fantastic; neat;
    sweet; lol; haha; hahaha; hehe; hm; hmm; wow; oh; ah; aha; well; got it; understood; noted; done; agreed; exactly;
    indeed; of course; absolutely; definitely; certainly; correct; sounds good; sounds great; sounds fine; makes
    sense; works for me; no problem; no worries; never mind; nevermind; you are welcome; you re welcome; youre
    welcome; please; i see; lgtm; ship it; go on; go ahead; go for it; continue; proceed; carry on; keep going; do it;
    do that; 1; that is it; that s it; thats it; that is all; that s all; thats all; well done; good job; good work;
    good one; how are you; how are you doing; how is it going; how s it going; hows it going; what s up; whats up; are
    you there; nice to meet you; have a good day; have a nice day; have a great day; have a good evening; have a nice
    evening; have a good one; have a good weekend; have a nice weekend; talk to you later; talk to you soon; talk
    later; that sounds; sounds; that s; thats; that is; fun; interesting; good to know; good to hear; nice to hear;
    great to hear; glad to hear it; glad to hear that; i am glad; i m glad; that works; that helps; enjoy; have fun;
    good luck; congratulations; congrats; enjoy your meal; poor thing; ja; nein; doch; genau; gut; alles klar; alles
    gut; klar; gern; gerne; schon; wie schon; wie schade; schade; toll; super; prima; sehr gern; sehr schon; sehr gut;
    bitte; bitte schon; notiert; verstanden; stimmt; in ordnung; das merke ich mir; ich merke es mir; merke ich mir;
    gute besserung; viel gluck; viel spass; herzlichen gluckwunsch; gute idee; das klingt gut; mach ich; si; claro;
    vale; de acuerdo; muy bien; que bien; que pena; de nada; entendido; anotado; lo apunto; perfecto; por favor; buena
    suerte; felicidades; oui; non; d accord; bien sur; tres bien; parfait; c est note; merveilleux; de rien; dommage;
    quel dommage; bonne chance; felicitations; s il vous plait; s il te plait; certo; va bene; perfetto; molto bene;
    capito; prego; per favore; peccato; che bello; auguri; sim; nao; esta bem; muito bem; perfeito; entendi; por
    favor; que pena; parabens; ja zeker; prima; begrepen; np; yw; tbh; gotcha; fair enough; my pleasure; no prob;
    anytime; will do; sure thing; mhm; same here; you too; not bad; brb; not now; maybe later; later; one sec; wait;
    sorry; my bad; oops; whatever; ha; nice one; test; testing; are you here; you there; is anyone there; how is your
    day; how s your day; how are things; what s new; good to see you; i m fine; i m good; i am fine; i am good; great
    news; happy monday; happy friday; have a nice trip; have a good trip; na; wie geht s; wie geht es dir; wie geht es
    ihnen; mir geht s gut; mir geht es gut; passt; passt schon; kein problem; gern geschehen; schonen tag; schonen tag
    noch; schonen abend; schonen abend noch; schones wochenende; gleichfalls; que tal; como estas; como esta; todo
    bien; igualmente; que tengas un buen dia; buen dia; ca va; ca va bien; comment ca va; toi aussi; vous aussi; come
    stai; come sta; tutto bene; anche a te; tudo bem; bom fim de semana; voce tambem; hur mar du; как дела; хорошо;
    ладно; понятно; да; нет; ок; окей; отлично; пожалуйста; не за что; 好的; 好; 嗯; 了解; はい; いいえ; わかりました;
    分かりました; 了解です; 了解しました; うん; なるほど; 大丈夫です; すみません; よろしくお願いします; お願いします;
    知道了; 明白了; 明白; 是的; 没事; 没问题; 不客气; 可以; 哈哈; 네; 예; 아니요; 응; 알겠습니다; 알겠어요; 좋아요;
    괜찮아요; tak; nie; dobrze; jasne; w porządku; ano; ne; dobře; da; bine; igen; nem; rendben; joo; tamam; evet;
    hayır; peki; anladım; vâng; dạ; được; rồi; εντάξει; ναι; όχι; ωραία; τέλεια; παρακαλώ; نعم; لا; حسنا; تمام; طيب;
    عفوا; כן; לא; אוקיי; אוקי; בסדר; מעולה; סבבה; ठीक है; हाँ; हां; नहीं; अच्छा; โอเค; ใช่; ได้; ตกลง; gotta run;
    gotta go; got to go; got to run; have to go; i have to go; i need to go; i must go; gtg; g2g; talk soon; catch you
    later; what a day; what a week; what a morning; what an evening; what a night; phew; ugh; argh; yay; hooray; omg;
    oof; yikes; yum; yummy; ouch; lmao; rofl; so tired; so funny; too funny; very funny; you are funny; you re funny;
    that was fun; that was great; that is funny; that s funny; can t wait; cant wait; me too; me neither; oh dear;
    that helped; i can t believe it; i cant believe it; dear me; oh no; oh my; oh my god; my god; goodness;
    my goodness; goodness me; gosh; oh boy; good grief; bless you;
    bless him; bless her; fingers crossed; take it easy; speak soon; at last; no way; same; ditto; oh je; ach je; ach
    du meine gute; ay; madre mia; mon dieu; oh la la; mamma mia
"""
# A short text that begins or ends with one is said for its own sake: "haha they are going to hate me".
_INTERJECTIONS = frozenset(
    "haha hahaha hahahaha hehe lol lmao rofl phew whew ugh argh omg wow yay hooray oof yikes meh sigh xd".split()
)
_PRAISE = frozenset(
    "great nice good cool awesome amazing wonderful lovely brilliant fantastic excellent perfect super congratulations "
    "congrats thanks toll prima wunderbar genial bravo magnifique fantastico bellissimo".split()
)
_MOST_EXCLAIMED_WORDS, _MOST_PRAISING_WORDS = 8, 5
_ASKING = frozenset(
    "what whats which who whos whose whom when whens where wheres why how is are was were do does did can could will "
    "would should have has tell show find remember remind forget list add set put call".split()
)
_EXCLAIMING = (["what", "a"], ["what", "an"])
# Wishes, thanks, weather and farewells of more wordings than a list holds, in folded words: each stands for "bye".
_WISHES = lazy_pattern(
    r"""\b(?:
    (?:have|enjoy)\ (?:an?|the|your|some)\ (?:\w+\ ){0,2}?(?:day|morning|afternoon|evening|night|weekend|week|one|time
    |trip|flight|journey|holiday|lunch|dinner|break|rest|walk)(?:\ (?:off|ahead|out))?
    |sleep\ (?:well|tight)|sweet\ dreams|safe\ (?:travels|trip|journey)
    |see\ (?:you|ya)\ (?:(?:all|both|two|guys|folks)\ )?
    (?:later|soon|then|around|tomorrow|tonight|next\ week|on\ \w+day)
    |you\ (?:ve\ been|have\ been|are|re|were)\ (?:an?\ |so\ |very\ |really\ |such\ ){0,2}
    (?:great\ |big\ |huge\ |real\ )?(?:help|helpful|kind|star|lifesaver|angel|gem|legend)
    |(?:(?:i\ (?:m|am|have\ to|should)|im|time\ to)\ )?(?:off|go|going|heading)\ (?:to\ )?(?:bed|sleep|work|home)
    |night\ night|nighty\ night
    |(?:it\ s|it\ is|its)\ (?:(?:so|still|very|really|getting|already|quite|pretty)\ )*
    (?:late|early|dark\ out(?:side)?|(?:raining|snowing|pouring|windy|sunny|foggy)(?:\ (?:out|outside|here))?)
    |(?:nothing|not\ much)\ (?:new|special)(?:\ (?:here|today))?|just\ (?:saying|wanted\ to\ say)\ (?:hi|hello|thanks)
    )\b""",
    re.VERBOSE,
)
# They add nothing where one of the phrases above stands before them.
_ADDITIONS = """
    so much; very much; a lot; a bunch; a million; again; there; then; now; today; tonight; tomorrow; later; soon;
    too; all; all of you; you all; you two; you both; you guys;
    everyone; everybody; for now; for today; for that; for your help; for the help; for everything; and;
    but; very; really; indeed; so; it; this; that; with you; dir; ihnen; euch; bis morgen; bis spater; bis dann; bis
    bald; und; y; et; e; hasta manana; hasta luego; a demain; a bientot; a domani; ate amanha; sehr; mucho;
    beaucoup; viel; bardzo; bạn; nhiều; rất; لك; ครับ; ค่ะ; คะ; นะ; มาก; 了; 啊; 吧; 呀; 哦; 你; ね; です; ございます
"""


# Thai, Japanese and Chinese; marks of other scripts are no letters to Python.
_UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
_WORD = lazy_pattern(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[\w\u0900-\u0dff])+")


def _plain(text: str) -> str:
    """A text without case and accents."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    return "".join([char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char)])


def _fold(text: str) -> tuple[str, ...]:
    """Words in order, all of them, without case and accents; of a script without spaces each character."""
    return tuple(_WORD.findall(_plain(text)))


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    listed = map(str.strip, _plain(text).split(";"))
    return frozenset(tuple(phrase) if _is_unspaced(phrase[0]) else tuple(phrase.split()) for phrase in listed)


def _is_unspaced(char: str) -> bool:
    return "\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\u9fff"


_OPENINGS, _FREE, _ADDED = _phrases(_ADDRESSED), _phrases(_NODS), _phrases(_ADDITIONS)
_FIRST, _ALL = _OPENINGS | _FREE, _OPENINGS | _FREE | _ADDED
_LONGEST = max(map(len, _ALL))
# Without "me" alone: "tell me a joke" is about nobody, "what do you know about me" is.
_FIRST_PERSON = frozenset("i my mine myself we us our ours ourselves".split())
_ABOUT_ME = lazy_pattern(r"\b(?:about|describe|know|remember|call) (?:me|us)\b", re.IGNORECASE)
_ABOUT_ALL = lazy_pattern(
    r"\bwhat (?:all )?(?:do|can|did|have) you (?:still )?(?:know|remember|recall|learned|noted|stored)"
    r"(?: so far| by now| already)?\W*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1_024)
def is_small_talk(text: str) -> bool:
    """True for a text that asks nothing of a memory: of such phrases alone, or without any word."""
    if len(text) > _MOST_CHARACTERS:
        return False
    if not words(text):
        return bool(text.strip())
    said = tuple(_WISHES.sub("bye", " ".join(_fold(text))).split())
    return _reads_as_small_talk(said, is_asked=text.rstrip().endswith(("?", "\uff1f")))


@lru_cache(maxsize=1_024)
def is_exclamation(text: str) -> bool:
    """True for small talk, and for a few words beside an interjection: who says them asks nothing of a memory.

    So does who praises: "great demo everyone!"
    """
    if is_small_talk(text):
        return True
    said = _fold(text)
    if text.rstrip().endswith("!") and len(said) <= _MOST_PRAISING_WORDS and said[0] in _PRAISE:
        return not any(mark in text for mark in "?\uff1f0123456789")
    beside = [word for word in said if word not in _INTERJECTIONS]
    return (
        len(said) <= _MOST_EXCLAIMED_WORDS
        and not _INTERJECTIONS.isdisjoint((*said[:1], *said[-1:]))
        and not STOP_WORDS.isdisjoint(beside)
        and (_ASKING.isdisjoint(beside[:1]) or beside[:2] in _EXCLAIMING)
        and not any(mark in text for mark in "?\uff1f0123456789")
    )


def is_about_speaker(text: str) -> bool:
    """True for a text about its speaker ("what is my address?") or about all there is ("what do you remember?")."""
    is_first_person = not _FIRST_PERSON.isdisjoint(words(text)) or _ABOUT_ME.search(text) or _ABOUT_ALL.search(text)
    return bool(is_first_person) and not is_exclamation(text)


def _reads_as_small_talk(rest: tuple[str, ...], *, is_asked: bool) -> bool:
    """True if words are phrases one behind another, the longest first.

    Behind one that greets or thanks may stand a name, at the end or before another such phrase.
    """
    known, may_name = _FIRST, False
    while rest:
        length = min(_LONGEST, len(rest))
        while length and rest[:length] not in known:
            length -= 1
        if length == 0:
            if not may_name or is_asked:
                return False
            may_name, known, rest = False, _OPENINGS, rest[1:]
            continue
        may_name = rest[:length] in _OPENINGS or (may_name and rest[:length] in _ADDED)
        known, rest = _ALL, rest[length:]
    return True
