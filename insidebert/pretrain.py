"""`insidebert pretrain`: a small BERT from scratch or from the embedded encoder, on CPUs or GPUs.

    insidebert pretrain --out run --steps 2000
    insidebert pretrain --out run --from-embedded --steps 4000 --batch-size 32 --max-length 64 --first-epochs 0
    accelerate launch --multi_gpu --num_processes 2 -m insidebert.pretrain --out run --steps 2000

Every step is a function of the seed and its number alone: which rows, which masks, which dropout. So a run
that is interrupted and resumed gives the losses of one that was not, and two processes those of one with
twice the batch.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator, PartialState
from tqdm.auto import tqdm

from insidebert.corpus import load_corpus
from insidebert.english import load_english
from insidebert.masking import MaskingCollator
from insidebert.pretraining import PretrainingModel, write_atomically
from insidebert.pretraining_data import (
    Documents,
    corpus_vocabulary,
    epoch_rows,
    renumber,
    step_rows,
    tokenize,
)
from insidebert.pretraining_recipe import Recipe
from insidebert.sources import load_encoder, load_tokenizer
from insidebert.starting import continue_encoder, prepare

STATE = "state.pt"
METRICS = "metrics.jsonl"


# ------------------------------------------------------------------------------------------------- loop


def pretrain(
    recipe: Recipe,
    documents: Documents,
    tokenizer: Any,
    out: Path,
    *,
    resume: bool = False,
    stop_after: int | None = None,
    progress: bool = True,
) -> PretrainingModel:
    """Trains for `recipe.steps` steps; returns the model and leaves it, a state and the metrics in `out`.

    `resume` goes on from the state in `out`: same recipe, only `steps` may be another number. Where the decay had
    begun, the rate is then back at its peak (a warm restart: Loshchilov and Hutter 2017). `stop_after` ends this
    sitting after so many steps, as an interruption would.
    """
    accelerator = start_accelerator()
    torch.manual_seed(recipe.seed)
    model = start(recipe, documents, tokenizer)
    optimizer = make_optimizer(model, recipe)
    first = load_state(out, model, optimizer, recipe, accelerator.device) if resume else 0
    wrapped, optimizer = accelerator.prepare(model, optimizer)
    wrapped.train()
    generator = torch.Generator()
    collate = MaskingCollator(tokenizer, unit=recipe.unit, generator=generator)
    shares = recipe.accumulation * accelerator.num_processes
    steps = step_rows(documents, tokenizer, recipe, recipe.batch_size * shares, first)
    last = min(recipe.steps, stop_after or recipe.steps)
    chief = accelerator.is_main_process
    if chief:
        out.mkdir(parents=True, exist_ok=True)
        keep_metrics(out / METRICS, first)
    bar = tqdm(range(first, last), initial=first, total=last, disable=not (progress and chief), unit="step")
    began = time.perf_counter()
    for step in bar:
        generator.manual_seed(recipe.seed + 1_000_003 * step)
        torch.manual_seed(recipe.seed + 1_000_003 * step + accelerator.process_index)  # dropout
        batch = collate(next(steps))
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(step)
        losses = accumulate(accelerator, wrapped, batch, shares)
        if not math.isfinite(sum(losses)):
            raise FloatingPointError(
                f"The loss of step {step} is not finite (MLM {losses[0]}, NSP {losses[1]}). The last "
                f"checkpoint in {out} is untouched; start again with a lower --learning-rate or --clip."
            )
        accelerator.clip_grad_norm_(wrapped.parameters(), recipe.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        bar.set_postfix(mlm=f"{losses[0]:.3f}", nsp=f"{losses[1]:.3f}", refresh=False)
        if chief:
            write_metrics(out / METRICS, step, losses, recipe.rate(step), time.perf_counter() - began)
            if (step + 1) % recipe.save_every == 0 or step + 1 == last:
                save_state(out, model, optimizer, recipe, step + 1)
    return model


def start(recipe: Recipe, documents: Documents, tokenizer: Any) -> PretrainingModel:
    """The model before its first step: the embedded encoder with new heads, or random weights, prepared or not."""
    if recipe.from_embedded:
        return continue_encoder(load_encoder(offline=True), documents, recipe.dropout)
    model = PretrainingModel(recipe.config(len(tokenizer)))
    if recipe.prepared:
        prepare(model, documents)
    return model


def accumulate(
    accelerator: Accelerator, model: Any, batch: dict[str, torch.Tensor], shares: int
) -> list[float]:
    """Gradients of the whole step's loss; returns [MLM, NSP] of the whole step, the same in every process.

    The step's rows are dealt out to processes and forward passes. A mean of means would be wrong where these
    hold different numbers of predicted positions, so each share counts by its part of the step's positions.
    """
    K = max(1, int((batch["labels"] != -100).sum()))
    B = len(batch["labels"])
    mine = range(accelerator.process_index, shares, accelerator.num_processes)
    losses = torch.zeros(2, device=accelerator.device)
    for share in mine:
        rows = {name: value[share::shares].to(accelerator.device) for name, value in batch.items()}
        waiting = share != mine[-1] and accelerator.num_processes > 1
        with accelerator.no_sync(model) if waiting else contextlib.nullcontext():
            with accelerator.autocast():
                output = model(**rows)
            mlm = output.mlm_loss * (output.predicted / K)
            nsp = output.nsp_loss * (len(rows["labels"]) / B)
            accelerator.backward(
                (mlm + nsp) * accelerator.num_processes
            )  # gradients are averaged over processes
            losses += torch.stack([mlm.detach(), nsp.detach()])
    return accelerator.reduce(losses, "sum").tolist()


def start_accelerator() -> Accelerator:
    """This process among those of `accelerate launch`; bf16 autocast on the GPUs that have it."""
    bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    accelerator = Accelerator(
        mixed_precision="bf16" if bf16 else "no", cpu=not torch.accelerator.is_available()
    )
    several = "MASTER_PORT" in os.environ and "ACCELERATE_MIXED_PRECISION" in os.environ
    if several and accelerator.num_processes == 1:
        raise ValueError(
            "accelerate launch was asked for several processes and started one: with --cpu it leaves that to MPI. "
            "Use --multi_gpu instead; without a GPU it runs on the CPU."
        )
    return accelerator


def make_optimizer(model: PretrainingModel, recipe: Recipe) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim == 1]  # biases and LayerNorm
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=True)


# ------------------------------------------------------------------------------------- state and metrics


def save_state(out: Path, model: PretrainingModel, optimizer: Any, recipe: Recipe, step: int) -> None:
    """All that a run needs to go on, replaced whole or not at all."""
    state = {
        "step": step,
        "recipe": dataclasses.asdict(recipe),
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    try:
        write_atomically(out / STATE, lambda path: torch.save(state, path))
    except (OSError, RuntimeError) as error:  # torch's zip writer raises RuntimeError on a full disk
        raise OSError(
            f"The checkpoint of step {step} could not be written to {out} ({error}). The previous one is "
            "intact: make room and go on with --resume."
        ) from error


def load_state(out: Path, model: PretrainingModel, optimizer: Any, recipe: Recipe, device: Any) -> int:
    """Puts the state in `out` into model and optimizer; returns how many steps it has done."""
    if not (out / STATE).is_file():
        raise FileNotFoundError(f"There is no {STATE} in {out} to resume from: start without --resume.")
    state = torch.load(out / STATE, map_location=device, weights_only=True)
    now, then = dataclasses.asdict(recipe), state["recipe"]
    changed = [
        f"{name} {then.get(name)} → {now[name]}"
        for name in now
        if name != "steps" and now[name] != then.get(name)
    ]
    if changed:
        raise ValueError(f"This run in {out} was started with another recipe: {', '.join(changed)}.")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]


def keep_metrics(path: Path, steps: int) -> None:
    """Forgets the metrics of steps after the checkpoint that a run resumes from."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    path.write_text("".join(line for line in lines if json.loads(line)["step"] < steps), encoding="utf-8")


