import pytest
import torch

from hyperheat.nn.fast.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.2, 0.5, 0.999])
def test_entries_are_dropped_and_scaled(p):
    torch.manual_seed(1)
    x = torch.full((301, 333), 2.0, dtype=torch.float64, requires_grad=True)
    y = Dropout(p)(x)
    dropped = min(round(256 * p), 255) / 256
    kept = y != 0
    share = 1 - kept.double().mean().item()
    assert share == pytest.approx(dropped, abs=4 * (dropped * (1 - dropped) / x.numel()) ** 0.5)
    assert torch.allclose(y[kept], torch.tensor(2 / (1 - dropped), dtype=torch.float64))
    y.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, kept.double() / (1 - dropped))


def test_neither_rows_nor_columns_drop_together():
    torch.manual_seed(2)
    kept = (Dropout(0.5)(torch.ones(2048, 16)) != 0).double()
    assert torch.corrcoef(kept.T).fill_diagonal_(0).abs().max() < 0.12


def test_it_is_repeatable_and_off_when_it_should_be():
    x = torch.randn(5, 3)
    masks = []
    for _ in range(2):
        torch.manual_seed(3)
        masks.append(Dropout(0.5)(x))
    assert torch.equal(*masks)
    assert Dropout(0.0)(x) is x
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.5)(x.bfloat16()).dtype == torch.bfloat16
    assert Dropout(0.5)(torch.zeros(0, 4)).shape == (0, 4)
    with pytest.raises(ValueError, match="p: expected a number from 0 up to 1, got 1"):
        Dropout(1)
