"""What the solutions compute is what `transformers` and its tokenizers compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import torch
from transformers import BertConfig, BertModel

from insidebert.corpus import load_corpus
from insidebert.wordpiece import attempts

SOLUTION = Path(__file__).parents[1] / "solutions" / "input_representation" / "input_representation.ipynb"


def solved(*names: str) -> list[Any]:
    """The functions of the solution, from its cells that import and its cells that answer."""
    cells = [cell.source for cell in nbformat.read(SOLUTION, as_version=4).cells if cell.cell_type == "code"]
    namespace: dict[str, Any] = {}
    for source in cells:
        if "BEGIN SOLUTION" in source or source.startswith(("import ", "from ")):
            exec(source, namespace)
    return [namespace[name] for name in names]


def words_of_the_corpus(tokenizer: Any, number: int) -> list[str]:
    """Distinct words as the tokenizer sees them: lower case, without accents, split at punctuation."""
    backend = tokenizer.backend_tokenizer
    sentences = (sentence for document in load_corpus(progress=False) for sentence in document)
    found: set[str] = set()
    for sentence in sentences:
        cut = backend.pre_tokenizer.pre_tokenize_str(backend.normalizer.normalize_str(sentence))
        found.update(word for word, _ in cut)
        if len(found) >= number:
            break
    return sorted(found)[:number]


def test_wordpiece_cuts_ten_thousand_words_of_the_corpus_as_the_tokenizer_does(tokenizer: Any) -> None:
    (wordpiece,) = solved("wordpiece")
    vocabulary = tokenizer.get_vocab()
    words = words_of_the_corpus(tokenizer, 10_000)
    assert len(words) == 10_000
    for word in words:
        pieces = tokenizer.tokenize(word)
        assert wordpiece(word, vocabulary) == pieces
        if pieces != [tokenizer.unk_token]:
            assert [piece for piece, found in attempts(word, vocabulary) if found] == pieces


def test_embed_gives_the_embeddings_of_transformers() -> None:
    (embed,) = solved("embed")
    torch.manual_seed(0)
    bert = BertModel(BertConfig(num_hidden_layers=1)).eval().embeddings
    input_ids = torch.randint(0, 30_522, (4, 512))
    token_type_ids = (torch.arange(512) > 200).long().expand(4, -1)
    ours = embed(
        input_ids,
        token_type_ids,
        bert.word_embeddings,
        bert.position_embeddings,
        bert.token_type_embeddings,
        bert.LayerNorm,
    )
    torch.testing.assert_close(ours, bert(input_ids, token_type_ids), atol=1e-6, rtol=0)