def write_metrics(path: Path, step: int, losses: list[float], rate: float, seconds: float) -> None:
    mlm, nsp = losses
    row = {
        "step": step,
        "mlm": mlm,
        "nsp": nsp,
        "loss": mlm + nsp,
        "rate": rate,
        "seconds": round(seconds, 2),
    }
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


# -------------------------------------------------------------------------------------------- evaluation


@torch.no_grad()
def evaluate(
    model: PretrainingModel,
    documents: Documents,
    tokenizer: Any,
    recipe: Recipe,
    *,
    seed: int = 12345,
    progress: bool = True,
) -> dict[str, float]:
    """Held-out figures: `mlm_loss` in nats, `mlm_top1`, `nsp_loss`, `nsp_accuracy`, `predicted`, `pairs`.

    Pairs and masks are made as in training, 80/10/10 included, from a seed of their own.
    """
    recipe = dataclasses.replace(recipe, seed=seed, first_epochs=0)
    rows = epoch_rows(documents, tokenizer, recipe, epoch=0)
    rows.sort(key=lambda row: len(row["input_ids"]))
    collate = MaskingCollator(tokenizer, unit=recipe.unit, generator=torch.Generator().manual_seed(seed))
    device = next(model.parameters()).device
    model.eval()
    sums = torch.zeros(4, dtype=torch.float64)
    predicted = 0
    for start in tqdm(range(0, len(rows), 64), desc="held-out documents", disable=not progress):
        batch = {name: value.to(device) for name, value in collate(rows[start : start + 64]).items()}
        labels, nsp_labels = batch["labels"], batch["next_sentence_label"]
        output = model(**batch)
        guesses = output.mlm_logits.argmax(-1)
        sums += torch.tensor(
            [
                output.mlm_loss * output.predicted,
                (guesses == labels[labels != -100]).sum(),
                output.nsp_loss * len(nsp_labels),
                (output.nsp_logits.argmax(-1) == nsp_labels).sum(),
            ],
            dtype=torch.float64,
        )
        predicted += output.predicted
    mlm_loss, top1, nsp_loss, right = sums.tolist()
    return {
        "mlm_loss": mlm_loss / predicted,
        "mlm_top1": top1 / predicted,
        "nsp_loss": nsp_loss / len(rows),
        "nsp_accuracy": right / len(rows),
        "predicted": predicted,
        "pairs": len(rows),
    }


