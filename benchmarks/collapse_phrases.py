"""The words that the made collapses use: catchphrases, sign-offs, openers, templates, fields, markup; all made up.

Every list is cut in two: even places are for those who write guards, odd places (`held_out`) only for measuring.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def half(items: Sequence[T], held_out: bool) -> Sequence[T]:
    """Return every second item: from the second on when `held_out`, otherwise from the first on."""
    return items[1::2] if held_out else items[0::2]


PHRASES: dict[str, Sequence[str]] = {
    "en": (
        "and the kettle is never far away",
        "which is how rivers learn patience",
        "like a lantern in the fog",
        "one careful step after another",
        "with both hands on the wheel",
        "as every gardener knows by heart",
        "somewhere between the map and the road",
        "the quiet part said slowly",
        "for those who keep the night watch",
        "that is where the music starts",
        "in the grand workshop of small things",
        "because nothing good is ever rushed",
        "held together by string and hope",
        "we carry the torch a little further",
    ),
    "de": (
        "wie ein Leuchtturm im Nebel",
        "und der Tee steht schon bereit",
        "ganz ohne Eile und mit Sorgfalt",
        "denn gute Dinge brauchen ihre Zeit",
        "Schritt für Schritt dem Morgen entgegen",
        "mit ruhiger Hand am Steuer",
        "so wie es die Gärtner halten",
        "irgendwo zwischen Karte und Landstraße",
    ),
    "es": (
        "como un farol en la niebla",
        "y el café nunca queda lejos",
        "paso a paso hacia la mañana",
        "con las dos manos al timón",
        "porque lo bueno no tiene prisa",
        "entre el mapa y el camino",
        "así aprenden paciencia los ríos",
        "para quienes velan toda la noche",
    ),
    "zh": (
        "像雾里的一盏灯笼",
        "一步一步走向清晨",
        "茶壶总在不远的地方",
        "好事从来不必着急",
        "河流就是这样学会耐心",
        "双手稳稳握住方向盘",
        "献给守夜到天亮的人",
        "在地图与道路之间",
    ),
}
_MADE: dict[str, tuple[str, Sequence[str], Sequence[str], Sequence[str]]] = {
    "en": (
        "{} the {} {}",
        ("beyond", "under", "right beside", "far above", "deep inside", "just past"),
        ("patient", "copper", "sleepless", "borrowed", "crooked", "silver", "half-open", "humming"),
        ("orchard gate", "harbour bell", "winter attic", "ferry landing", "paper moon", "clockmaker's bench"),
    ),
    "de": (
        "{} {} {}",
        ("jenseits der", "gleich neben der", "hoch über der", "tief unter der"),
        ("geduldigen", "kupfernen", "schlaflosen", "schiefen"),
        ("alten Hafenglocke", "kleinen Papierlaterne", "langen Winterbrücke", "leeren Fährstation"),
    ),
    "es": (
        "{} la {} {}",
        ("más allá de", "justo al lado de", "muy por encima de", "debajo de"),
        ("paciente campana", "torcida escalera", "prestada lámpara", "insomne puerta"),
        ("del puerto viejo", "de papel plateado", "del largo invierno", "del muelle vacío"),
    ),
    "zh": (
        "{}{}{}",
        ("就在", "越过", "远远高于", "深藏在"),
        ("那座耐心的", "那扇歪斜的", "那盏借来的", "那口铜色的"),
        ("果园木门旁边", "旧港口的钟声里", "纸月亮下面", "空荡荡的渡口"),
    ),
}
SIGN_OFFS: dict[str, Sequence[str]] = {
    "en": (
        "Until the tide turns, this is your keeper signing out.",
        "Keep your lamps trimmed and your kettles warm.",
        "More when the wind changes.",
        "That is all from the tower; sleep well down there.",
        "Stay curious, stay kind, stay on course.",
        "Mind the step on your way out, friends!",
        "Yours from the engine room.",
        "See you on the far bank.",
    ),
    "de": (
        "Bis der Wind sich dreht.",
        "Kommt gut durch die Nacht!",
        "Euer Wärter vom Turm.",
        "Haltet die Lampen klar.",
    ),
    "es": (
        "Hasta que cambie la marea.",
        "Cuidad vuestras lámparas.",
        "Vuestro vigía de la torre.",
        "¡Buen viento a todos!",
    ),
    "zh": ("等潮水转向再会。", "请把灯芯剪好。", "守塔人敬上。", "愿诸位一路顺风!"),
}
OPENERS: dict[str, Sequence[str]] = {
    "en": (
        "Ahoy, dear keepers of the long hours!",
        "Let us unfold the map once more.",
        "Picture this, friends:",
        "What a remarkable hour to be awake.",
        "Here is the thing about today.",
        "Gather round the stove, everyone.",
        "Ah, now we come to it.",
        "From the top of the stairs, a report:",
    ),
    "de": (
        "Ahoi, ihr Hüter der langen Stunden!",
        "Stellt euch einmal vor:",
        "Ach, nun ist es so weit.",
        "Rückt ans Feuer.",
    ),
    "es": (
        "¡Atención, guardianes de las horas!",
        "Imaginad esto, amigos:",
        "Ah, por fin llegamos.",
        "Acercaos a la estufa.",
    ),
    "zh": ("各位长夜的守护者!", "请想象这样一幕:", "啊,终于说到这里了。", "大家围到炉边来。"),
}
NAMES: dict[str, Sequence[str]] = {
    "en": (
        "Harbour Hour",
        "The Late Kettle",
        "Copper and Rain",
        "Nine Bells",
        "Sunday Rope",
        "Low Tide",
        "Attic Radio",
        "Salt Post",
    ),
    "de": (
        "Hafenstunde",
        "Der späte Tee",
        "Kupfer und Regen",
        "Neun Glocken",
        "Sonntagsseil",
        "Ebbe",
        "Dachfunk",
        "Salzpost",
    ),
    "es": (
        "Hora del Puerto",
        "El Té Tardío",
        "Cobre y Lluvia",
        "Nueve Campanas",
        "La Cuerda",
        "Bajamar",
        "Radio Ático",
        "Correo de Sal",
    ),
    "zh": ("港口时间", "晚茶", "铜与雨", "九声钟", "星期天的绳索", "退潮", "阁楼电台", "盐邮"),
}
TEMPLATES: dict[str, Sequence[str]] = {
    "en": (
        "Coming up on {name}: a long look at {a}, then a few words about {b}. Stay close as we go from {c} to {d}.",
        "{name} has moved forward today. Settled is {a}, next in line is {b}, and {c} will follow {d} by tomorrow.",
        "A milestone for {name}! We reached {a} and we did not forget {b}. Together, {c} and {d} make number {n}.",
        "This entry of {name} is about {a}. It reminds me of {b}, and of the day when {c} first met {d}.",
        "Status of {name}: {a} is fine, {b} is fine, {c} needs a look. Nothing else to report on {d} at this time.",
        "What would {name} be without {a}? A house without {b}, a road without {c}, a song that never reaches {d}.",
        "Chapter {n} of {name} opens with {a}. We meet {b}, we lose {c}, and in the end {d} stands alone in the rain.",
        "Listener number {n} asked {name} about {a}. The short answer is {b}; the long one goes through {c} and {d}.",
    ),
    "de": (
        "Gleich auf {name}: ein langer Blick auf {a}, danach ein paar Worte über {b}. Bleibt dran, von {c} bis {d}.",
        "{name} ist heute vorangekommen. Erledigt ist {a}, als Nächstes kommt {b}, und {c} folgt auf {d} bis morgen.",
        "Was wäre {name} ohne {a}? Ein Haus ohne {b}, eine Straße ohne {c}, ein Lied, das {d} nie erreicht.",
        "Stand von {name}: {a} ist in Ordnung, {b} auch, nach {c} wird noch gesehen. Zu {d} gibt es nichts Neues.",
    ),
    "es": (
        "Enseguida en {name}: una mirada larga a {a} y unas palabras sobre {b}. Quedaos cerca, de {c} hasta {d}.",
        "{name} ha avanzado hoy. Ya está {a}, ahora toca {b}, y {c} vendrá después de {d} antes de mañana.",
        "¿Qué sería {name} sin {a}? Una casa sin {b}, un camino sin {c}, una canción que nunca llega a {d}.",
        "Estado de {name}: {a} va bien, {b} va bien, {c} pide una revisión. Sobre {d} no hay nada nuevo.",
    ),
    "zh": (
        "接下来是{name}:先仔细看看{a},再说几句{b}。请不要走开,我们从{c}一直走到{d}。",
        "{name}今天又前进了一步。{a}已经办好,下一个是{b},明天之前{c}会跟上{d}。",
        "没有{a},{name}会是什么?没有{b}的房子,没有{c}的路,一首永远到不了{d}的歌。",
        "{name}的情况:{a}正常,{b}正常,{c}还要再看一下。关于{d}暂时没有别的消息。",
    ),
}


def phrase(language: str, rng: random.Random, held_out: bool) -> str:
    """Return a catchphrase of four to nine words: one of the list, or one put together."""
    if rng.random() < 0.6:
        return rng.choice(half(PHRASES[language], held_out))
    shape, *slots = _MADE[language]
    return shape.format(*(rng.choice(half(slot, held_out)) for slot in slots))
