"""Our resolution of calls beside jedi's, on a small sample; `tools/compare_jedi.py` does it on 2,000 calls."""

import pytest
from tools.compare_jedi import STDLIB, compare

FILES = ["textwrap.py", "shlex.py", "http/cookies.py", "zipapp.py", "queue.py", "sched.py", "argparse.py"]


@pytest.mark.filterwarnings("ignore")
def test_we_resolve_about_as_much_as_jedi_and_agree_with_it():
    (result,) = compare([STDLIB / name for name in FILES], 140, 0, [None])
    assert result.calls > 100
    assert result.ours >= 0.97 * result.jedi, result.only_jedi
    assert result.agreement >= 0.95, result.disagreed