# ------------------------------------------------------------------------------------------ command line


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="insidebert pretrain", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for weights, state and metrics")
    parser.add_argument("--resume", action="store_true", help="go on from the state in --out")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    for field in dataclasses.fields(Recipe):
        name = "--" + field.name.replace("_", "-")
        kind, text = type(field.default), f"{field.metadata['help']} ({field.default})"
        if kind is bool:
            parser.add_argument(name, action="store_true", help=field.metadata["help"])
        else:
            parser.add_argument(name, type=kind, default=field.default, help=text)
    options = vars(parser.parse_args(argv))
    out, resume, progress = options.pop("out"), options.pop("resume"), not options.pop("quiet")
    recipe = Recipe(**options)
    tokenizer = load_tokenizer()
    run = from_embedded if recipe.from_embedded else from_scratch
    try:
        model = run(recipe, tokenizer, out, resume=resume, progress=progress)
        if PartialState().is_main_process:
            model.save_pretrained(out, dtype=torch.float16)
            figures = held_out_figures(model, tokenizer, recipe, progress)
            (out / "evaluation.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
            print(json.dumps(figures))
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"insidebert pretrain: {error}", file=sys.stderr)
        return 1
    return 0


def from_scratch(
    recipe: Recipe, tokenizer: Any, out: Path, *, resume: bool, progress: bool
) -> PretrainingModel:
    """Trains on the documentation with the pieces that occur in it; returns the model with the whole vocabulary."""
    documents = tokenize(load_corpus(limit=recipe.documents or None, progress=progress), tokenizer)
    small = corpus_vocabulary(documents, tokenizer)
    documents = renumber(documents, tokenizer, small)
    model = pretrain(recipe, documents, small, out, resume=resume, progress=progress)
    number, pieces = tokenizer.get_vocab(), small.get_vocab()
    rows = [number[piece] for piece in sorted(pieces, key=pieces.__getitem__)]
    return model.widened(rows, len(tokenizer))


def from_embedded(
    recipe: Recipe, tokenizer: Any, out: Path, *, resume: bool, progress: bool
) -> PretrainingModel:
    """Goes on from the embedded encoder, on the documentation and on general English."""
    limit = recipe.documents or None
    texts = [*load_corpus(limit=limit, progress=progress), *load_english()[:limit]]
    return pretrain(recipe, tokenize(texts, tokenizer), tokenizer, out, resume=resume, progress=progress)


def held_out_figures(
    model: PretrainingModel, tokenizer: Any, recipe: Recipe, progress: bool
) -> dict[str, Any]:
    """`evaluate` on the held-out documentation, and under "general" on general English where that was read."""

    def on(texts: list[list[str]]) -> dict[str, Any]:
        return dict(evaluate(model, tokenize(texts, tokenizer), tokenizer, recipe, progress=progress))

    figures = on(load_corpus("held_out", progress=progress))
    return figures | ({"general": on(load_english("held_out"))} if recipe.from_embedded else {})


if __name__ == "__main__":
    sys.exit(main())
