"""The published BERT and ALBERT shapes, as `transformers` configurations. Nothing is downloaded.

V vocabulary · H hidden · I intermediate (feed-forward) · L layers · A attention heads · E embedding (ALBERT)

Sources: BERT base and large, Devlin et al. 2019 (arXiv 1810.04805), sec. 3; the small models, Turc et al.
2019 (arXiv 1908.08962); ALBERT, Lan et al. 2020 (arXiv 1909.11942), table 1. Vocabulary sizes are
those of the released vocabulary files. Every published BERT has I = 4H, 64 numbers per head, 512 positions
and 2 segments.
"""

from __future__ import annotations

from typing import Any

from transformers import AlbertConfig, BertConfig, PretrainedConfig

UNCASED, CASED, ALBERT_VOCABULARY = 30_522, 28_996, 30_000

_BERT: dict[str, tuple[int, int, int]] = {  # name: (V, H, L)
    "bert-tiny": (UNCASED, 128, 2),
    "bert-mini": (UNCASED, 256, 4),
    "bert-small": (UNCASED, 512, 4),
    "bert-medium": (UNCASED, 512, 8),
    "bert-base-uncased": (UNCASED, 768, 12),
    "bert-base-cased": (CASED, 768, 12),
    "bert-large-uncased": (UNCASED, 1024, 24),
    "bert-large-cased": (CASED, 1024, 24),
}
_ALBERT: dict[str, tuple[int, int, int]] = {
    "albert-base-v2": (ALBERT_VOCABULARY, 768, 12),
    "albert-large-v2": (ALBERT_VOCABULARY, 1024, 24),
}
NAMES: tuple[str, ...] = (*_BERT, *_ALBERT)


def published(name: str) -> PretrainedConfig:
    """A fresh configuration with the published shape of `name`; it is yours to change.

    Returns a `BertConfig` or an `AlbertConfig`. A name that is not in `NAMES` is a `ValueError` that lists
    them.
    """
    if name in _BERT:
        return BertConfig(**_shape(*_BERT[name]))
    if name in _ALBERT:
        shape = _shape(*_ALBERT[name]) | {"embedding_size": 128}
        # The second release of ALBERT trains without dropout.
        return AlbertConfig(**shape, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    raise ValueError(f"No published shape is called {name!r}. Choose one of: {', '.join(NAMES)}.")


def _shape(vocab: int, hidden: int, layers: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // 64,
        "intermediate_size": 4 * hidden,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
    }
