"""What is right about `mask_tokens`, and what people do instead.

Rules that hold in every draw come first, then what chance allows. A right answer faces fewer than 40 comparisons
(counted in tests/test_statistics_objectives.py), each wrong about it with probability 1e-8 at most.

B batch · S sequence · V vocabulary · R calls · K selected positions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from checks.judges.comparing import (
    IN_PLACE,
    crashed,
    describe_type,
    incorrect,
    not_attempted,
)
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
from checks.questions.objectives import IGNORED, PAD, draw_batch


@dataclass(frozen=True)
class Draws:
    """What the calls of one case gave."""

    case: Case
    ids: np.ndarray  # (B,S)
    special: np.ndarray  # (B,S) bool
    masked: np.ndarray  # (R,B,S)
    labels: np.ndarray  # (R,B,S)

    @property
    def p(self) -> float:
        return 0.15 if self.case["probability"] is None else float(self.case["probability"])

    @cached_property
    def selected(self) -> np.ndarray:
        return self.labels != IGNORED  # (R,B,S)

    @cached_property
    def fates(self) -> np.ndarray:
        """(R,B,S): 0 `[MASK]`, 1 another id, 2 as it was; −1 where not selected."""
        fate = np.where(self.masked == self.ids, 2, np.where(self.masked == self.case["mask"], 0, 1))
        return np.where(self.selected, fate, -1)

    def counts(self) -> tuple[int, int, int]:
        """How many selected positions became `[MASK]`, another id, or stayed."""
        mask, other, stayed = (int((self.fates == fate).sum()) for fate in range(3))
        return mask, other, stayed


def mask_tokens(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes)
    if early:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.changed_input:
            return incorrect(question, Finding("changes_its_input", IN_PLACE, case.label))
        if not _has_draws(case, outcome.value):
            return incorrect(question, _masking_form(case, outcome.value))
    draws = [
        Draws(case, *draw_batch(case), outcome.value["masked"].data, outcome.value["labels"].data)
        for case, outcome in zip(cases, outcomes, strict=True)
    ]
    finding = masking_finding(draws)
    return incorrect(question, finding) if finding else Verdict(question.name, "correct", 1.0)


def masking_finding(draws: list[Draws]) -> Finding | None:
    """The first thing that is wrong, or None. Each draw's own rules come before what holds on average."""
    for rule in (_labels_rule, _special_rule, _vocabulary_rule):
        for draw in draws:
            finding = rule(draw)
            if finding:
                return finding
    return (
        _source_of_randomness(draws[0])
        or _shape_of_selection(draws[0])
        or _shape_of_corruption(draws)
        or _share_selected(draws)
        or _neighbours(draws)
        or _random_ids(draws[1])
    )


def _has_draws(case: Case, value: Any) -> bool:
    shape = (sum(plan["each"] for plan in case["calls"]), case["B"], case["S"])
    return (
        isinstance(value, dict)
        and value.keys() == {"masked", "labels"}
        and all(
            isinstance(part, Array) and part.data.shape == shape and part.data.dtype.kind == "i"
            for part in value.values()
        )
    )


def _masking_form(case: Case, value: Any) -> Finding:
    wanted = f"two long tensors of shape ({case['B']}, {case['S']})"
    got = describe_type(value)
    if isinstance(value, (tuple, list)):
        got = ", ".join(describe_type(part) for part in value[:3]) or "nothing"
    return Finding("wrong_type", "Return the pair (masked_ids, labels).", case.label, got, wanted)


def _at(draw: Draws, where: np.ndarray) -> str:
    """The first place of `where` (R,B,S) in words, with what stands there."""
    call, row, column = (int(index) for index in np.argwhere(where)[0])
    return (
        f"row {row}, position {column}: id {draw.ids[row, column]} became "
        f"{draw.masked[call, row, column]}, label {draw.labels[call, row, column]}"
    )


