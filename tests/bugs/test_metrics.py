import numpy as np
import pytest

from hyperheat.bugs.metrics import Answers, measure, measure_by_kind, precision_recall, recall_at_alarms
from hyperheat.detector.sample import NO_BUG


def answers(rows):
    """Rows of (kind, read, alarm, located, repaired, probability, confidence, finding)."""
    columns = list(zip(*rows, strict=True))
    return Answers(
        kind=np.array(columns[0]),
        read=np.array(columns[1], bool),
        alarm=np.array(columns[2], bool),
        located=np.array(columns[3], bool),
        repaired=np.array(columns[4], bool),
        probability=np.array(columns[5], float),
        confidence=np.array(columns[6], float),
        finding=np.array(columns[7], bool),
        loss=np.ones(len(rows)),
    )


ROWS = [
    (NO_BUG, 1, 0, 1, 0, 0.9, 0.05, 0),  # rightly no bug
    (NO_BUG, 1, 1, 0, 0, 0.6, 0.50, 0),  # false alarm
    (0, 1, 1, 1, 1, 0.8, 0.70, 1),  # found and repaired
    (0, 1, 1, 1, 0, 0.8, 0.40, 0),  # found, wrong repair
    (2, 1, 0, 0, 1, 0.7, 0.20, 1),  # missed, but would have been repaired
    (2, 0, 0, 0, 0, 0.0, 0.00, 0),  # could not be read
]


def test_the_figures_of_the_paper():
    metrics = measure(answers(ROWS))
    assert (metrics.samples, metrics.buggy, metrics.unread) == (6, 4, 1)
    assert metrics.joint == pytest.approx(2 / 6)
    assert metrics.loc == pytest.approx(3 / 6)
    assert metrics.repair == pytest.approx(2 / 4)
    assert metrics.false_alarms == pytest.approx(1 / 2)


def test_what_could_not_be_read_is_wrong_whatever_the_columns_say():
    metrics = measure(answers([(NO_BUG, 0, 1, 1, 0, 1, 1, 0), (0, 0, 1, 1, 1, 1, 1, 1)]))
    assert (metrics.joint, metrics.loc, metrics.repair) == (0, 0, 0)
    assert (metrics.false_alarms, metrics.ece) == (None, None)  # silence is no merit


def test_recall_at_some_alarms_in_clean_functions():
    clean = answers([(NO_BUG, 1, 0, 1, 0, 0.9, number / 200, 0) for number in range(200)])
    bugs = answers(
        [
            (0, 1, 1, 1, 1, 0.9, 0.996, 1),  # surer than all clean functions
            (0, 1, 1, 1, 1, 0.9, 0.97, 1),  # six of them, 30 per 1,000, are as sure
            (0, 1, 1, 1, 0, 0.9, 0.999, 0),  # the wrong repair
            (2, 0, 0, 0, 0, 0.0, 0.999, 1),  # could not be read
            (NO_BUG, 1, 1, 0, 0, 0.6, 0.99, 0),  # no bug
        ]
    )
    expected = {100: 2 / 4, 30: 2 / 4, 10: 1 / 4, 3: None, 1: None}  # one alarm is 5 per 1,000
    assert recall_at_alarms(bugs, clean) == expected


def test_findings_count_whatever_no_bug_says():
    metrics = measure(answers(ROWS))
    assert metrics.found == pytest.approx(2 / 4)
    assert metrics.quiet == pytest.approx(1 / 4)  # one of the two is surer than the false alarm


def test_one_clean_sample_in_a_hundred_may_be_louder():
    clean = [(NO_BUG, 1, 0, 1, 0, 0.9, confidence / 1000, 0) for confidence in range(200)]
    loud = [(NO_BUG, 1, 1, 0, 0, 0.9, 0.9, 0)] * 2
    bugs = [(0, 1, 1, 1, 1, 0.8, confidence, 1) for confidence in (0.199, 0.2)]
    assert measure(answers([*clean, *bugs])).quiet == pytest.approx(1)
    assert measure(answers([*clean, *loud, *bugs])).quiet == pytest.approx(1 / 2)
    assert measure(answers(clean)).quiet is None
    assert measure(answers(bugs)).quiet is None


def test_calibration_error():
    # Bin of 0.8: 2 samples, both right: |2 - 1.6| ; bin of 0.6: 1 sample, wrong: 0.6. All over 3.
    rows = [
        (0, 1, 1, 1, 1, 0.8, 0, 0),
        (0, 1, 1, 1, 1, 0.8, 0, 0),
        (0, 1, 1, 0, 1, 0.6, 0, 0),
    ]
    assert measure(answers(rows)).ece == pytest.approx((0.4 + 0.6) / 3)


def test_each_kind_has_its_figures():
    by_kind = measure_by_kind(answers(ROWS))
    assert set(by_kind) == {"clean", "variable-misuse", "comparison-operator"}
    assert by_kind["variable-misuse"].joint == pytest.approx(1 / 2)
    assert by_kind["variable-misuse"].false_alarms is None
    assert by_kind["clean"].repair is None


def test_precision_and_recall_over_the_threshold():
    curve = precision_recall(answers([*ROWS, (0, 1, 1, 1, 1, 0.5, 0.50, 1)]))
    assert curve.threshold.tolist() == [0.7, 0.5, 0.4, 0.2, 0.05]
    assert curve.shown.tolist() == [1, 3, 4, 5, 6]  # equal confidences come together
    assert curve.precision == pytest.approx([1, 2 / 3, 2 / 4, 3 / 5, 3 / 6])
    assert curve.recall == pytest.approx([1 / 5, 2 / 5, 2 / 5, 3 / 5, 3 / 5])


def test_nothing_is_measured_on_nothing():
    empty = answers(ROWS).select(np.zeros(6, bool))
    assert measure(empty).joint is None
    assert len(precision_recall(empty).threshold) == 0
