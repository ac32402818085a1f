"""Statements that are held out: a share, whole triples, and no last statement of a name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kg.neural_data import dataset, random_statements

from hyperheat.kg import Statement, Statements
from hyperheat.kg.audit import has_equal_triple
from hyperheat.kg.splitting import hold_out


def whole(statements: Statements):
    return dataset(statements, statements[:0], statements[:0])


@given(st.integers(0, 50), st.floats(0.05, 0.6))
def test_what_is_held_out_is_fresh_and_made_of_known_names(seed, share):
    statements = random_statements(60, entities=12, relations=4, seed=seed)
    split = hold_out(whole(statements), share, seed=seed)
    assert 0 < len(split.test) <= round(share * 60)
    assert sorted(map(str, split.every())) == sorted(map(str, statements))
    assert not has_equal_triple(split.train, split.test).any()
    for held, kept in (
        (split.test.memberships()[1], split.train.memberships()[1]),
        (
            np.concatenate([split.test.relation, split.test.qualifier]),
            np.concatenate([split.train.relation, split.train.qualifier]),
        ),
    ):
        assert np.isin(held, kept).all()


def test_the_share_is_reached_where_names_allow_it():
    statements = random_statements(200, entities=20)
    assert len(hold_out(whole(statements), 0.1).test) == 20
    assert hold_out(whole(statements), 0.1).test == hold_out(whole(statements), 0.1).test
    assert hold_out(whole(statements), 0.1, seed=1).test != hold_out(whole(statements), 0.1).test


def test_what_cannot_be_held_out_is_said():
    lonely = Statements.build([Statement("a", "r", "b"), Statement("c", "r", "d")])
    with pytest.raises(ValueError, match="hold_out: no statement of made up can be held out"):
        hold_out(whole(lonely), 0.5)
    with pytest.raises(ValueError, match="hold_out: expected a share between 0 and 1, got 1"):
        hold_out(whole(lonely), 1)
    with pytest.raises(ValueError, match="made up has a test split of 1 statements already"):
        hold_out(dataset(lonely[:1], lonely[:0], lonely[1:]), 0.5)