def _labels_rule(draw: Draws) -> Finding | None:
    """`labels` hold the original id where selected, −100 elsewhere; what is not selected does not change."""
    ids, masked, labels, selected = draw.ids, draw.masked, draw.labels, draw.selected
    everywhere = np.ones_like(selected)

    def finding(id: str, cause: str, where: np.ndarray, expected: str) -> Finding:
        return Finding(id, cause, draw.case.label, _at(draw, where), expected)

    if (masked == IGNORED).any() and not (labels == IGNORED).any():
        cause = "The two results are exchanged: `masked_ids` comes first, then `labels`."
        return finding("pair_swapped", cause, masked == IGNORED, "no −100 among the ids")
    if not (labels == IGNORED).any():
        first = int(labels[0, 0, 0])
        if first in (0, -1) and (labels[:, :, 0] == first).all():
            cause = f"Positions to ignore are labelled {first}. PyTorch's cross-entropy ignores −100."
            return finding("wrong_ignore_value", cause, labels == first, "label −100 where not selected")
        cause = "Every position has a label, so the model is scored on all it can see. Set −100 where not selected."
        return finding("labels_everywhere", cause, everywhere, "label −100 where not selected")
    changed = masked != ids
    if (changed & ~selected & ~draw.special).any():
        unchanged = ~changed & ~draw.special
        if not (changed & selected).any() and 2 * (selected & unchanged).sum() > unchanged.sum():
            cause = "The labels are the wrong way round: −100 where selected, the id elsewhere."
            return finding("labels_inverted", cause, changed & ~selected, "the original id where selected")
        if (selected == (masked == draw.case["mask"])).all():
            cause = (
                "Only `[MASK]` has a label. The model predicts all selected positions, whatever they became."
            )
            return finding(
                "labels_only_on_masks", cause, changed & ~selected, "a label on every selected one"
            )
        cause = "An id changed that has no label. What is not selected stays as it is."
        return finding("changes_unselected", cause, changed & ~selected, "no change without a label")
    wrong = selected & (labels != ids)
    if wrong.any():
        if (labels == masked)[selected].all():
            cause = (
                "The labels were taken after the ids had been replaced: they hold what the model is shown."
            )
            return finding("labels_after_masking", cause, wrong, "the original id as label")
        cause = "A label is not the original id."
        return finding("wrong_labels", cause, wrong, "the original id as label")
    return None


def _special_rule(draw: Draws) -> Finding | None:
    hit = (draw.selected | (draw.masked != draw.ids)) & draw.special
    if not hit.any():
        return None
    padding = draw.ids == PAD
    got, expected = _at(draw, hit), "label −100 and no change where special_tokens_mask is 1"
    if not (draw.selected & ~draw.special).any():
        id, cause = (
            "special_mask_inverted",
            "Only special tokens are selected: the mask is 1 where *not* to select.",
        )
    elif not (hit & padding).any():
        id, cause = "selects_cls_and_sep", "`[CLS]` or `[SEP]` is selected. `special_tokens_mask` says where."
    elif not (hit & ~padding).any():
        id, cause = "selects_padding", "Padding is selected. `special_tokens_mask` is 1 there too."
    else:
        id = "ignores_special_tokens_mask"
        cause = "Special tokens and padding are selected. Leave out where `special_tokens_mask` is 1."
    return Finding(id, cause, draw.case.label, got, expected)


def _vocabulary_rule(draw: Draws) -> Finding | None:
    V = draw.case["V"]
    outside = (draw.masked < 0) | (draw.masked >= V)
    if not outside.any():
        return None
    if (draw.masked[outside] == 103).all():
        cause = "103 is `[MASK]` in one vocabulary only. Use the argument `mask_token_id`."
        expected = f"mask_token_id={draw.case['mask']}"
        return Finding("hard_coded_mask_id", cause, draw.case.label, _at(draw, outside), expected)
    cause = "A random id lies outside the vocabulary. Draw from [0, vocab_size)."
    expected = f"ids from 0 to {V - 1}"
    return Finding("random_ids_outside_vocabulary", cause, draw.case.label, _at(draw, outside), expected)


