"""StarE's decoder as published: `mean over 14 positions of Transformer([x_given, r, r_1, x_1, ..., r_6, x_6] + positions)`.

Questions have at most six qualifiers, further ones are cut off; shorter questions are padded, and the padding, which
attends to the tokens but is not attended to, is averaged like them. Only subject or object may be blank.
Letters: B questions, G questions of a group, D width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.encoders import Table
from hyperheat.kg.neural.questions import Tokens

__all__ = ["StareDecoder", "StareReader"]

_QUALIFIERS = 6
_POSITIONS = 2 + 2 * _QUALIFIERS


@dataclass(frozen=True, kw_only=True)
class StareDecoder:
    """The published sizes."""

    layers: int = 2
    heads: int = 4
    ff: int = 512
    dropout: float = 0.1


class StareReader(nn.Module):
    """The published decoder."""

    def __init__(self, config: StareDecoder, dim: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, config.heads, config.ff, config.dropout, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        self.padding = nn.Parameter(torch.zeros(1, dim))
        self.position = nn.Parameter(nn.init.xavier_normal_(torch.empty(_POSITIONS, dim)))
        self.out = nn.Linear(dim, dim)

    def forward(self, table: Table, tokens: Tokens[Tensor]) -> Tensor:
        """The vector of each question [B, D]."""
        rows = torch.cat([*table, self.padding])
        entry = _positions(tokens, len(table.entities), len(rows) - 1)  # [B, 14]
        padded = entry == len(rows) - 1
        return self.out(
            self.layers(F.embedding(entry, rows) + self.position, src_key_padding_mask=padded).mean(1)
        )


def _positions(tokens: Tokens[Tensor], num_entities: int, padding: int) -> Tensor:
    """The rows of the table at the 14 positions of each question."""
    sizes = [questions * length for questions, length in tokens.groups]
    groups = []
    for entry, role, shape in zip(
        tokens.entry.split(sizes), tokens.role.split(sizes), tokens.groups, strict=True
    ):
        entry, role = entry.view(shape), role.view(shape)
        relation, subject, object_ = entry[:, :3].unbind(1)
        given = torch.where(subject == padding, object_, subject)  # the blank has the row that padding has
        pairs = torch.stack([num_entities + role[:, 3:] - 3, entry[:, 3:]], dim=2)[:, :_QUALIFIERS]
        line = torch.cat([given[:, None], relation[:, None], pairs.flatten(1)], dim=1)
        groups.append(F.pad(line, (0, _POSITIONS - line.shape[1]), value=padding))
    return torch.cat(groups)
