"""Optional packages: a missing one is named with the extra that installs it."""

import json

import pytest

from hyperheat.extras import require


def test_a_package_that_is_there():
    assert require("json", extra="train") is json


def test_a_missing_package_names_its_extra():
    with pytest.raises(
        ImportError, match=r"^no_such_package is needed here .*'hyperheat\[train\]'$"
    ) as caught:
        require("no_such_package.inside", extra="train")
    assert caught.value.name == "no_such_package"