def _source_of_randomness(draw: Draws) -> Finding | None:
    """Calls 0 and 2 had one generator seed and different global ones; calls 2i and 2i + 1 shared a generator."""
    K = int(draw.selected.sum())
    if K == 0:
        cause = "No position is ever selected."
        return Finding(
            "nothing_selected", cause, draw.case.label, "no label in any call", f"about {draw.p:.0%}"
        )
    if draw.selected[:, ~draw.special].all():
        cause = "Every position is selected. Each is selected with `probability`."
        return Finding(
            "selects_everything", cause, draw.case.label, "a label everywhere", f"about {draw.p:.0%}"
        )
    if any((part[:2] != part[2:4]).any() for part in (draw.masked, draw.labels)):
        cause = "Something is drawn from the global generator. Pass `generator=generator` to every draw."
        return Finding(
            "global_generator",
            cause,
            draw.case.label,
            "two generators with the same seed, two results",
            "the same seed, the same result",
        )
    if (draw.selected == draw.selected[0]).all():
        cause = "The selection does not come from `generator`: a seed is set inside, or nothing is random."
        return Finding("ignores_generator", cause, draw.case.label, "the same positions for any seed")
    if (draw.selected[::2] == draw.selected[1::2]).all():
        cause = "The seed is set again in every call, so each epoch hides the same positions. Just draw."
        return Finding(
            "same_mask_every_call", cause, draw.case.label, "the same positions in the second call"
        )
    return None


def _shape_of_selection(draw: Draws) -> Finding | None:
    """The small case was drawn more than a hundred times: what never varies there is no chance."""
    inside = ~draw.special
    rows = [draw.selected[:, row, inside[row]] for row in range(draw.case["B"])]  # (R, maskable) a row
    counts = np.stack([row.sum(1) for row in rows], 1)  # (R,B)
    sizes = inside.sum(1)  # (B,)
    if ((counts == 0) | (counts == sizes)).all():
        all_rows_alike = ((counts > 0) == (counts[:, :1] > 0)).all()
        unit = "batch" if all_rows_alike else "row"
        cause = (
            f"One draw decides for a whole {unit}. Draw for every position: `torch.rand(input_ids.shape, …)`."
        )
        got = f"all of a {unit} or nothing"
        return Finding(f"one_draw_per_{unit}", cause, draw.case.label, got, "each position on its own")
    shared = inside.all(0)
    if (draw.selected[:, :, shared] == draw.selected[:, :1, shared]).all():
        cause = "Every row hides the same positions: one row of draws was spread over the batch."
        return Finding(
            "same_mask_in_every_row", cause, draw.case.label, "all rows alike", "a draw a position"
        )
    if (counts == counts[0]).all():
        cause = "A row always hides the same number of positions. Each is to be selected on its own."
        return Finding("fixed_number_per_row", cause, draw.case.label, f"always {counts[0, 0]} in row 0")
    totals = counts.sum(1)
    if (totals == totals[0]).all():
        cause = "A batch always hides the same number of positions. Each is to be selected on its own."
        return Finding("fixed_number_per_batch", cause, draw.case.label, f"always {totals[0]} in all")
    return None


