"""The first question of a process opens no file: that would hold up everybody else on the event loop."""

import subprocess
import sys

FIRST_QUESTION = """
import sys
from askback.schema.forms import form_of
import askback

opened = []
sys.addaudithook(lambda event, given: opened.append(given[0]) if event == "open" else None)
form_of("What is your n\\u0430me?", str)
print(opened)
"""


def test_a_question_opens_no_file() -> None:
    ran = subprocess.run([sys.executable, "-c", FIRST_QUESTION], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]", ran.stdout
