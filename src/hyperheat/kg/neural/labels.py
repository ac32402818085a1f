"""Natural-language labels as vectors: the sum of the vectors of their byte-pair tokens.

It is added to the vector of the id, or stands instead. Ids such as Q937 are never split: an entity without a label is
its id alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.tensors.collation import as_strings

__all__ = ["BpeLabels", "LabelVectors", "NoLabels", "train_tokenizer"]


@dataclass(frozen=True, kw_only=True)
class NoLabels:
    """Labels are not read: entities and relations are ids."""


@dataclass(frozen=True, kw_only=True)
class BpeLabels:
    """Labels are split into byte-pair tokens and sum-pooled."""

    tokens: int = 8_000
    beside_ids: bool = True
    """Whether the vector of the id is added; if not, as in the paper, it stands only for what has no label."""


def train_tokenizer(texts: Sequence[str], config: BpeLabels) -> str:
    """Learn byte pairs from texts; the tokenizer as JSON."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=config.tokens,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.to_str()


class LabelVectors(nn.Module):
    """Vectors of names by their labels; zero where there is none."""

    def __init__(self, tokenizer: str, names: Sequence[str], labels: Mapping[str, str], dim: int) -> None:
        super().__init__()
        from tokenizers import Tokenizer

        self._tokenizer = tokenizer
        size = Tokenizer.from_str(tokenizer).get_vocab_size()
        self.token = nn.EmbeddingBag(size, dim, mode="sum", include_last_offset=True)
        nn.init.normal_(self.token.weight, std=dim**-0.5)
        tokens, offsets = self._split([labels.get(name, "") for name in names])
        self.register_buffer("tokens", tokens, persistent=False)
        self.register_buffer("offsets", offsets, persistent=False)

    def forward(self, rows: Tensor | None = None) -> Tensor:
        """The vectors of all names, or of those in some rows."""
        tokens, offsets = self.get_buffer("tokens"), self.get_buffer("offsets")
        if rows is not None:
            starts = offsets[rows]
            sizes = offsets[rows + 1] - starts
            offsets = F.pad(sizes.cumsum(0), (1, 0))
            places = torch.arange(int(offsets[-1]), device=rows.device)
            tokens = tokens[places + (starts - offsets[:-1]).repeat_interleave(sizes)]
        return self.token(tokens, offsets)

    def first(self, ids: Tensor, rows: Tensor | None = None, *, beside_ids: bool) -> Tensor:
        """First vectors, from those of the ids [N, D] or [2N, D] of all names or of some rows, in the same order."""
        vectors = self(rows)
        copies = len(ids) // len(vectors)
        vectors = vectors.repeat(copies, 1)
        if beside_ids:
            return ids + vectors
        is_named = self.get_buffer("offsets").diff() > 0
        is_named = (is_named if rows is None else is_named[rows]).repeat(copies)
        return torch.where(is_named[:, None], vectors, ids)

    def of(self, texts: Sequence[str]) -> Tensor:
        """The vectors of other labels."""
        device = self.token.weight.device
        tokens, offsets = self._split(texts)
        return self.token(tokens.to(device), offsets.to(device))

    def _split(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """The tokens of all texts one after the other, and where each begins."""
        from tokenizers import Tokenizer

        encodings = Tokenizer.from_str(self._tokenizer).encode_batch(list(texts))
        strings = as_strings([tuple(encoding.ids) for encoding in encodings])
        return torch.as_tensor(strings.tokens), torch.as_tensor(np.asarray(strings.owner.offsets))
