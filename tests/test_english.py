"""General English from two dictionaries and a book of quotations, laid out as Debian's packages lay them out."""

from __future__ import annotations

import gzip
import json

import pytest

from insidebert import pretrain
from insidebert.english import load_english

SYNSETS = {
    "noun": [
        '00000001 05 n 02 hound 0 hunting_dog 0 000 | a dog that hunts by smell; "the hound found a fox"  ',
        "00000002 05 n 01 Rex 0 001 @ 0000 n 0000 | the name of a king among dogs  ",
    ],
    "verb": [
        '00000003 30 v 01 bark 0 001 @ 0000 v 0000 01 + 02 00 | make a loud short noise; "the dogs barked"  '
    ],
    "adj": ["00000004 00 a 01 loud(p) 0 001 & 0000 a 0000 | full of noise  "],
    "adv": ['00000005 02 r 01 loudly 0 000 | "he spoke so loudly that all heard it"  '],
}
DICTIONARY = """Preface of the dictionary that is no entry

Abbey \\Ab"bey\\, n. [OF. abaie, L. [of a kind] abbatia.]
   1. A society of persons living apart from the world; as, an
      abbey in the hills. --Shak.
      [1913 Webster]

   2. (Arch.) The church of such a society.
      [1913 Webster]

Ab \\Ab\\
   Too short.
"""
FORTUNE = "A long journey begins with one step and a pair of good shoes.\n\t\t-- Somebody\n%\nToo short.\n%\n"


@pytest.fixture
def packages(tmp_path):
    (tmp_path / "wordnet").mkdir()
    (tmp_path / "dictd").mkdir()
    fortunes = tmp_path / "games" / "fortunes"
    fortunes.mkdir(parents=True)
    for kind, lines in SYNSETS.items():
        licence = "  1 This is a licence | with a bar in it  \n"
        (tmp_path / "wordnet" / f"data.{kind}").write_text(licence + "\n".join(lines), encoding="latin-1")
    with gzip.open(tmp_path / "dictd" / "gcide.dict.dz", "wt", encoding="utf-8") as file:
        file.write(DICTIONARY)
    for name in pretrain.load_english.__globals__["FORTUNES"]:
        (fortunes / name).write_text(FORTUNE, encoding="utf-8")
    return tmp_path


def sentences(root):
    documents = [*load_english(root=root), *load_english("held_out", root=root)]
    return {sentence for document in documents for sentence in document}


def test_entries_become_sentences(packages):
    found = sentences(packages)
    assert {
        "a hound is a dog that hunts by smell, also called hunting dog.",
        "the hound found a fox.",
        "Rex is the name of a king among dogs.",
        "to bark is to make a loud short noise.",
        "the dogs barked.",
        "loud means full of noise.",
        "he spoke so loudly that all heard it.",
        "abbey: a society of persons living apart from the world; as, an abbey in the hills.",
        "The church of such a society.",
        "A long journey begins with one step and a pair of good shoes.",
    } == found


def test_no_document_is_in_both_splits(packages):
    train = {tuple(document) for document in load_english(root=packages)}
    held_out = {tuple(document) for document in load_english("held_out", root=packages)}
    assert len(train) + len(held_out) >= 3
    with pytest.raises(ValueError, match="no split"):
        load_english("test", root=packages)


def test_text_that_is_not_installed_is_named_with_the_cure(tmp_path):
    with pytest.raises(FileNotFoundError, match="apt-get install wordnet-base"):
        load_english(root=tmp_path)


def test_the_embedded_encoder_goes_on_learning_and_is_resumed(tmp_path, monkeypatch, capsys):
    dogs = [
        [f"the dog number {n} barks at the {thing}." for n in range(12)] for thing in ("moon", "cat", "car")
    ]
    monkeypatch.setattr(pretrain, "load_corpus", lambda *_, **__: dogs)
    monkeypatch.setattr(pretrain, "load_english", lambda *_, **__: dogs)
    words = [
        "--from-embedded",
        "--batch-size",
        "2",
        "--max-length",
        "24",
        "--first-epochs",
        "0",
        "--warmup",
        "1",
    ]
    run = [*words, "--decay", "1", "--save-every", "1", "--quiet", "--out", str(tmp_path)]
    assert pretrain.main([*run, "--steps", "2"]) == 0
    assert pretrain.main([*run, "--steps", "3", "--resume"]) == 0
    lines = (tmp_path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 1, 2]
    figures = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert figures.keys() >= {"mlm_top1", "nsp_accuracy", "general"}
    assert figures["general"].keys() >= {"mlm_top1", "nsp_accuracy"}
    # The heads read the encoder from the first step: far better than guessing among 30,522 pieces (10.3 nats).
    assert json.loads(lines[0])["mlm"] < 9.5
