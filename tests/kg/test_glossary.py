"""Names as people write them."""

import pytest

from hyperheat.kg.glossary import AmbiguousName, Glossary, UnknownName

IDS = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6")
LABELS = {"Q1": "Albert Einstein", "Q2": "Paris", "Q3": "Paris", "Q4": "paris", "Q5": "Zürich  HB"}
GLOSSARY = Glossary("entity", IDS, LABELS)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("Q1", "Q1"),
        ("q1", "Q1"),
        ("Albert Einstein", "Q1"),
        ("  albert  EINSTEIN ", "Q1"),
        ("zürich hb", "Q5"),
        ("Zu\u0308rich HB", "Q5"),
        ("paris", "Q4"),  # written exactly so
        ("Q6", "Q6"),
    ],
)
def test_ids_and_labels_in_any_case(text: str, id: str):
    assert IDS[GLOSSARY.find(text)] == id


def test_shared_labels_are_listed():
    with pytest.raises(
        AmbiguousName,
        match=r"ambiguous entity 'Paris': it is the label of Paris \(Q2\), Paris \(Q3\); use the id",
    ):
        GLOSSARY.find("Paris")
    with pytest.raises(
        AmbiguousName,
        match=r"Paris \(Q2\), Paris \(Q3\), paris \(Q4\); use the id",
    ):
        GLOSSARY.find("PARIS")


@pytest.mark.parametrize("text", ["Einstein", "Albrt Einstien", "albert einstein "])
def test_near_names_are_suggested(text: str):
    assert GLOSSARY.show(GLOSSARY.near(text)[0]) == "Albert Einstein (Q1)"


def test_a_miss_says_what_is_near():
    with pytest.raises(
        UnknownName, match=r"unknown entity 'Einstein'; did you mean Albert Einstein \(Q1\)\?$"
    ):
        GLOSSARY.find("Einstein")
    with pytest.raises(UnknownName, match=r"^unknown entity 'xyzzy'$"):
        GLOSSARY.find("xyzzy")
    with pytest.raises(UnknownName, match="unknown entity ''"):
        GLOSSARY.find("")


def test_a_name_without_a_label_is_its_id():
    assert GLOSSARY.show(5) == "Q6"
    assert GLOSSARY.label(5) is None
