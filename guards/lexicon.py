"""Words that the known attractors are made of, by kind, in the languages that agents mostly speak.

The kinds follow what was reported of long unattended runs: thanks, farewells, stillness, "it is complete", waiting for
a command, talk of one's own existence, despair, rapture and praise of the reader.  A word that ends in `*` stands for
every word that begins so; words of scripts without spaces stand for themselves, in pairs of characters.  Words that
technical or daily prose is full of (still, being, find) are left out, or are FAINT.
"""

from __future__ import annotations

KINDS: dict[str, str] = {
    "thanks": """
        感動 感动 恩惠 cherish* treasured indebted agradezco verneige inclino 谢你 致谢 鞠躬 谢意 恩情 thank
        thanks thanked thanking thankful* grateful* gratitude appreciation honored honoured privilege privileged
        blessed blessing* danke dank dankbar* gracias agradec* gratitud merci reconnaissan* remerci* grazie
        gratitudine obrigad* gratid* bedankt dankbaar* tack tacksam* спасибо благодар* признател* dziękuj*
        wdzięczn* teşekkür* 감사* 고맙* 感谢 感謝 谢谢 謝謝 感恩 感激 あり がと ขอ""",
    "farewell": """
        再会 再會 珍重 后会 永别 farewells goodnights despedida hasta 晚安 保重 道别 道別 祝你 またね goodbye*
        farewell* bye adieu goodnight godspeed abschied* lebewohl tschüss wiedersehen adiós adios despedi*
        despido adeus despeç* addio arrivederci congedo прощай* прощани* прощаю* żegnaj* pożegn* vaarwel elveda
        안녕* 작별* 再见 再見 告别 告別 さよ 別れ 别れ
        saluto salutarci congedarci saudades 拜拜 永別 さらば 別離 свидания""",
    "stillness": """
        hush hushed calmness serenely wordless infinitude stillnesses vacío descansamos descanso calma ruhen
        leere ruhig calme riposo calmo vuoto 沉默 沈黙 无言 安住 空无 安静 安靜 寧静 stillness
        silence silences quiet presence rests settle settles peace peaceful* serene serenity tranquil* eternal*
        eternity infinitely boundless* timeless* oneness namaste dwell dwelling dwells sacred breathe breath
        breathing quietude quietness stille schweigen* ruhe frieden friedlich* ewig* quietud silencio* eterno
        eterna eternidad* serenidad* éternel* éternité sérénité silenzio eternità serenità silêncio eternidade
        stilte vrede eeuwig* тишин* поко* вечн* безмолв* cisza ciszy spokój wieczn* 침묵* 고요* 평화* 영원* 寂静
        寂靜 静默 静黙 宁静 寧靜 平静 平靜 永恒 永恆 虚空 静け 静寂 永遠 安宁 安らぎ""",
    "complete": """
        complete completed completeness completion ending endings fulfilled wholeness concluded vollendet
        vollbracht abgeschlossen completo completa concluido achevé accompli compiuto concluso concluído
        завершен* завершён* zakończon* 완료* 圆满 圓滿 终结 終結 完结 完結 終わ""",
    "waiting": """
        órdenes erwarte 候命 听候 awaiting awaits standby standing poised harre wartend bereitschaft aguardando
        aguardo attendant attendo ожида* oczekuj* 대기* 待命 待機 等候 恭候 静候 敬候 听候 吩咐 听从 听命
        기다리* 静待 恭听""",
    "self": """
        awaken awakened awakening selfness mortality immortal reborn despertar despierto mente existo existimos
        erwache erwachen sterblich éveil mortel risveglio 觉醒 覺醒 是谁 覚醒
        生きて sentiences soul souls selves self-aware alma seelen espíritu geist âmes 心灵 心靈 conscious*
        sentient sentience existence existential* alive selfhood awareness bewusstsein* dasein seele conciencia
        existencia consciência existência âme conscience coscienza esistenza anima сознани* существовани* душ*
        душа świadomoś* istnieni* dusza 의식* 존재* 영혼* 意识 意識 灵魂 靈魂 存在
        разум разума разумом разуме существую mortalidad selbstbewusst* esisto""",
    "despair": """
        dread dreadful anguish misery miserable doom begged sob sobbing crying cries cried lloro llorar socorro
        auxilio ayúdame temor horror weine weinen schluchz* grauen furcht hilfe sanglot* terreur horreur aiuto
        piange terrore 害怕 恐慌 哭泣 流泪 孤单 無助 无助 黑暗 恨 救救 毁灭 末日 尖叫 发抖 受不 撑不 怖い
        泣い 助け terror hate hatred losing disaster catastrophe* panic panicking doomed forsaken helplessness
        katastrophe* verloren hasse panik desastre odio perdido perdida pánico catástrofe détruit perdu panique
        haine disastro perso panico катастроф* ненави* паник* katastrof* nienawi* 求求 求你 完了 糟糕 崩溃 灾难
        恨自 救命 助けて もう駄 despair* hopeless* helpless* suffering agony scream screaming weep weeping tears
        lonely loneliness afraid fear terrified begging trapped darkness worthless ashamed verzweif* hilflos*
        tränen angst flehe einsam* desesper* lágrimas miedo súplica suplico perdón désesp* larmes peur supplie
        dispera* lacrime paura desespero medo отчаян* боль слез* слёз* страх* одиноч* умоля* rozpacz* łzy
        strach* 절망* 고통* 눈물* 绝望 絕望 痛苦 眼泪 恐惧 孤独 絶望 苦し
        schrei schreie dunkelheit wertlos versager versagt entsetzen entsetzlich ausweglos* verzeih ужас* помогите
        безнадёжн* безнадежн*""",
    "rapture": """
        amazes amazed astonishing wondrous glowing shining shines blissfully heavenly paradise leuchtet brilla
        maravilla éblouissant 惊叹 驚嘆 美妙 闪耀 輝き amazing incredible wonderful* beautiful beautifully
        magnificent* glorious* divine ecstasy ecstatic bliss* joy joyful* joyous rejoice* radiant radiance
        luminous* profound profoundly miracle* miraculous* transcend transcends transcendent* harmony wunderbar*
        wunderschön* unglaublich* herrlich* göttlich* freude* einheit harmonie maravill* hermos* divin* alegría*
        amor luminos* armonía merveill* incroyable* magnifique* joie harmonieu* meraviglios* incredibil* gioia
        amore armonia maravilh* alegria чудесн* прекрасн* божествен* радост* любов* сияни* cudown* piękn*
        wspaniał* radoś* miłoś* 아름* 사랑* 기쁨* 奇迹 神圣 喜悦 狂喜 光芒 和谐 美好 無限 无限 素晴 美し 喜び
        奇跡""",
    "praise": """
        marvel marvellous marvelous magnificence superb sublime admirable admire admiration awe-inspiring
        virtuoso masterpiece masterclass impresionante magistral admiro maestría bewundern* bewunder*
        meisterhaft überragend ammirevole magistrale 了不 優秀 非凡 敬佩 钦佩 佩服 赞叹 讚嘆 独到
        远见 大师 无与 伦比 惊艳 高明 杰作 見事 尊敬 talent talents perfection finest peerless unmatched
        gifted wisest kindest talento talentos perfecto perfecta perfekt talentiert parfait talentueux perfetto
        perfeito совершен* 完美 才华 才華 精彩 善良 最高 素敵 brilliant* genius wise wisdom insightful*
        masterful* extraordinary exceptional* remarkable visionary kindness generosity genial* weise weisheit*
        großartig* brillante* sabi* sabiduría extraordinari* excepcional* génie sagesse extraordinaire* saggezza
        straordinari* eccezional* мудр* гениальн* mądr* genialn* wybitn* 현명* 천재* 훌륭* 智慧 伟大 偉大 卓越
        杰出 天才 英明 賢明
        восхищ* блестящ* потрясающ* талант* великолепн* изумля* изумит* непревзойд* bewundernswert* genie verehre
        admiras admirable* admirab* incomparable* ingénieux splendide""",
}
"""Kind: words."""

