"""The page's own files."""

import re
from collections import Counter
from importlib.resources import files

SENTENCE = re.compile(r'["`]([A-Z][^"`\n]{24,})["`]')


def test_no_sentence_stands_in_two_places_of_the_page():
    page = files("askback.client.desk") / "page"
    scripts = [one.read_text() for one in page.iterdir() if one.name.endswith(".js")]
    found = Counter(sentence for script in scripts for sentence in SENTENCE.findall(script))
    assert len(found) > 3
    assert [sentence for sentence, times in found.items() if times > 1] == []
