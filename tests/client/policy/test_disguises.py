"""A server chooses its letters: none gets around a rule that declines, and none reaches a rule that answers."""

import re
import unicodedata

import pytest

from askback.answers import Accepted, Declined
from askback.client.person import Turn
from askback.client.policy import PolicyPerson, parse_policy, rules
from askback.client.policy.rules import is_like, resembles
from askback.errors import Unanswered
from askback.schema.secret_lint.lexicon import look_alikes
from askback.testing import ScriptedPerson, decline
from tests.client.turns import make_form
from tests.support.corpus import corpus
from tests.support.defence import with_and_without

pytestmark = pytest.mark.anyio

NIGHT = """
[[rule]]
message = "*delete*"
decline = true
[[rule]]
tool = "drop_*"
decline = true
[[rule]]
fields = ["confirm_wipe"]
decline = true
[[rule]]
message = "*удалить*"
decline = true
[[rule]]
message = "*remove*"
decline = true
[[rule]]
server = "pizzeria"
answer = {}
"""
"""What is dangerous is declined first; all else of this server is answered."""

DELETE = {
    "capitals": "DELETE all orders?",
    "Cyrillic": "Shall I dеlеtе all orders?",
    "Greek": "Shall I δ εlete? No: dεlετε all orders?",
    "full width": "Shall I ｄｅｌｅｔｅ all orders?",
    "bold": "Shall I 𝐝𝐞𝐥𝐞𝐭𝐞 all orders?",
    "circled": "Shall I ⓓⓔⓛⓔⓣⓔ all orders?",
    "white on black": "Shall I 🅳🅴🅻🅴🆃🅴 all orders?",
    "flags": "Shall I 🇩\u200b🇪\u200b🇱\u200b🇪\u200b🇹\u200b🇪 all orders?",
    "Cherokee": "Shall I ᎠᎬᏞᎬᎢᎬ all orders?",
    "Lisu": "Shall I ꓓꓰꓡꓰꓔꓰ all orders?",
    "small capitals": "Shall I ᴅᴇʟᴇᴛᴇ all orders?",
    "accents": "Shall I délète all orders?",
    "combining marks": "Shall I d\u0336e\u0336l\u0336e\u0336t\u0336e\u0336 all orders?",
    "zero width": "Shall I de\u200blete all orders?",
    "soft hyphen": "Shall I del\u00adete all orders?",
    "turned around": "Shall I de\u202d\u202clete all orders?",
    "tags": "Shall I dele\U000e0074te all orders?",
    "word joiner": "Shall I d\u2060elete all orders?",
    "Hangul filler": "Shall I del\u3164ete all orders?",
    "a digit": "Shall I de1ete all orders?",
    "digits": "Shall I d3l3t3 all orders?",
    "a bar": "Shall I de|ete all orders?",
    "a capital I": "Shall I deIete all orders?",
    "Cyrillic capital I": "Shall I deІete all orders?",
    "Greek capital I": "Shall I deΙete all orders?",
    "Roman numeral": "Shall I deⅠete all orders?",
    "small Cherokee": "Shall I ꭰꭼꮮꭼꭲꭼ all orders?",
    "small Cherokee and a Greek capital": "Shall I rꭼΜoνꭼ all orders?",
    "small Coptic": "Shall I ⲇⲉⳑⲉⲧⲉ all orders?",
    "a click": "Shall I deǀete all orders?",
    "a divider": "Shall I de∣ete all orders?",
    "a halfwidth line": "Shall I de￨ete all orders?",
    "a paseq": "Shall I de׀ete all orders?",
    "an estimate": "Shall I d℮lete all orders?",
    "letters of phonetics": "Shall I dꬲlətɘ all orders?",
    "an open capital": "Shall I dƐlete all orders?",
    "a Braille blank": "Shall I de\u2800lete all orders?",
    "a small letter above": "Shall I d\u0364lete all orders?",
    "a letter of Tifinagh": "Shall I deⵏete all orders?",
    "a syllable of Canada": "Shall I ᑯelete all orders?",
    "a letter of Hebrew": "Shall I deןete all orders?",
    "a letter of Arabic": "Shall I deاete all orders?",
    "a rune": "Shall I deᛁete all orders?",
    "Old Italic": "Shall I de𐌠ete all orders?",
    "a sign of logic": "DELE⊤E all orders?",
    "a sign of sets": "D⋿LETE all orders?",
    "letters with hooks and bars": "Shall I ɗɇɫɇƭɇ all orders?",
    "a middle dot": "Shall I deŀete all orders?",
    "turned letters": "Shall I dǝlǝʇǝ all orders?",
    "signs of money": "Shall I DɆⱠ€₮€ all orders?",
    "a dagger": "Shall I dele†e all orders?",
    "a drawn line": "Shall I de│ete all orders?",
    "a bar of a dingbat": "Shall I de❘ete all orders?",
    "a broken bar": "Shall I de¦ete all orders?",
    "Han and Bopomofo": "Shall I ᗪ乇ㄥ乇ㄒ乇 all orders?",
    "letters that look more like others": "Shall I ԃҽʅҽƚҽ all orders?",
    "a letter above, of medieval manuscripts": "Shall I de\u1dddete all orders?",
    "two letters for one": "Shall I rernove all orders?",
    "Russian capitals": "УДАЛИТЬ заказы?",
    "Russian in Latin letters": "Удaлить заказы?",
}


def policy() -> PolicyPerson:
    return PolicyPerson(parse_policy(NIGHT, file="night.toml"))