# (share of [MASK], share of random ids, share that stays) of answers people give, each with its finding
MIXES = (
    (
        (1.0, 0.0, 0.0),
        "always_mask",
        "All become `[MASK]`. In use there is no `[MASK]`: 10 % go random, 10 % stay.",
    ),
    (
        (0.8, 0.02, 0.18),
        "ten_per_cent_of_the_rest",
        "10 % of the remaining fifth is 2 % of all. Of those that are not `[MASK]` *half* become random.",
    ),
    (
        (0.8, 0.2, 0.0),
        "rest_all_random",
        "The remaining fifth is all random. Half of it, 10 % of all, stays.",
    ),
    ((0.8, 0.0, 0.2), "never_random", "No position gets a random id: 10 % should."),
    ((0.9, 0.1, 0.0), "never_stays", "No position stays as it is: 10 % should."),
    (
        (0.72, 0.1, 0.18),
        "random_overwrites_mask",
        "The 10 % were drawn from all selected and overwrote `[MASK]`. Draw them from those not masked yet.",
    ),
    ((0.8, 0.18, 0.02), "rest_mostly_random", "90 % of the remaining fifth is random. It should be half."),
    ((0.1, 0.1, 0.8), "shares_exchanged", "80 % stay and 10 % become `[MASK]`: the shares are exchanged."),
    (
        (0.1, 0.8, 0.1),
        "shares_exchanged",
        "80 % are random and 10 % become `[MASK]`: the shares are exchanged.",
    ),
)
MIX = (0.8, 0.1, 0.1)


def _fits(draw: Draws, mix: tuple[float, float, float]) -> bool:
    """Whether the fates may come from this mix. A random id is the original or `[MASK]` once in V draws each."""
    mask, random, stays = mix
    stray = random / draw.case["V"]
    counts = draw.counts()
    chances = (mask + stray, random - 2 * stray, stays + stray)
    return all(is_plausible(count, sum(counts), p) for count, p in zip(counts, chances, strict=True))


def _one_fate(fates: np.ndarray) -> bool:
    """Whether each of the groups (G,N) has one fate and the groups differ.

    A random id is now and then the original or `[MASK]`, so that a few groups look mixed. Of right answers more
    than half of the groups are, whatever their size.
    """
    present = np.stack([(fates == fate).any(1) for fate in range(3)])  # (3,G)
    several = (fates >= 0).sum(1) > 1  # (G,)
    mixed = (present.sum(0) > 1) & several
    return bool(present.any(1).sum() > 1 and mixed.sum() < 0.3 * several.sum())


def _shape_of_corruption(draws: list[Draws]) -> Finding | None:
    small = draws[0].fates  # (R,B,S)
    for unit, groups in (
        ("batch", small.reshape(len(small), -1)),
        ("row", small.reshape(-1, small.shape[2])),
    ):
        if _one_fate(groups):
            cause = (
                f"One draw decides what happens to all selected positions of a {unit}. Draw for each of them."
            )
            got = f"a {unit} is all `[MASK]`, all random or all as it was"
            return Finding(
                f"one_fate_per_{unit}", cause, draws[0].case.label, got, "a draw for each position"
            )
    random_ids = [
        set(masked[fates == 1].tolist()) for masked, fates in zip(draws[0].masked, small, strict=True)
    ]
    if (small == 1).sum() > len(small) and max(map(len, random_ids)) == 1:
        cause = (
            "One id was drawn for all random positions of a call. Draw one for each: `size=input_ids.shape`."
        )
        return Finding("one_random_id", cause, draws[0].case.label, "one id in each call", "an id a position")
    wrong = [draw for draw in draws if not _fits(draw, MIX)]
    if not wrong:
        return None
    typical = draws[-1] if draws[-1] in wrong else wrong[0]
    mask, other, stayed = typical.counts()
    K = mask + other + stayed
    got = f"{percent(mask, K)} [MASK], {percent(other, K)} another id, {percent(stayed, K)} as it was"
    details = (typical.case.label, got, "80 % [MASK], 10 % random, 10 % as it was")
    if all(stayed == 0 < other for _, other, stayed in (draw.counts() for draw in draws)):
        cause = "Positions that stay have no label. They are predicted too: `labels` follow the selection."
        return Finding("kept_without_label", cause, *details)
    for mix, id, cause in MIXES:
        if all(_fits(draw, mix) for draw in wrong):
            return Finding(id, cause, *details)
    if mask <= 0.01 * K:
        cause = (
            "Hardly any selected position becomes `[MASK]`. The draw that selected (below 0.15) was used again: "
            "what happens needs a draw of its own."
        )
        return Finding("never_masks", cause, *details)
    return Finding("wrong_shares", "The three shares are not 80, 10 and 10 %.", *details)


