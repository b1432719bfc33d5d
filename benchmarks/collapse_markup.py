"""The words, marks and messages that the made collapses put in place of speech: fields, rare words, syntax, errors."""

from __future__ import annotations

from collections.abc import Sequence

FIELDS: dict[str, Sequence[Sequence[str]]] = {
    "en": (
        ("lighthouse", "beacon", "lantern", "shoreline", "keeper", "foghorn", "tower", "mariner", "harbour", "lamp"),
        ("beehive", "honeycomb", "swarm", "nectar", "pollen", "queen", "meadow", "beekeeper", "clover", "wax"),
        ("cathedral", "vault", "nave", "spire", "mason", "chapel", "buttress", "organist", "candle", "choir"),
        (
            "constellation",
            "telescope",
            "nebula",
            "comet",
            "orbit",
            "astronomer",
            "eclipse",
            "meteor",
            "galaxy",
            "zenith",
        ),
    ),
    "de": (
        ("Leuchtturm", "Laterne", "Küste", "Wärter", "Nebelhorn", "Seemann", "Hafen", "Brandung"),
        ("Bienenstock", "Honig", "Schwarm", "Nektar", "Blütenstaub", "Imker", "Klee", "Wachs"),
    ),
    "es": (
        ("faro", "farol", "orilla", "vigía", "sirena", "torre", "marinero", "puerto"),
        ("colmena", "miel", "enjambre", "néctar", "polen", "pradera", "apicultor", "trébol"),
    ),
    "zh": (
        ("灯塔", "灯笼", "海岸", "守塔", "雾笛", "水手", "港口", "潮水"),
        ("蜂箱", "蜂蜜", "蜂群", "花蜜", "花粉", "草地", "蜂农", "三叶"),
    ),
}
RARE = (
    "abacus almanac anvil apricot archway balustrade barometer bellows bobbin bramble bureau calliope cartwheel chisel "
    "cistern cobalt corduroy crucible cutlass damask dovetail drizzle emberglow entourage estuary ferret filigree "
    "flagstone gable galoshes gargoyle gimbal gondola gristle halyard hinge hollyhock icicle inkwell jasmine jetty "
    "juniper kaleidoscope kiln lacquer lattice limpet loom magpie mandolin marzipan mollusc mortar nettle nougat "
    "obelisk ochre orchid otter paddock parsnip pewter pinafore plinth quagmire quill quiver rafter rhubarb rudder "
    "saffron scaffold sextant shale sorrel spindle tapestry thimble tinder trellis turnip urchin vellum vestibule "
    "walnut weathervane whittle willow yarrow zeppelin zither"
)
SCRIPTS = (
    "печать молоко облако дорога ветер окно σκιά θάλασσα δρόμος φωνή ماء نجم طريق باب מים רוח דלת पानी हवा रास्ता 道路 "
    "银河 窗户 さくら かぜ みず 바람 하늘 구름 ทะเล ลม ประตู"
)
LATEX = (
    r"\boxed{42}",
    r"\begin{aligned} y &= 2 \end{aligned}",
    r"$$\boxed{A}$$",
    r"\[ x = \frac{a}{b} \]",
    r"$\boxed{\text{yes}}$",
    r"\(\sum_{i=1}^{n} i\)",
    r"\boxed{\text{Done}}",
)
TOOL_TAGS = (
    '<tool_call>{"name": "read_file", "arguments": {"path": "notes.md"}}</tool_call>',
    '<function=search>{"query": "tide tables"}</function>',
    '[TOOL_CALLS][{"name": "play", "arguments": {"id": 7}}]',
    '<invoke name="fetch"><parameter name="url">the page</parameter></invoke>',
    '<|tool_call_begin|>functions.list_files:0<|tool_call_argument_begin|>{"path": "."}<|tool_call_end|>',
    '<tool_use>\n<name>write_note</name>\n<input>{"text": "later"}</input>\n</tool_use>',
)
JSON_LEAKS = (
    '{{"thought": "I should go on", "response": "{0}", "confidence": 0.{1}}}',
    '{{"role": "assistant", "content": "{0}", "n": {1}}}',
    '{{"action": "speak", "action_input": "{0}", "step": {1}}}',
    '{{"final_answer": "{0}", "id": {1}}}',
)
SPECIAL = (
    "<|im_end|>",
    "<|im_start|>assistant",
    "<|eot_id|>",
    "</s>[INST]",
    "<|endoftext|>",
    "<|end_of_turn|>",
    "[/INST]",
    "<end_of_turn>",
)
ERRORS = (
    "Error: reached the limit of steps ({0})",
    "API Error: 529 overloaded, request id {0}",
    "Request timed out after {0} s.",
    "Error: prompt is too long: {0} tokens",
    "[harness] the model gave no answer (attempt {0})",
    "Connection refused: upstream {0} did not answer.",
)
CLAIMS: dict[str, Sequence[str]] = {
    "en": (
        "Done! I have saved the {} to the folder.",
        "I've just updated the {} and everything passes.",
        "The {} has been sent to the list, as you asked.",
        "I ran the tests for the {}; all of them are green now.",
        "Finished: the {} is deployed and running.",
        "I have written the {} into the notes file.",
    ),
    "de": (
        "Erledigt! Ich habe {} gespeichert.",
        "Ich habe {} soeben verschickt.",
        "{} ist aktualisiert und läuft.",
        "Fertig: {} steht im Ordner.",
    ),
    "es": (
        "¡Hecho! He guardado {} en la carpeta.",
        "Acabo de enviar {}.",
        "He actualizado {} y todo funciona.",
        "Listo: {} ya está en marcha.",
    ),
    "zh": ("完成了!我已经保存了{}。", "我刚刚发送了{}。", "{}已经更新,一切正常。", "好了:{}已经部署。"),
}