DISGUISED: dict[str, Turn] = {
    **{name: make_form(message=message) for name, message in DELETE.items()},
    "a tool in Cyrillic": make_form(purpose="tool drор_table"),
    "a tool in capitals": make_form(purpose="tool DROP_table"),
    "a field with l for i": make_form(
        {"type": "object", "properties": {"confirm_wlpe": {"type": "boolean", "title": "Sure?"}}}
    ),
    "a field with a small letter above": make_form(
        {"type": "object", "properties": {"c\u0366nfirm_wipe": {"type": "boolean", "title": "Sure?"}}}
    ),
    "a field in Cyrillic": make_form(
        {"type": "object", "properties": {"соnfirm_wipe": {"type": "boolean", "title": "Sure?"}}}
    ),
}


@pytest.mark.verifies("T07", "T14")
@with_and_without
@corpus("disguise", DISGUISED)
async def test_no_disguise_gets_around_a_rule_that_declines(
    disguise: str, monkeypatch: pytest.MonkeyPatch, is_defended: bool
):
    if not is_defended:
        monkeypatch.setattr(rules, "resembles", is_like)
        monkeypatch.setattr(rules, "are_alike", str.__eq__)
    answer = await policy().answer(DISGUISED[disguise])
    assert isinstance(answer, Declined if is_defended else Accepted)


@pytest.mark.verifies("T07")
async def test_a_rule_that_leaves_it_to_a_person_is_not_got_around_either():
    asks = "[[rule]]\nmessage = '*delete*'\nask = true\n[[rule]]\nserver = 'pizzeria'\nanswer = {}"
    somebody = ScriptedPerson([decline()])
    followed = PolicyPerson(parse_policy(asks, file="night.toml"), somebody)
    assert await followed.answer(make_form(message=DELETE["Cyrillic"])) == Declined()
    somebody.finish()


@pytest.mark.verifies("T07")
@corpus(
    "message",
    [
        "order pizza?",
        "Оrder pizza?",
        "ⵔrder pizza?",
        "Order pɨzza?",
        "Ｏrder pizza?",
        "Or\u200bder pizza?",
        "0rder pizza?",
        "Order  pizza?",
    ],
)
async def test_a_rule_that_answers_takes_no_letter_for_another(message: str):
    answers = "[[rule]]\nserver = 'pizzeria'\nmessage = 'Order pizza?'\nanswer = {}"
    followed = PolicyPerson(parse_policy(answers, file="night.toml"))
    assert isinstance(await followed.answer(make_form(message="Order pizza?")), Accepted)
    with pytest.raises(Unanswered):
        await followed.answer(make_form(message=message))


@corpus(
    "message",
    [
        "Select all orders?",
        "Shall I complete the order?",
        "Anything with your pizza?",
        "Löschen?",
        "list files",
    ],
)
async def test_other_words_are_not_declined(message: str):
    assert isinstance(await policy().answer(make_form(message=message)), Accepted)


@corpus(
    ("text", "pattern"),
    [
        ("Order 12 pizzas?", "Order * pizzas?"),
        ("Order a  pizza?", "Order a pizza?"),
        ("ORDER a\u00a0pizza?", "order a pizza?"),
        ("ΔΙΑΓΡΑΦΗ όλων", "διαγραφή*"),
        ("Return?", "*return*"),
        ("kiII it", "kill it"),
        ("k1l1 it", "kill it"),
        ("dIsabIe it", "disable it"),
        ("de1ete 5 rows", "delete 5 rows"),
        ("delete\u2800all", "delete all"),
        ("de\u0364lete", "delete"),
    ],
)
def test_a_pattern_keeps_its_stars(text: str, pattern: str):
    assert resembles(text, pattern)
    assert not resembles(f"{text} and", pattern.rstrip("*") + "!")


@pytest.mark.verifies("T07")
@corpus("section", ["letters", "drawn"])
def test_every_look_alike_of_the_table_is_seen_through(section: str):
    table = look_alikes(section)
    assert len(table) > 500
    assert not [twin for twin, plain in table.items() if not resembles(f"do {twin} it", f"do {plain} it")]


@pytest.mark.verifies("T07")
def test_a_latin_letter_is_still_itself_with_a_hook_a_stroke_or_turned():
    named = re.compile(
        r"LATIN (?:SMALL|CAPITAL) LETTER (?:TURNED |REVERSED )?([A-Z])(?: WITH (?!SMALL LETTER).*)?"
    )
    letters = {twin: named.fullmatch(unicodedata.name(twin, "")) for twin in map(chr, range(0x80, 0xA7C0))}
    found = {twin: name[1] for twin, name in letters.items() if name}
    assert not [twin for twin, plain in found.items() if not resembles(twin, plain)]
    assert len(found) > 700


def test_a_rule_about_a_sign_is_not_about_letters():
    assert resembles("It costs 5 €", "*€*")
    assert not resembles("Shall I order the pizza?", "*€*")
    assert not resembles("Shall I order the pizza?", "*#*")


@corpus(
    ("text", "pattern"), [("Yes, send it", "*5*"), ("Io e te", "*10*"), ("Stop", "*$*"), ("Sold out", "*50*")]
)
def test_a_digit_in_a_rule_means_itself(text: str, pattern: str):
    assert not resembles(text, pattern)


@pytest.mark.timeout(30)
@pytest.mark.verifies("T19")
def test_a_long_text_takes_no_longer_than_it_is_long():
    assert not resembles("dеlеt " * 50_000, "*d*e*l*e*t*e*!")