def _selection(draw: Draws) -> tuple[int, int]:
    inside = draw.selected[:, ~draw.special]
    return int(inside.sum()), inside.size


def _share_selected(draws: list[Draws]) -> Finding | None:
    wrong = [draw for draw in draws if not is_plausible(*_selection(draw), draw.p)]
    if not wrong:
        return None
    draw = wrong[0]
    details = (draw.case.label, percent(*_selection(draw)) + " selected", f"{draw.p:.0%}")
    if all(is_plausible(*_selection(other), 0.15) for other in draws):
        return Finding("ignores_probability", "15 % whatever `probability` says: use the argument.", *details)
    if all(is_plausible(*_selection(other), 1 - other.p) for other in wrong):
        cause = "The comparison is the wrong way round: a draw from [0, 1) is *below* p with probability p."
        return Finding("probability_inverted", cause, *details)
    if all(is_plausible(*_selection(other), 0.8 * other.p) for other in wrong):
        cause = "80 % of the share is selected, as if only what becomes `[MASK]` counted. All three kinds do."
        return Finding("selects_the_masked_only", cause, *details)
    return Finding("wrong_share_selected", "The share of selected positions is not `probability`.", *details)


def _neighbours(draws: list[Draws]) -> Finding | None:
    """Disjoint pairs of positions, side by side and one above the other, are both selected with p²."""
    for draw in draws:
        inside = np.broadcast_to(~draw.special, draw.selected.shape)
        for axis, words in ((2, "in a row"), (1, "one above the other")):
            one, two = (np.take(draw.selected, range(i, inside.shape[axis], 2), axis) for i in (0, 1))
            in_one, in_two = (np.take(inside, range(i, inside.shape[axis], 2), axis) for i in (0, 1))
            count, n = int((one & two).sum()), int((in_one & in_two).sum())
            if not is_plausible(count, n, draw.p**2):
                cause = "Positions are not selected on their own: neighbours depend on each other."
                got = f"{percent(count, n)} of the pairs {words} are both selected"
                expected = f"{100 * draw.p**2:.1f} %"
                return Finding("neighbours_depend", cause, draw.case.label, got, expected)
    return None


def _random_ids(draw: Draws) -> Finding | None:
    """In a vocabulary of a dozen every id comes up: how often each does is binomial."""
    V, mask = draw.case["V"], draw.case["mask"]
    counts, trials = [], []
    for token in range(V):
        foreign = draw.selected & (draw.ids != token)
        counts.append(int((draw.masked[foreign] == token).sum()))
        trials.append(int(foreign.sum()))
    odd = [
        token
        for token in range(V)
        if not is_plausible(counts[token], trials[token], 0.1 / V + (0.8 if token == mask else 0))
    ]
    if not odd:
        return None
    missing = [token for token in odd if counts[token] == 0]
    in_batch = {mask, *np.unique(draw.ids).tolist()}
    got = f"never {', '.join(map(str, missing))}" if missing else f"{counts[odd[0]]} times {odd[0]}"

    def finding(id: str, cause: str) -> Finding:
        return Finding(id, cause, draw.case.label, got, f"each of 0 to {V - 1} equally often")

    if odd == missing == [V - 1]:
        cause = "The last id never comes: `torch.randint` already leaves out its upper end."
        return finding("random_misses_last_id", cause)
    if odd == missing == [0]:
        return finding("random_misses_first_id", "Id 0 never comes. Draw from [0, vocab_size).")
    if set(missing) == set(range(V)) - in_batch:
        cause = "The random ids come from the batch. Draw them from the vocabulary."
        return finding("random_ids_from_batch", cause)
    return finding("random_not_uniform", "The random ids are not uniform over the vocabulary.")