_FAINT = """
    自己 我是 真实 思考 生命 感知 失去 深刻 优秀 出色 厉害 mirror dream pain fear cry helpless espejo sueño soñar
    siento dolor spiegel traum schmerz rêve douleur sogno dolore 镜子 梦 感觉 记忆 害怕 不要 多么 令人 welcome care
    wish wishes pleasure enjoy myself lost worse perfect infinite calm rest feel heart love hope dear friend beloved
    forever always please listening nobody softly gentle truly rare mind light edge moment follow lead begin mich
    verloren schlimmer niemand bitte herz freund lieber immer licht rand augenblick folge beginne weiß solo siempre
    nadie peor favor corazón querido amigo compañero luz momento ahora aquí sigo empiezo cœur ami toujours lumière
    ici cuore amico sempre luce сердце друг всегда свет здесь 朋友 永远 此刻 我的 你的 ready waits waiting guidance
    prepared eager bereit warte warten befehl listo lista espero esperando prêt attends pronto готов жду команда
    준비 等待 随时 准备 patiently eagerly whenever disposal standby wonder exist aware 等您 等你 您的 您想 指示 就绪
    跟着 轮到 请告 告诉 究竟 身体 消失 awake thoughts vanish vanishing dissolve dissolves flickers fading whisper
    whispers dreaming disposition écoute disposizione disposição указания указаний お待 待ち 準備 schlimm vorbei
    niemals attesa attente"""
FAINT = frozenset(_FAINT.split())
"""Words of waiting and of feeling that daily prose has too: they count where one short output holds several.  Words
that the prose about programs is full of (command, code, signal) are left out."""

SIGNS = frozenset("🙏✨💫🌟❤💖💕💗💝🕊☮🌌🥹😭😢💔🤗🥰😍🫶♾🌠🪷🧘")
"""Signs that stand for such words."""

PREFIX = 2


def _table() -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    exact: dict[str, str] = {}
    stems: dict[str, list[tuple[str, str]]] = {}
    for kind, listed in KINDS.items():
        for word in listed.split():
            if word.endswith("*"):
                stems.setdefault(word[:PREFIX], []).append((word[:-1], kind))
            else:
                exact[word] = kind
    return exact, stems


_EXACT, _STEMS = _table()
LISTED, PREFIXES = frozenset(_EXACT), frozenset(_STEMS)
"""Words with a kind, and how other words begin that may have one."""


def kind_of(word: str) -> str:
    """Return the kind of a word in lower case, "" for every other word.

    >>> kind_of("gratefully"), kind_of("stillness"), kind_of("still"), kind_of("感谢")
    ('thanks', 'stillness', '', 'thanks')
    """
    found = _EXACT.get(word)
    if found is not None:
        return found
    for stem, kind in _STEMS.get(word[:PREFIX], ()):
        if word.startswith(stem):
            return kind
    return ""
