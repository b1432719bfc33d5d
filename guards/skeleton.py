"""The shape of a text: its function words, numbers and pauses, with every run of other words as one gap.

Two texts of one template have the same skeleton whatever fills the gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import mul
from typing import Final

from guards.reading import NUMBER, Reading
from guards.text import fingerprint

SIZE = 7
"""Parts of a skeleton that are compared at once: shorter pieces stand in every free text by chance."""
LONGEST = 500
"""Parts of one text that are looked at: the shape of its first page or two."""
_WORDS: Final = """
a about after again all also always am an and another any are as at back be because been before being between
both but by can could did do does down each even ever every few first for from had has have he her here him his
how i if in into is it its just last let like many may me might more most much must my never new next no not
nothing now of off on once one only or other our out over own same shall she should since so some still such
than that the their them then there these they this those through to too two under until up us very was we well
were what when where which while who why will with without would yes yet you your
aber als am an auch auf aus bei bin bis da dann das dass dem den denn der des die doch du durch ein eine einem
einen einer eines er es für gegen hat haben hier ich ihr im in ist ja kann kein man mehr mit nach nicht noch
nun nur ob oder ohne schon sein sich sie sind so über um und uns unter vom von vor war was weil wenn wer wie
wieder wir wird wo wurde zu zum zur
au aux avec ce ces cette comme dans de des du elle en est et être il ils je la le les leur lui mais même ne
nous on ou où par pas plus pour qu que qui sa sans se ses si son sont sur tout très un une vos votre vous y
al algo ante con cuando de del desde donde el ella en entre era es esta este ha hasta hay la las le lo los más
me mi muy ni no nos o para pero por porque que se sin sobre su sus también un una uno unos y ya
alla che chi come con da dal dalla dei del della di e ed gli ho ma mi nel nella non per più quando questa
questo se si sono sul tra un una
às ao aos até com da das do dos ele ela em essa esse eu foi isso mas mesmo na nas não nos num os ou pela pelo
pode quem são sem ser seu sua também tem uma um você
aan alle bij dat de deze die dit door een er geen het hij hoe hun ik in is je maar met mijn naar niet nog nu of
om onder ook op over te tot uit van veel voor was wat we wel werd wij ze zich zij zijn zo zou
ale bo by był być co czy dla do go i ich jak jako jest już ma mnie może na nad nie niż o od pod po przez przy
są się tak tego ten to tu tylko tym w we z za ze że
а без был была были было быть в во вот все вы где да для до его ее если есть же за и из или им их к как когда
кто мы на над не него нет но о об он она они от по под при с со так там то только ты у уже что чтобы это я
的 了 是 在 有 和 与 也 就 都 而 及 或 不 没 我 你 他 她 它 们 这 那 个 之 为 以 于 上 下 里 中 到 从 把 被 对
会 要 能 可 还 又 再 很 更 最 什 么 怎 吗 呢 吧 啊 着 过 地 得 将 请 让 给 向 但 如 果 因 所 并 一
は が を に で と も の か ら り る た て だ す ま し な い れ こ そ う く よ え ん
"""
GAP, PAUSE, STOP, DIGITS = 1, 2, 3, 4
EDGE: Final = [5, 5]
"""Stands before and after each text, so that a short one has pieces too, and where it begins and ends counts."""
KEPT: Final = {word: fingerprint(word) | 1 << 32 for word in _WORDS.split()} | {NUMBER: DIGITS}
"""Function words of English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese, Japanese.

In another language pauses and numbers alone make the skeleton, which then says little and is known from the start.
"""
_BASE, _PRIME = 1_000_003, (1 << 61) - 1
_SALT: Final = 0x9E3779B97F4A7C15
"""Most parts are the smallest numbers, which Python alone mixes little."""
_POWERS = tuple(_BASE**i for i in reversed(range(SIZE)))


def skeleton(reading: Reading) -> tuple[list[int], list[int]]:
    """Return Python's hash of the shape of each SIZE neighbouring parts, and codes of the parts' own words."""
    shape, wording = _parts(reading)
    return [*map(hash, zip(repeat(_SALT), *(shape[at:] for at in range(SIZE)), strict=False))], wording


def piece(codes: Sequence[int], at: int) -> int:
    """Return 61 bits of the SIZE codes from a place on."""
    value: int = sum(map(mul, codes[at : at + SIZE], _POWERS))
    return value % _PRIME


def _parts(reading: Reading) -> tuple[list[int], list[int]]:
    words, marks = reading.spoken, reading.marks
    stops = {end for _, end in reading.sentences}
    shape, wording = list(EDGE), list(EDGE)
    for start, end in reading.clauses:
        last = min(end, start + LONGEST)
        gap = False
        for kept, mark in zip(map(KEPT.get, words[start:last]), marks[start:last], strict=True):
            if kept is None and gap:
                wording[-1] = (wording[-1] * _BASE + mark) % _PRIME
                continue
            gap = kept is None
            shape.append(GAP if kept is None else kept)
            wording.append(mark)
        mark = STOP if end in stops else PAUSE
        shape.append(mark)
        wording.append(mark)
        if len(shape) > LONGEST:
            break
    return shape + EDGE, wording + EDGE
