"""Portuguese names of each topic, and phrases of those who tell of it. Pure."""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:(?:qual|quais) (?:e|sao) |quais |que |(?:tenho|temos) |o que sabes? (?:de|sobre) )?"
    r"(?:(?:(?:o|a|os|as) )?(?:meus?|minhas?|nossos?|nossas?) |(?:os?|as?|uma?|algum(?:a|as)?|alguns|todos os) )?"
    r"(?:proxim[oa]s? )?"
)
AFTER: Final = (
    r"(?: (?:atual|atuais|conhecid[oa]s?|previst[oa]s?|pessoal|pessoais))?(?: (?:tenho|temos))?"
    r"(?: (?:do usuario|da usuaria|do utilizador|da utilizadora|d[eoa]))?"
)
INTRODUCTIONS: Final = {
    "name": "nome, nome completo, sobrenome, apelido",
    "age": "idade",
    "work": "trabalho, profissão, emprego, ocupação, cargo",
    "employer": "empresa, local de trabalho",
}
PARTS: Final = {
    "<meu>": r"\b(?:meus?|minhas?|nossos?|nossas?) (?:\w+ )?",
    "<par>": "(?:marido|mulher|espos[oa]|companheir[oa]|namorad[oa]|noiv[oa])",
    "<pais>": "(?:pais|mãe|pai|mamã|papá|mamãe|papai)",
    "<irmaos>": "(?:irmão|irmã|irmãos|irmãs|gême[oa]s?)",
    "<filhos>": "(?:filh[oa]s?|bebé|bebê|crianças?)",
    "<parentes>": "(?:avó|avô|avós|ti[oa]s?|prim[oa]s?|sobrinh[oa]s?|sogr[oa]s?|cunhad[oa]s?|net[oa]s?|família)",
    "<dia>": "(?:segunda|terça|quarta|quinta|sexta)s?(?:-feiras?)?|sábados?|domingos?",
}
TOPICS: Final = {
    "diet": (
        """
        dieta, alimentação, comida, restrições alimentares, preferências alimentares, hábitos alimentares, alergia,
        alergias, alergias alimentares, intolerância, intolerâncias, o que não posso comer
        """,
        r"""
        al[eé]rgi|intoler|cel[ií]ac|vegan|vegetarian|glúten|lactose|\bhalal\b|\bkosher\b|\bdieta\b
        \bnão (?:(?:posso|pode) (?:comer|beber)|como|come|bebo|bebe|suporto)\b
        """,
    ),
    "pets": (
        "animal de estimação, animais de estimação, animal, animais, bichos",
        r"""
        \b(?:cachorr|gat|gatinh|coelh|papagai)[oa]s?\b|\b(?:cão|cães|cadela|hamster|tartaruga|periquito|cavalo)s?\b
        \b(?:galinhas?|peixes?|aquário)\b
        """,
    ),
    "family": (
        "família, familiares, membros da família, situação familiar, parentes",
        r"<meu>(?:<par>|<pais>|<irmaos>|<filhos>|<parentes>)(?!\w)|\b(?:casad|divorciad)[oa]\b|\bviúv[oa]\b",
    ),
    "children": (
        "filho, filhos, filha, filhas, crianças, bebé, bebê",
        r"(?:<meu>|\b(?:tenho|temos) (?:uma?|dois|duas|três|quatro|\d) )<filhos>(?!\w)|\bgrávida\b",
    ),
    "dogs": ("cão, cães, cachorro, cachorros, cadela", r"\b(?:cachorr[oa]s?|cão|cães|cadelas?)\b"),
    "cats": ("gato, gatos, gata", r"\bgat(?:inh)?[oa]s?\b"),
    "partner": (
        "marido, mulher, esposo, esposa, companheiro, companheira, namorado, namorada, estado civil",
        r"<meu>(?:<par>|ex)\b|\b(?:casad|divorciad|solteir|separad)[oa]\b|\bviúv[oa]\b",
    ),
    "parents": ("pais, mãe, pai", r"<meu><pais>(?!\w)"),
    "siblings": ("irmãos, irmão, irmã, irmãs", r"<meu><irmaos>(?!\w)"),
    "friends": (
        "amigo, amigos, amiga, amigas, melhor amigo, melhor amiga",
        r"<meu>amig[oa]s?\b|\bamig[oa] (?:meu|minha)\b",
    ),
    "location": (
        "localização, cidade, país, residência, morada, endereço",
        r"\b(?:moro|moramos|vivo|vivemos|mudei|mudamos|resido)\b|<meu>(?:casa|apartamento|morada|endereço)\b",
    ),
    "hobbies": (
        "hobby, hobbies, passatempo, passatempos, interesses, desporto, esporte, esportes, tempo livre, lazer",
        r"""
        \b(?:toco|canto|danço|pinto|desenho|coleciono|corro|nado|escalo|jogo|cozinho|leio|faço|pratico|pedalo)\b
        \b(?:gosto de|adoro|amo)\b|\bhobby|passatempo|\b(?:coro|coral|clube|aulas?|equipa|equipe|treino)\b
        """,
    ),
    "travel": (
        "viagem, viagens, planos de viagem, férias, planos de férias, destinos",
        r"""
        \b(?:ir|vamos|vou|viaj\w+|voamos|fomos|estivemos|iremos) (?:a|ao|à|para|para o|para a|em|no|na) (?-i:[A-Z])
        \bférias|\bviag(?:em|ens)\b|\bviajar|\bhotel|reserv|\bvoo\b|cruzeiro|camping|\bvisto\b
        """,
    ),
    "health": (
        "saúde, estado de saúde, problemas de saúde, doença, doenças, medicação, medicamentos, remédios, lesão, lesões",
        r"""
        al[eé]rgi|asma|diabet|enxaqueca|\bdor(?:es)?\b|\bdói\b|lesão|operaç|operad|médic|\bDra?\b|insulina|terapia
        remédio|comprimido|\d ?mg\b|diagn|pressão|grávida|depress|cancro|câncer|hospital\b|febre|doente|hérnia|cel[ií]ac
        """,
    ),
    "fears": ("medo, medos, fobia, fobias, preocupações", r"\bmedos?\b|fobia|pânico|receio|preocup"),
    "goals": (
        "meta, metas, objetivo, objetivos, sonhos, resoluções",
        r"\b(?:quero|queria|espero|pretendo|gostaria de|estou a poupar|treino para)\b|\bmeta\b|objetivo|\bsonho\b",
    ),
    "preferences": (
        "preferência, preferências, gostos, favoritos",
        r"\b(?:prefiro|odeio|detesto|adoro|gosto|por favor)\b|favorit|preferid",
    ),
    "schedule": (
        "horário, horários, horário de trabalho, agenda, rotina, disponibilidade, compromissos",
        r"\b(?:<dia>)\b|\btodos os dias|\bcada (?:dia|semana)|\bturno|\bàs \d|meio período|\bconsulta\b",
    ),
    "vehicle": (
        "carro, carros, veículo, veículos",
        r"\b(?:carro|carrinha|moto|bicicleta|bici|trotinete)s?\b|\bconduzo\b",
    ),
    "education": (
        "educação, estudos, formação, curso, universidade, diploma",
        r"\bestud|universi|faculdade|\bcurso\b|mestrado|doutorado|licenciatura|\bexame|\btese\b",
    ),
    "projects": (
        "projeto, projetos, tarefa, tarefas",
        r"projeto|\ba? ?trabalh(?:ar|ando) n|\b(?:escrevendo|desenvolvendo|construindo|programando)\b",
    ),
    "finances": (
        "finanças, rendimentos, renda, salário, orçamento, situação financeira",
        r"orçamento|poup|salário|rendimento|\brenda\b|hipoteca|aluguel|dívida|empréstimo|€|R\$|\b(?:euros|reais)\b",
    ),
    "languages": (
        "idioma, idiomas, língua, línguas",
        r"""
        \b(?:português|inglês|francês|alemão|italiano|espanhol|russo|árabe|chinês|japonês|bilíngue|língua materna)\b
        """,
    ),
    "profile": (
        "perfil, dados, informações, informações sobre mim, dados sobre mim",
        r"\b(?:me chamo|chamo-me|moro|vivo|trabalho)\b|<meu>(?:nome|aniversário|<par>|<filhos>)\b|\btenho \d\d anos",
    ),
}
