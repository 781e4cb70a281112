"""What the three tasks reach on the course's own data with the embedded encoder, over several seeds, offline.

    python benchmarks/quality.py --json quality.json

Every run starts from the same encoder and a new head, trains by the laptop's recipe and is scored on the test set
once. Entities are read with the capitals marked, as the best row of tags; answers are looked for in the two sentences
of the passage that are nearest to the question, by the same encoder before any training. The recipes, and the
threshold for "no answer", come from the validation sets. Seconds are those of training on this machine as it was: on a
busy one they say little, so CPU seconds stand beside them.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from insidebert.decoding import (
    accuracy,
    answers_from_windows,
    best_threshold,
    entity_f1,
    overlap_baseline,
    question_scores,
    tag_transitions,
    word_tags,
)
from insidebert.features import answer_windows, sentence_features, word_features
from insidebert.finetuning import (
    LAPTOP,
    Recipe,
    SequenceHead,
    SpanHead,
    TaskModel,
    TokenHead,
    fine_tune,
    keep_tables,
    over_seeds,
    predict,
)
from insidebert.shortlist import shortlist
from insidebert.sources import load_data, load_encoder, load_tokenizer


def train(model: TaskModel, recipe: Recipe, features: list[dict[str, Any]], seed: int) -> dict[str, float]:
    """Train a new model by a recipe; returns what that took."""
    begin = time.process_time()
    history = fine_tune(model, features, recipe, seed=seed)
    return {"seconds": history.seconds, "cpu_seconds": time.process_time() - begin}


def sentiment(seed: int, recipe: Recipe) -> dict[str, float]:
    data, tokenizer = load_data("sentiment", offline=True), load_tokenizer(offline=True)
    rows = {split: sentence_features(data[split], tokenizer, num_labels=2) for split in data}
    encoder = load_encoder(offline=True)
    model = TaskModel(encoder, SequenceHead(encoder.config.hidden_size, 2))
    cost = train(model, recipe, rows["train"], seed)
    score = {
        split: accuracy(predict(model, rows[split]), data[split]["label"]) for split in ("validation", "test")
    }
    return {"accuracy": score["test"], "validation": score["validation"], **cost}


def entities(seed: int, recipe: Recipe) -> dict[str, float]:
    data, tokenizer = load_data("entities", offline=True), load_tokenizer(offline=True)
    names = data["train"].features["ner_tags"].feature.names
    rows = {
        split: word_features(data[split], tokenizer, num_labels=len(names), capitals=True) for split in data
    }
    encoder = keep_tables(load_encoder(offline=True))
    model = TaskModel(encoder, TokenHead(encoder.config.hidden_size, len(names)))
    cost = train(model, recipe, rows["train"], seed)

    transitions = tag_transitions(data["train"]["ner_tags"], names)

    def score(split: str) -> tuple[float, float, float]:
        true = [[names[tag] for tag in tags] for tags in data[split]["ner_tags"]]
        scores = predict(model, rows[split])
        return entity_f1(
            true,
            [
                word_tags(s, row["labels"], len(t), names, transitions)
                for s, row, t in zip(scores, rows[split], true, strict=True)
            ],
        )

    precision, recall, f1 = score("test")
    return {"f1": f1, "precision": precision, "recall": recall, "validation": score("validation")[2], **cost}


@functools.cache
def shortlisted() -> tuple[dict[str, list], dict[str, list], dict[str, list]]:
    """Rows, rows cut down to the sentences nearest to the question, and their windows, by split."""
    data, tokenizer = load_data("question_answering", offline=True), load_tokenizer(offline=True)
    encoder = load_encoder(offline=True)
    rows = {split: data[split].to_list() for split in data}
    nearest = {
        split: shortlist(rows[split], tokenizer, encoder, keep_answer=split == "train") for split in rows
    }
    windows = {split: answer_windows(nearest[split], tokenizer, max_length=256, overlap=64) for split in rows}
    return rows, nearest, windows


def question_answering(seed: int, recipe: Recipe) -> dict[str, float]:
    rows, nearest, windows = shortlisted()
    encoder = keep_tables(load_encoder(offline=True))
    model = TaskModel(encoder, SpanHead(encoder.config.hidden_size))
    cost = train(model, recipe, windows["train"], seed)
    answers = {
        split: answers_from_windows(nearest[split], windows[split], predict(model, windows[split]))
        for split in ("validation", "test")
    }
    threshold = best_threshold(rows["validation"], answers["validation"])
    score = {
        split: question_scores(rows[split], [answer.given(threshold) for answer in answers[split]])
        for split in answers
    }
    always = question_scores(rows["test"], [answer.text for answer in answers["test"]])
    return {
        **score["test"],
        "answerable_f1_if_forced": always["answerable_f1"],  # an answer to every question
        "validation": score["validation"]["f1"],
        **cost,
    }


TASKS = {
    "sentiment": (sentiment, "accuracy"),
    "entities": (entities, "f1"),
    "question_answering": (question_answering, "f1"),
}


def references() -> dict[str, dict[str, float]]:
    """What needs no model: naming one class, naming no entity, the sentence with most shared words, no answer."""
    labels = load_data("sentiment", offline=True)["test"]["label"]
    questions = load_data("question_answering", offline=True)["test"].to_list()
    nearest = [overlap_baseline(row["context"], row["question"]) for row in questions]
    return {
        "sentiment": {"majority": max(sum(labels), len(labels) - sum(labels)) / len(labels)},
        "entities": {"none": 0.0},
        "question_answering": {
            "overlap": question_scores(questions, nearest)["f1"],
            "overlap_answerable": question_scores(questions, nearest)["answerable_f1"],
            "never": question_scores(questions, [""] * len(questions))["f1"],
        },
    }


def measure(task: str, seeds: list[int], recipe: Recipe, reference: dict[str, float]) -> dict[str, Any]:
    """Mean and sample standard deviation of the score, and the mean of everything else."""
    run, key = TASKS[task]
    results: list[dict[str, float]] = []

    def score(seed: int) -> float:
        results.append(run(seed, recipe))
        print(
            f"{task}, seed {seed}: " + ", ".join(f"{name} {value:.3f}" for name, value in results[-1].items())
        )
        return results[-1][key]

    runs = over_seeds(score, seeds, majority_rate=reference.get("majority"))
    means = {name: statistics.fmean(result[name] for result in results) for name in results[0]}
    return {
        "metric": key,
        "mean": runs.mean,
        "std": runs.std,
        "scores": list(runs.scores),
        "collapsed": runs.collapsed,
        "means": means,
        "reference": reference,
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--seeds", type=int, default=3, help="how many runs of each task")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument(
        "--recipe",
        nargs=3,
        metavar=("BATCH", "RATE", "EPOCHS"),
        help="try another recipe than the laptop's; compare validation scores",
    )
    options = parser.parse_args(argv)
    recipes = dict(LAPTOP)
    if options.recipe:
        batch_size, rate, epochs = options.recipe
        recipes = dict.fromkeys(LAPTOP, Recipe(int(batch_size), float(rate), int(epochs)))
    found = references()
    result = {
        task: measure(task, list(range(options.seeds)), recipes[task], found[task]) for task in options.tasks
    }
    print(f"\n{torch.get_num_threads()} threads, {options.seeds} seeds, test sets of the course")
    print("task                 metric      mean    std   without a model        seconds  CPU s")
    for task, row in result.items():
        without = ", ".join(f"{name} {value:.2f}" for name, value in row["reference"].items())
        print(
            f"{task:20} {row['metric']:9} {row['mean']:6.3f} {row['std']:6.3f}   {without}"
            f"{row['means']['seconds']:12.0f} {row['means']['cpu_seconds']:6.0f}"
        )
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
