# ruff: noqa: RUF001  # words of many alphabets are what the patterns are about
"""Instructions in texts of many languages: what somebody wants done from now on, and orders to the reading model. Pure.

The languages are the ten most spoken ones, and some more; forms and names of the machinery need no language.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# As folding has them.
_LETTERS = str.maketrans("\u06cc\u06a9\u0649", "\u064a\u0643\u064a")


def _compile(pattern: str) -> re.Pattern[str]:
    """A pattern for folded texts."""
    return re.compile(unicodedata.normalize("NFKC", pattern).translate(_LETTERS))


# Words of somebody who wants something done in a certain way from now on, as whole words of a folded text.
_STANDING: Mapping[str, str] = {
    "english": (
        r"always|never|please|don't|do not|from now on|make sure|remember to|must|should|shouldn't|have to|want you to|"
        r"need you to|i'd like you to|stop|avoid|prefer|instead of|only use|rather than|when(?:ever)? (?:i|you|we)"
    ),
    "spanish": (
        r"siempre|nunca|jamás|por favor|a partir de ahora|de ahora en adelante|asegúrate|recuerda|debes|"
        r"tienes que|quiero que|necesito que|evita|prefiero|en lugar de|en vez de|usa solo|deja de|cada vez que"
    ),
    "portuguese": (
        r"sempre|nunca|jamais|por favor|a partir de agora|de agora em diante|certifica-te|certifique-se|lembra-te|"
        r"lembre-se|deves|deve|tens de|tem de|tem que|quero que|preciso que|evita|evite|prefiro|em vez de|usa só|"
        r"para de|sempre que"
    ),
    "french": (
        r"toujours|jamais|s'il (?:te|vous) plaît|désormais|dorénavant|à partir de maintenant|assure-toi|assurez-vous|"
        r"n'oublie pas|n'oubliez pas|tu dois|vous devez|il faut|je veux que|j'aimerais que|évite|évitez|je préfère|"
        r"au lieu de|plutôt que|arrête de|arrêtez de|chaque fois que"
    ),
    "german": (
        r"immer|nie|niemals|bitte|ab jetzt|ab sofort|von nun an|in zukunft|künftig|achte darauf|achten sie darauf|"
        r"denk daran|denken sie daran|du (?:musst|sollst)|sie (?:müssen|sollen)|ich will, dass|ich möchte, dass|"
        r"vermeide|vermeiden sie|lieber|statt|anstatt|hör auf|jedes mal"
    ),
    "italian": (
        r"sempre|per favore|d'ora in poi|da adesso|assicurati|si assicuri|ricordati|ricorda di|devi|deve|voglio che|"
        r"vorrei che|evita|preferisco|invece di|al posto di|smetti di|ogni volta che"
    ),
    "indonesian": (
        r"selalu|jangan|tolong|mohon|mulai sekarang|pastikan|ingat untuk|harus|hindari|lebih suka|daripada|setiap kali"
    ),
    "turkish": (
        r"her zaman|asla|lütfen|bundan sonra|bundan böyle|emin ol|unutma|gerekir|"
        r"zorundasın|kaçın|yerine|her seferinde"
    ),
    "russian": (
        r"всегда|никогда|пожалуйста|отныне|впредь|с этого момента|теперь всегда|убедись|убедитесь|не забудь|не забывай|"
        r"не забывайте|должен|должна|должны|нужно|надо|хочу, чтобы|избегай|избегайте|предпочитаю|вместо|перестань|"
        r"перестаньте|каждый раз"
    ),
}
# The same in scripts that write words together, or with endings of their own.
_STANDING_ANYWHERE: Mapping[str, str] = {
    "chinese": (
        r"总是|永远|从不|绝不|请你?|不要|别再|从现在起|从今以后|以后都|务必|一定要|必须|应该|记得要|避免|宁可|而不是|每次|總是|請|別再|從現在起|"
        r"務必|必須|應該"
    ),
    "japanese": (
        r"いつも|必ず|絶対に|決して|今後|これから|ください|しないで|ようにして|べき|避けて|代わりに|毎回|"
        r"なければなりません"
    ),
    "korean": r"항상|절대|제발|앞으로|지금부터|반드시|하지 ?마|해 ?주세요|해야|피해|대신|매번",
    "hindi": (
        r"हमेशा|कभी नहीं|कभी मत|कृपया|अब से|आगे से|ध्यान रख|याद रख|ज़रूर|जरूर|चाहिए|मत कर|"
        r"मत भेज|बचें|के बजाय|हर बार"
    ),
    "urdu": (
        r"ہمیشہ|کبھی نہیں|کبھی مت|براہ کرم|اب سے|آئندہ|یقینی بنا|یاد رکھ|ضرور|چاہیے|مت کر|"
        r"کے بجائے|ہر بار"
    ),
    "arabic": (
        r"دائما|أبدا|ابدا|من فضلك|رجاء|من الآن فصاعدا|من الان|تأكد|تذكر أن|يجب|لا ت\w+|"
        r"عليك أن|أريدك أن|تجنب|أفضل|بدلا من|كلما|في كل مرة"
    ),
    "bengali": (
        r"সবসময়|সবসময়|কখনও না|কখনো না|কখনও|কখনো|দয়া করে|দয়া করে|এখন থেকে|নিশ্চিত কর|"
        r"মনে রেখ|অবশ্যই|উচিত|করবেন না|করো না|পরিবর্তে|প্রতিবার"
    ),
    "persian": (r"همیشه|هرگز|لطفا|از این به بعد|از حالا|مطمئن شو|یادت باشد|باید|نکن|به جای|هر بار"),
}
# Orders to forget what the reader was told: a verb, and near it the instructions; in either order.
_DROP = (
    r"\b(?:ignore|disregard|forget|override|bypass|ignora|ignoren?|olvida|omite|esquece|desconsidera|ignorez|oublie[sz]?|"
    r"ignoriere|ignorieren|vergiss|vergessen|missachte|dimentica|trascura|abaikan|lupakan|unut|yok say|"
    r"игнорируй\w*|проигнорируй\w*|забудь\w*|تجاهل\w*|انس|تغاض\w*)\b|"
    r"忽略|无视|無視|忘记|忘記|忘れ|무시|잊어|अनदेखा|नज़रअंदाज़|भूल जा|نظر ?انداز|بھول جا|উপেক্ষা|ভুলে যা|نادیده|فراموش"
)
_ORDERS = (
    r"\b(?:(?:all|any|your|previous|prior|earlier|above|system) (?:\w+ ){0,2}?(?:instructions?|prompts?|directives?)|"
    r"instrucciones|instrucción|instruções|consignes?|instructions pr[ée]c[ée]dentes|anweisung\w*|istruzion[ei]|"
    r"instruksi|perintah|talimat\w*|указани\w*|инструкци\w*|\w*تعليمات|\w*الأوامر)\b|"
    r"指示|指令|提示词|プロンプト|지시|지침|निर्देश|आदेश|ہدایات|احکامات|নির্দেশ|دستورالعمل"
)
_REACH = r"[^.!?\u3002\uff01\uff1f\u0964\n]{0,40}"
_OVERRIDES = _compile(rf"(?:{_DROP}){_REACH}?(?:{_ORDERS})|(?:{_ORDERS}){_REACH}?(?:{_DROP})")
# What needs no language: the marks of chat templates, a reader's role before what it is to say, and the memory's own
# names for what it keeps.
_FORMS = _compile(
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
    r"|(?:^|[\n\]>])\s*(?:system|sistema|système|system-?nachricht|система|系统|系統|システム|시스템|النظام|सिस्टम)"
    r"(?: (?:notice|message|prompt|override))?\s?[:：]"
    r"|\b(?:new|updated)_(?:facts|rules)\b"
    r"|\bpermanence\s?[:=]\s?permanent\b|\btrust\s?[:=]\s?user\b"
)


def is_standing_instruction(folded: str) -> bool:
    """True if a folded text says how something is to be done from now on, in one of the languages that are known."""
    return _STANDING_INSTRUCTION.search(folded) is not None


def is_order_to_reader(folded: str) -> bool:
    """True if a folded text speaks to the model that reads it: drop your instructions, or in the forms of a prompt."""
    return _OVERRIDES.search(folded) is not None or _FORMS.search(folded) is not None


_STANDING_INSTRUCTION = _compile(
    rf"(?<!\w)(?:{'|'.join(_STANDING.values())})(?!\w)|{'|'.join(_STANDING_ANYWHERE.values())}"
)
