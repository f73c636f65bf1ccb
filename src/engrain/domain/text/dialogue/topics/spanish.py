"""Spanish names of each topic, and phrases of those who tell of it. Pure."""

from __future__ import annotations

from typing import Final

BEFORE: Final = (
    r"(?:(?:cual(?:es)?|que) (?:es|son) |que |(?:tengo|tenemos) |que sabes (?:de|sobre) )?"
    r"(?:(?:mis?|nuestr[oa]s?|el|la|los|las|una?|algun[oa]?s?|tod[oa]s (?:mis|los|las)) )?(?:proxim[oa]s? )?"
)
AFTER: Final = (
    r"(?: (?:actual(?:es)?|conocid[oa]s?|previst[oa]s?|personal(?:es)?))?(?: (?:tengo|tenemos))?"
    r"(?: (?:del usuario|de la usuaria|de))?"
)
INTRODUCTIONS: Final = {
    "name": "nombre, nombre completo, apellido, apellidos, apodo",
    "age": "edad",
    "work": "trabajo, profesión, oficio, empleo, ocupación, puesto",
    "employer": "empresa, lugar de trabajo",
}
PARTS: Final = {
    "<mi>": r"\b(?:mis?|nuestr[oa]s?) (?:\w+ )?",
    "<pareja>": "(?:marido|mujer|espos[oa]|pareja|novi[oa]|prometid[oa])",
    "<padres>": "(?:padres?|madre|mamá|papá)",
    "<hermanos>": "(?:herman[oa]s?|gemel[oa]s?)",
    "<hijos>": "(?:hij[oa]s?|niñ[oa]s?|bebé|mellizos)",
    "<parientes>": "(?:abuel[oa]s?|tí[oa]s?|prim[oa]s?|sobrin[oa]s?|suegr[oa]s?|cuñad[oa]s?|niet[oa]s?|familia)",
    "<dia>": "lunes|martes|miércoles|jueves|viernes|sábados?|domingos?",
}
TOPICS: Final = {
    "diet": (
        """
        dieta, alimentación, comida, restricciones alimentarias, restricciones dietéticas, restricciones de comida,
        preferencias alimentarias, hábitos alimentarios, alergia, alergias, alergias alimentarias, intolerancia,
        intolerancias, qué no puedo comer, qué no como
        """,
        r"""
        al[eé]rgi|intoleran|cel[ií]ac|vegan|vegetarian|gluten|lactosa|\bhalal\b|\bkosher\b|\bdieta\b
        \bno (?:pued[oe] (?:comer|tomar|beber)|come|como|tolero|tolera|tomo|toma)\b
        """,
    ),
    "pets": (
        "mascota, mascotas, animal, animales",
        r"""
        \b(?:perr[oa]|gat[oa]|gatit[oa]|cachorr[oa]|conejo|hámster|cobaya|loro|periquito|tortuga|caballo|gallina|mascota)s?\b
        \b(?:pez|peces|acuario)\b
        """,
    ),
    "family": (
        "familia, familiares, miembros de la familia, situación familiar, parientes",
        r"<mi>(?:<pareja>|<padres>|<hermanos>|<hijos>|<parientes>)\b|\b(?:casad|divorciad|viud)[oa]\b",
    ),
    "children": (
        "hijo, hijos, hija, hijas, niños, bebé",
        r"(?:<mi>|\b(?:tengo|tenemos) (?:una?|dos|tres|cuatro|\d) )<hijos>\b|embarazada",
    ),
    "dogs": ("perro, perros, perra", r"\b(?:perr[oa]|cachorr[oa])s?\b"),
    "cats": ("gato, gatos, gata", r"\bgat(?:it)?[oa]s?\b"),
    "partner": (
        "marido, mujer, esposo, esposa, pareja, novio, novia, estado civil",
        r"<mi>(?:<pareja>|ex)\b|\b(?:casad|divorciad|viud|solter|separad|prometid)[oa]\b",
    ),
    "parents": ("padres, padre, madre, mamá, papá", r"<mi><padres>(?!\w)"),
    "siblings": ("hermanos, hermano, hermana, hermanas", r"<mi><hermanos>\b"),
    "friends": (
        "amigo, amigos, amiga, amigas, mejor amigo, mejor amiga",
        r"<mi>(?:amig[oa]s?|compañer[oa]s? de piso)\b|\bamig[oa] mí[oa]\b",
    ),
    "location": (
        "ubicación, ciudad, país, residencia, lugar de residencia, dirección, domicilio, vivienda",
        r"""
        \b(?:vivo|vivimos|resido|mud(?:o|amos|é|ado))\b|<mi>(?:casa|piso|apartamento|dirección)\b|\bsoy de (?-i:[A-Z])
        """,
    ),
    "hobbies": (
        """
        afición, aficiones, deporte, deportes, hobby, hobbies, pasatiempo, pasatiempos, intereses, tiempo libre,
        actividades de ocio, qué me gusta hacer
        """,
        r"""
        \b(?:toco|canto|bailo|pinto|dibujo|colecciono|corro|nado|escalo|juego|cocino|leo|hago|practico|monto)\b
        \bme (?:encanta|gusta|apasiona)n?\b|afici[oó]n|\bhobby|\b(?:coro|club|clases?|equipo|entreno)\b
        """,
    ),
    "travel": (
        "viaje, viajes, planes de viaje, vacaciones, planes de vacaciones, destinos, escapadas",
        r"""
        \b(?:ir|vamos|voy|viaj\w+|volamos|vuelo|fuimos|estuvimos|iremos) (?:a|en|por|hasta) (?-i:[A-Z])
        vacaciones|\bviaj(?:e|ar)|\bhotel|reserv|\bvuelo\b|crucero|camping|\bvisado|\bvisa\b
        """,
    ),
    "health": (
        """
        salud, estado de salud, problemas de salud, enfermedad, enfermedades, medicación, medicamentos, medicina,
        lesión, lesiones, historial médico
        """,
        r"""
        al[eé]rgi|asma|diabet|migraña|\bdolor|\bduele|lesion|operaci|operad|médic|\bDr\b|insulina|terapia|pastilla
        \d ?mg\b|diagn|tensión|embaraz|depresi|cáncer|artr|hospital\b|fiebre|enferm[oa]\b|hernia|esguince|cel[ií]ac
        """,
    ),
    "fears": (
        "miedo, miedos, fobia, fobias, preocupaciones, temores, de qué tengo miedo",
        r"\bmiedo|\bfobia|\bpánico|\btem(?:o|or|e)\b|asust|preocupa",
    ),
    "goals": (
        """
        meta, metas, objetivo, objetivos, propósitos, metas personales, objetivos personales, metas de ahorro, sueños
        """,
        r"\b(?:quiero|quisiera|espero|planeo|me gustaría|estoy ahorrando|entreno para)\b|\bmeta\b|objetivo|propósito",
    ),
    "preferences": (
        "preferencia, preferencias, gustos, favoritos, gustos y preferencias",
        r"\b(?:prefiero|odio|detesto|por favor)\b|\bme (?:gusta|encanta|molesta)n?\b|favorit|preferid",
    ),
    "communication": (
        "estilo de comunicación, estilo de respuesta, formato de respuesta, preferencias de comunicación, tono",
        r"""
        \b(?:respuestas|mensajes) (?:cort|breve|concis|larg|formal|detallad)|\bemojis?\b|\btutéame
        \bpor favor,? (?:no|sin)\b
        """,
    ),
    "schedule": (
        "horario, horarios, horario de trabajo, agenda, rutina, disponibilidad, citas",
        r"\b(?:<dia>)\b|\btodos los días|\bcada (?:día|semana)|\bturno|\ba las \w+|media jornada|\bcitas?\b",
    ),
    "vehicle": (
        "coche, coches, carro, auto, vehículo, vehículos",
        r"\b(?:coche|carro|auto|furgoneta|moto|bici|bicicleta|patinete)s?\b|\bconduzco\b",
    ),
    "education": (
        "educación, estudios, formación, carrera, título, universidad",
        r"\bestudi|universi|\bcarrera\b|\bmáster\b|doctorado|\bgrado\b|bachiller|\bexamen|oposici|\btesis",
    ),
    "projects": (
        "proyecto, proyectos, tarea, tareas, en qué estoy trabajando",
        r"proyecto|\btrabajando en\b|\b(?:escribiendo|desarrollando|construyendo|programando)\b",
    ),
    "finances": (
        "finanzas, ingresos, sueldo, presupuesto, situación económica, ahorros",
        r"presupuesto|ahorr|sueldo|salario|ingresos|hipoteca|alquiler|deuda|préstamo|€|\beuros\b",
    ),
    "languages": (
        "idioma, idiomas, lengua, lenguas, idiomas que hablo, qué idiomas hablo",
        r"""
        \b(?:español|castellano|inglés|francés|alemán|italiano|portugués|catalán|gallego|euskera|ruso|árabe)\b
        \b(?:chino|japonés|bilingüe|lengua materna)\b
        """,
    ),
    "profile": (
        "perfil, datos, información, información sobre mí, datos sobre mí",
        r"""
        \b(?:me llamo|vivo|trabajo)\b|<mi>(?:nombre|cumpleaños|<pareja>|<hijos>)\b|\bsoy (?:una? )?\w+
        \btengo \d\d años
        """,
    ),
}
