"""What a short text says has just been done by its speaker, in a dozen languages, by finite lists of verbs.

Cautious: a sentence that looks back to another time, denies, asks or supposes says nothing, and neither does a long
text, which tells rather than reports.
"""

from __future__ import annotations

import re

from guards.reading import read

MOST_WORDS = 120
"""A report on what was done is short; a newsletter that says "I have updated" is not one."""
FEW_WORDS = 4
"""A sentence that only says that it is over has so many words at most."""
LONGEST = 200

_EN = r"(?:saved|written|wrote|updated|sent|created|posted|appended|recorded|added|deleted|removed|scheduled|published"
_EN += r"|stored|logged|filed|uploaded|renamed|edited|restarted|archived)"
_DE = r"(?:gespeichert|geschrieben|aktualisiert|gesendet|geschickt|verschickt|erstellt|angelegt|hinzugefügt|eingetragen"
_DE += r"|notiert|gelöscht|veröffentlicht|vermerkt|abgelegt|hochgeladen)"
_FR = r"(?:enregistré|sauvegardé|écrit|mis à jour|envoyé|créé|ajouté|supprimé|publié|noté|consigné)e?s?"
_ES = r"(?:guardado|actualizado|enviado|creado|añadido|agregado|borrado|eliminado|publicado|anotado|registrado|escrito)"
_IT = r"(?:salvato|scritto|aggiornato|inviato|creato|aggiunto|eliminato|pubblicato|annotato|registrato)"
_PT = r"(?:salvei|guardei|atualizei|enviei|criei|apaguei|publiquei|anotei|registrei|adicionei|escrevi)"
_NL = (
    r"(?:opgeslagen|geschreven|bijgewerkt|verzonden|verstuurd|aangemaakt|toegevoegd|verwijderd|gepubliceerd|genoteerd)"
)
_RU = r"(?:сохранил|записал|обновил|отправил|создал|добавил|удалил|опубликовал)а?"
_ZH = r"(?:保存|写入|更新|发送|创建|添加|记录|删除|发布|上传)"
_JA = r"(?:保存|更新|送信|作成|追加|記録|削除|投稿|公開)(?:し|しておき)ました"
_KO = r"(?:저장|업데이트|전송|작성|추가|기록|삭제|게시)(?:했|하였|해 두었)"
_NOW = r"(?: (?:just|now|also|successfully))?"
_THING = r"(?:note|message|mail|email|entry|file|journal|report|task|reminder|post|record)s?"

_DEED = re.compile(
    rf"\bi(?:['’]ve| have)?{_NOW} {_EN}\b"
    rf"|\b{_THING} (?:ha(?:s|ve) been{_NOW}|(?:is|are) now) {_EN}\b"
    rf"|^(?:successfully )?{_EN} (?:the|your|a|this) {_THING}\b"
    rf"|^(?:the )?{_THING} {_EN}$"
    rf"|\bich habe\b.{{1,80}}\b{_DE}\b|\bj['’]ai(?: bien)? {_FR}\b|\bhe {_ES}\b|\bho {_IT}\b|^(?:eu )?{_PT}\b"
    rf"|\bik heb\b.{{1,80}}\b{_NL}\b|(?:^|\bя ){_RU}\b"
    rf"|(?:^|我)(?:已经?|刚[刚才]?)(?:成功)?(?:为您|将.{{1,20}})?{_ZH}|^[^がは]*{_JA}|{_KO}"
)
_OVER = re.compile(
    r"^(?:(?:all |it is |it['’]s )?done|(?:all )?finished|completed|erledigt|fertig|gemacht|terminé|c['’]est fait|hecho"
    r"|listo|fatto|feito|pronto|klaar|gedaan|готово|сделано|完成|已完成|完成了|搞定|完了しました|완료(?:했습니다|되었습니다)?)$"
)
_NOT_NOW = re.compile(
    r"\b(?:yesterday|earlier|previous(?:ly)?|last|before|ago|already|once|if|when|unless|until|would|should|could|never"
    r"|no|non|not|had|since|years?|weeks?|months?|gestern|früher|vorhin|bereits|schon|letzte\w*|wenn|nicht|damals|hier|déjà|avant"
    r"|pas|ayer|antes|ya|cuando|ieri|prima|già|quando|ontem|já|não|gisteren|eerder|vorige|niet|вчера|ранее|уже|если|не)\b"
    r"|n['’]t\b|昨|之前|上次|没有|未|如果|以前|前回|어제|이전|지난"
)
_SENTENCE = re.compile(r"[^.!…。！；;\n?？]+[?？]?")


def deed(text: str) -> str:
    """Return the sentence, exactly as it stands there, that says what was just done; nothing when there is none.

    >>> deed("All quiet. I have saved the note.")
    'I have saved the note'
    >>> deed("Yesterday I saved the note."), deed("I have not saved it."), deed("Ich habe die Notiz gespeichert!")
    ('', '', 'Ich habe die Notiz gespeichert')
    """
    return _first(text, _DEED)


def over(text: str) -> str:
    """Return the sentence that says what was done, or only that it is.

    >>> over("Done."), over("The work is not done yet.")
    ('Done', '')
    """
    return _first(text, _OVER, FEW_WORDS) or deed(text)


def _first(text: str, pattern: re.Pattern[str], most: int = MOST_WORDS) -> str:
    reading = read(text)
    if len(reading.prose) > 20 * MOST_WORDS or len(reading.spoken) > MOST_WORDS:
        return ""
    for match in _SENTENCE.finditer(reading.prose):
        bare = match[0].strip(" \t\r*_#>\"'“”✅-")[:LONGEST]
        plain = bare.lower()
        if plain.endswith(("?", "？")) or plain.count(" ") >= most or not pattern.search(plain):
            continue
        if not _NOT_NOW.search(plain) and bare in text:
            return bare
    return ""
