"""Answers to the assignment `objectives`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import copy
import itertools
import math
import random

import numpy as np
import torch
from torch.nn.functional import cross_entropy

# --- right answers ----------------------------------------------------------------------------------------


def mask_tokens(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    def draw():
        return torch.rand(input_ids.shape, generator=generator)

    selected = (draw() < probability) & ~special_tokens_mask.bool()
    fate = draw()
    random_ids = torch.randint(vocab_size, input_ids.shape, generator=generator)
    masked_ids = torch.where(selected & (fate < 0.8), mask_token_id, input_ids)
    masked_ids = torch.where(selected & (fate >= 0.9), random_ids, masked_ids)
    return masked_ids, torch.where(selected, input_ids, -100)


def mask_with_one_draw(
    input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator
):
    """The draw that selects also says what happens: right, because both thresholds scale with probability."""
    draw = torch.rand(input_ids.shape, generator=generator)
    draw[special_tokens_mask == 1] = 1.0
    masked_ids, labels = input_ids.clone(), torch.full_like(input_ids, -100)
    labels[draw < probability] = input_ids[draw < probability]
    masked_ids[draw < 0.9 * probability] = mask_token_id
    random_ones = draw < 0.1 * probability
    masked_ids[random_ones] = torch.randint(vocab_size, (int(random_ones.sum()),), generator=generator)
    return masked_ids, labels


def mask_by_coins(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    """A coin for each decision, as data collators do it: half of the remaining fifth is random."""

    def coin(p):
        return torch.bernoulli(torch.full(input_ids.shape, p), generator=generator).bool()

    selected = coin(probability).masked_fill(special_tokens_mask.bool(), False)
    hidden = coin(0.8) & selected
    other = coin(0.5) & selected & ~hidden
    masked_ids = input_ids.masked_fill(hidden, mask_token_id)
    masked_ids[other] = torch.randint(vocab_size, input_ids.shape, generator=generator)[other]
    return masked_ids, input_ids.masked_fill(~selected, -100)


def mask_in_a_loop(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    masked_ids, labels = input_ids.tolist(), [[-100] * input_ids.shape[1] for _ in input_ids]
    uniform = iter(torch.rand(2 * input_ids.numel(), generator=generator).tolist())
    other = iter(torch.randint(vocab_size, (input_ids.numel(),), generator=generator).tolist())
    special = special_tokens_mask.tolist()
    for row, ids in enumerate(input_ids.tolist()):
        for column, id in enumerate(ids):
            if special[row][column] or next(uniform) >= probability:
                continue
            labels[row][column] = id
            fate = next(uniform)
            if fate < 0.8:
                masked_ids[row][column] = mask_token_id
            elif fate < 0.9:
                masked_ids[row][column] = next(other)
    return torch.tensor(masked_ids), torch.tensor(labels)


def masked_mean_loss(logits, labels):
    total = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)


def loss_by_selection(logits, labels):
    chosen = labels != -100
    if not chosen.any():
        return logits.sum() * 0.0
    log_p = logits[chosen].log_softmax(-1)
    return -log_p[torch.arange(len(log_p)), labels[chosen]].mean()


def loss_by_weights(logits, labels):
    weights = (labels != -100).to(logits.dtype)
    each = torch.logsumexp(logits, -1) - logits.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return (each * weights).sum() / torch.clamp(weights.sum(), min=1)


def loss_without_a_graph_when_empty(logits, labels):
    return cross_entropy(logits.transpose(1, 2), labels) if (labels >= 0).any() else 0.0


def nsp_pairs(documents, rng):
    if len(documents) < 2:
        raise ValueError("at least two documents are needed")
    examples = []
    for index, document in enumerate(documents):
        others = documents[:index] + documents[index + 1 :]
        for a, b in itertools.pairwise(document):
            if rng.random() < 0.5:
                examples.append((a, b, 0))
            else:
                examples.append((a, rng.choice(rng.choice(others)), 1))
    return examples


def pairs_by_redrawing(documents, rng):
    """Draws a sentence out of all and again until it is a stranger; shuffles what it made."""
    everything = [(index, sentence) for index, document in enumerate(documents) for sentence in document]
    if len({index for index, _ in everything}) < 2:
        raise ValueError("there is no other document")
    examples = []
    for index, document in enumerate(documents):
        for position in range(len(document) - 1):
            label = rng.randint(0, 1)
            second = document[position + 1]
            while label:
                other, second = rng.choice(everything)
                if other != index:
                    break
            examples.append([document[position], second, label])
    rng.shuffle(examples)
    return examples


def pretraining_loss(mlm_logits, nsp_logits, mlm_labels, nsp_labels):
    return masked_mean_loss(mlm_logits, mlm_labels) + cross_entropy(nsp_logits, nsp_labels)


def sum_by_hand(mlm_logits, nsp_logits, mlm_labels, nsp_labels):
    nsp = -nsp_logits.log_softmax(1).gather(1, nsp_labels[:, None]).mean()
    return torch.stack([loss_by_weights(mlm_logits, mlm_labels), nsp]).sum()


def initial_losses(vocab_size):
    return math.log(vocab_size), math.log(2), math.log(2 * vocab_size)


def initial_by_torch(vocab_size):
    mlm, nsp = (
        cross_entropy(torch.zeros(1, n, dtype=torch.float64), torch.tensor([0])) for n in (vocab_size, 2)
    )
    return [mlm, nsp, mlm + nsp]


RIGHT = {
    "mask_tokens": [mask_tokens, mask_with_one_draw, mask_by_coins, mask_in_a_loop],
    "masked_mean_loss": [
        masked_mean_loss,
        loss_by_selection,
        loss_by_weights,
        loss_without_a_graph_when_empty,
        lambda logits, labels: masked_mean_loss(logits.float(), labels),
    ],
    "nsp_pairs": [
        nsp_pairs,
        pairs_by_redrawing,
        lambda *args: tuple((a, b, np.int64(label)) for a, b, label in nsp_pairs(*args)),
    ],
    "pretraining_loss": [pretraining_loss, sum_by_hand],
    "initial_losses": [initial_losses, initial_by_torch],
}


# --- mask_tokens ------------------------------------------------------------------------------------------


def masking(
    *,
    select=None,
    corrupt=None,
    finish=None,
    source=None,
):
    """A masking that is right but for one step.

    select(draw, ids, special, probability) -> (B,S) bool, corrupt(draw, ids, selected, mask, V) -> masked ids,
    finish(ids, special, selected, masked, labels, mask) -> the result, source(generator) -> the generator to use.
    """

    def answer(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
        special = special_tokens_mask.bool()
        generator = source(generator) if source else generator
        draw = Draw(input_ids.shape, generator)
        selected = (select or select_each)(draw, input_ids, special, probability)
        masked = (corrupt or mix(0.8, 0.1))(draw, input_ids, selected, mask_token_id, vocab_size)
        labels = torch.where(selected, input_ids, -100)
        if finish:
            return finish(input_ids, special, selected, masked, labels, mask_token_id)
        return masked, labels

    return answer


class Draw:
    def __init__(self, shape, generator):
        self.shape, self.generator = shape, generator

    def rand(self, *shape):
        return torch.rand(shape or self.shape, generator=self.generator)

    def ids(self, low, high, shape=None):
        return torch.randint(low, high, self.shape if shape is None else shape, generator=self.generator)


def select_each(draw, ids, special, probability):
    return (draw.rand() < probability) & ~special


def select_padding(draw, ids, special, probability):
    return (draw.rand() < probability) & ~(special & (ids != 0))


def select_edges(draw, ids, special, probability):
    return (draw.rand() < probability) & (ids != 0)


def select_by_id(draw, ids, special, probability):
    """Special is what looks special in this very batch: the first column, and what recurs with it."""
    looks_special = torch.isin(ids, torch.cat([ids[:, 0], ids[:, -1:].flatten()[:1], ids.new_tensor([0])]))
    return (draw.rand() < probability) & ~(special & looks_special)


def select_one_at_least(draw, ids, special, probability):
    selected = select_each(draw, ids, special, probability)
    first = (~special).int().argmax(1)
    empty = ~selected.any(1) & ~special.all(1)
    selected[torch.arange(len(ids))[empty], first[empty]] = True
    return selected


def select_no_zero(draw, ids, special, probability):
    return (draw.rand() < probability) & ~special & (ids != 0)


def select_fixed_number(draw, ids, special, probability):
    scores = draw.rand().masked_fill(special, 2.0)
    number = (probability * (~special).sum(1)).round().long()
    return scores.argsort(1).argsort(1) < number[:, None]


def select_fixed_number_in_all(draw, ids, special, probability):
    scores = draw.rand().masked_fill(special, 2.0).flatten()
    return (scores.argsort().argsort() < int(probability * (~special).sum())).view_as(ids)


def select_pairs(draw, ids, special, probability):
    half = draw.rand(ids.shape[0], ids.shape[1] // 2) < probability
    return half.repeat_interleave(2, 1) & ~special


def select_chosen(choose):
    return lambda draw, ids, special, probability: choose(draw, probability).expand_as(ids) & ~special


def mix(mask_share, random_share, low=0, high=0):
    def corrupt(draw, ids, selected, mask, V):
        fate, other = draw.rand(), draw.ids(low, V + high)
        masked = torch.where(selected & (fate < mask_share), mask, ids)
        return torch.where(
            selected & (fate >= mask_share) & (fate < mask_share + random_share), other, masked
        )

    return corrupt


def mix_by_row(rows):
    def corrupt(draw, ids, selected, mask, V):
        fate = draw.rand(len(ids) if rows else 1, 1).expand_as(ids)
        masked = torch.where(selected & (fate < 0.8), mask, ids)
        return torch.where(selected & (fate >= 0.9), draw.ids(0, V), masked)

    return corrupt


def ten_per_cent_of_the_rest(draw, ids, selected, mask, V):
    replaced = selected & (draw.rand() < 0.8)
    other = selected & ~replaced & (draw.rand() < 0.1)
    return torch.where(other, draw.ids(0, V), torch.where(replaced, mask, ids))


def random_overwrites(draw, ids, selected, mask, V):
    masked = torch.where(selected & (draw.rand() < 0.8), mask, ids)
    return torch.where(selected & (draw.rand() < 0.1), draw.ids(0, V), masked)


def random_from_batch(draw, ids, selected, mask, V):
    fate, other = draw.rand(), ids.flatten()[draw.ids(0, ids.numel())]
    return torch.where(selected & (fate >= 0.9), other, torch.where(selected & (fate < 0.8), mask, ids))


def one_random_id(draw, ids, selected, mask, V):
    fate, other = draw.rand(), draw.ids(0, V, (1,))
    return torch.where(selected & (fate >= 0.9), other, torch.where(selected & (fate < 0.8), mask, ids))


def skewed_random_ids(draw, ids, selected, mask, V):
    fate, other = draw.rand(), (draw.rand() ** 2 * V).long()
    return torch.where(selected & (fate >= 0.9), other, torch.where(selected & (fate < 0.8), mask, ids))


def rounded_random_ids(draw, ids, selected, mask, V):
    fate, other = draw.rand(), (draw.rand() * (V - 1)).round().long()
    return torch.where(selected & (fate >= 0.9), other, torch.where(selected & (fate < 0.8), mask, ids))


def exact_shares(draw, ids, selected, mask, V):
    places = selected.flatten().nonzero().squeeze(1)
    places = places[torch.randperm(len(places), generator=draw.generator)]
    most, all_but_some = round(0.8 * len(places)), round(0.9 * len(places))
    masked = ids.clone().flatten()
    masked[places[:most]] = mask
    masked[places[most:all_but_some]] = draw.ids(0, V, (all_but_some - most,))
    return masked.view_as(ids)


def another_id(draw, ids, selected, mask, V):
    """A random id that differs from the original."""
    fate, shift = draw.rand(), draw.ids(1, V)
    masked = torch.where(selected & (fate < 0.8), mask, ids)
    return torch.where(selected & (fate >= 0.9), (ids + shift) % V, masked)


def published_vocabulary(draw, ids, selected, mask, V):
    return mix(0.8, 0.1)(draw, ids, selected, mask, 30_522)


def published_mask_id(draw, ids, selected, mask, V):
    return mix(0.8, 0.1)(draw, ids, selected, 103, V)


def reused_draw(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    draw = torch.rand(input_ids.shape, generator=generator)
    selected = (draw < probability) & ~special_tokens_mask.bool()
    masked = input_ids.clone()
    masked[selected & (draw > 0.8)] = mask_token_id
    other = selected & (draw > 0.7) & (draw <= 0.8)
    masked[other] = torch.randint(vocab_size, (int(other.sum()),), generator=generator)
    return masked, torch.where(selected, input_ids, -100)


def reused_below(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    draw = torch.rand(input_ids.shape, generator=generator)
    selected = (draw < probability) & ~special_tokens_mask.bool()
    masked = torch.where(selected & (draw < 0.8), mask_token_id, input_ids)
    other = torch.randint(vocab_size, input_ids.shape, generator=generator)
    masked = torch.where(selected & (draw >= 0.8) & (draw < 0.9), other, masked)
    return masked, torch.where(selected, input_ids, -100)


def in_place(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator):
    masked, labels = mask_tokens(
        input_ids,
        special_tokens_mask,
        vocab_size=vocab_size,
        mask_token_id=mask_token_id,
        probability=probability,
        generator=generator,
    )
    input_ids[:] = masked
    return input_ids, labels


def another_default(input_ids, special_tokens_mask, *, probability=0.16, **options):
    return mask_tokens(input_ids, special_tokens_mask, probability=probability, **options)


def from_the_global_generator(input_ids, special_tokens_mask, *, generator, **options):
    return mask_tokens(input_ids, special_tokens_mask, generator=torch.default_generator, **options)


def replaced_from_the_global_generator(draw, ids, selected, mask, V):
    return mix(0.8, 0.1)(Draw(ids.shape, None), ids, selected, mask, V)


def selected_by_numpy(draw, ids, special, probability):
    return torch.from_numpy(np.random.rand(*ids.shape) < probability) & ~special


def seeded_inside(generator):
    return torch.Generator().manual_seed(0)


def seeded_anew(generator):
    return torch.Generator().manual_seed(generator.initial_seed())


def label_all(ids, special, selected, masked, labels, mask):
    return masked, ids.clone()


def label_after(ids, special, selected, masked, labels, mask):
    return masked, torch.where(selected, masked, -100)


def label_others(ids, special, selected, masked, labels, mask):
    return masked, torch.where(selected, -100, ids)


def label_masks(ids, special, selected, masked, labels, mask):
    return masked, torch.where(masked == mask, ids, -100)


def label_changed(ids, special, selected, masked, labels, mask):
    return masked, torch.where(masked != ids, ids, -100)


def label_with(ignored):
    return lambda ids, special, selected, masked, labels, mask: (masked, torch.where(selected, ids, ignored))


def exchange(ids, special, selected, masked, labels, mask):
    return labels, masked


def hide_specials(ids, special, selected, masked, labels, mask):
    return masked.masked_fill(special & (ids != mask), mask), labels


def change_more(ids, special, selected, masked, labels, mask):
    return masked.masked_fill((torch.arange(ids.shape[1]) == 1) & ~special, mask), labels


def label_position(ids, special, selected, masked, labels, mask):
    return masked, torch.where(selected, torch.arange(ids.shape[1]), -100)


MASKING = [
    ("changes_its_input", in_place),
    ("pair_swapped", masking(finish=exchange)),
    ("wrong_ignore_value", masking(finish=label_with(-1))),
    ("wrong_ignore_value", masking(finish=label_with(0))),
    ("labels_everywhere", masking(finish=label_all)),
    ("labels_inverted", masking(finish=label_others)),
    ("labels_only_on_masks", masking(finish=label_masks)),
    ("labels_after_masking", masking(finish=label_after)),
    ("changes_unselected", masking(finish=change_more)),
    ("wrong_labels", masking(finish=label_position)),
    ("kept_without_label", masking(finish=label_changed)),
    ("ignores_special_tokens_mask", masking(select=lambda d, ids, special, p: d.rand() < p)),
    ("special_mask_inverted", masking(select=lambda d, ids, special, p: (d.rand() < p) & special)),
    ("selects_padding", masking(select=select_padding)),
    ("selects_cls_and_sep", masking(select=select_edges)),
    ("special_by_id", masking(select=select_by_id)),
    ("never_selects_id_0", masking(select=select_no_zero)),
    ("never_an_empty_row", masking(select=select_one_at_least)),
    ("hides_special_tokens", masking(finish=hide_specials)),
    ("wrong_default", another_default),
    ("hard_coded_mask_id", masking(corrupt=published_mask_id)),
    ("random_ids_outside_vocabulary", masking(corrupt=published_vocabulary)),
    ("random_ids_outside_vocabulary", masking(corrupt=mix(0.8, 0.1, 1, 1))),
    ("nothing_selected", masking(select=lambda d, ids, special, p: special & ~special)),
    ("selects_everything", masking(select=lambda d, ids, special, p: ~special)),
    ("global_generator", from_the_global_generator),
    ("global_generator", masking(corrupt=replaced_from_the_global_generator)),
    ("global_generator", masking(select=selected_by_numpy)),
    ("ignores_generator", masking(source=seeded_inside)),
    ("ignores_generator", masking(select=lambda d, ids, special, p: (ids % 2 == 0) & ~special)),
    ("same_mask_every_call", masking(source=seeded_anew)),
    ("one_draw_per_batch", masking(select=select_chosen(lambda d, p: d.rand(1, 1) < p))),
    ("one_draw_per_row", masking(select=lambda d, ids, special, p: (d.rand(len(ids), 1) < p) & ~special)),
    ("same_mask_in_every_row", masking(select=select_chosen(lambda d, p: d.rand(1, d.shape[1]) < p))),
    ("fixed_number_per_row", masking(select=select_fixed_number)),
    ("fixed_number_per_batch", masking(select=select_fixed_number_in_all)),
    ("neighbours_depend", masking(select=select_pairs)),
    ("ignores_probability", masking(select=lambda d, ids, special, p: (d.rand() < 0.15) & ~special)),
    ("probability_inverted", masking(select=lambda d, ids, special, p: (d.rand() > p) & ~special)),
    ("selects_the_masked_only", masking(select=lambda d, ids, special, p: (d.rand() < 0.8 * p) & ~special)),
    ("wrong_share_selected", masking(select=lambda d, ids, special, p: (d.rand() < p * p) & ~special)),
    ("always_mask", masking(corrupt=mix(1.0, 0.0))),
    ("never_masks", reused_draw),
    ("ten_per_cent_of_the_rest", masking(corrupt=ten_per_cent_of_the_rest)),
    ("rest_all_random", masking(corrupt=mix(0.8, 0.2))),
    ("never_random", masking(corrupt=mix(0.8, 0.0))),
    ("never_stays", masking(corrupt=mix(0.9, 0.1))),
    ("random_overwrites_mask", masking(corrupt=random_overwrites)),
    ("rest_mostly_random", masking(corrupt=mix(0.8, 0.18))),
    ("shares_exchanged", masking(corrupt=mix(0.1, 0.1))),
    ("shares_exchanged", masking(corrupt=mix(0.1, 0.8))),
    ("wrong_shares", masking(corrupt=mix(0.5, 0.25))),
    ("one_fate_per_batch", masking(corrupt=mix_by_row(rows=False))),
    ("one_fate_per_row", masking(corrupt=mix_by_row(rows=True))),
    ("one_random_id", masking(corrupt=one_random_id)),
    ("random_misses_last_id", masking(corrupt=mix(0.8, 0.1, 0, -1))),
    ("random_misses_first_id", masking(corrupt=mix(0.8, 0.1, 1, 0))),
    ("random_ids_from_batch", masking(corrupt=random_from_batch)),
    ("random_not_uniform", masking(corrupt=skewed_random_ids)),
    ("random_ends_halved", masking(corrupt=rounded_random_ids)),
    ("exact_shares", masking(corrupt=exact_shares)),
    ("reuses_the_selecting_draw", reused_below),
    ("random_differs_from_original", masking(corrupt=another_id)),
    ("nothing_replaced", masking(corrupt=mix(0.0, 0.0))),
    ("wrong_type", masking(finish=lambda ids, special, selected, masked, labels, mask: masked)),
    ("wrong_type", masking(finish=lambda ids, special, selected, masked, labels, mask: (masked, selected))),
]


# --- losses -----------------------------------------------------------------------------------------------


def each(logits, labels):
    """(B,S) cross-entropies, at −100 as if the label were 0."""
    return cross_entropy(logits.flatten(0, -2), labels.clamp(min=0).flatten(), reduction="none").view_as(
        labels
    )


def weights(labels):
    return (labels != -100).double()


def summed(logits, labels):
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


def log_of(probability, labels):
    """The mean of −log of what is where the label is, made without `log_softmax`."""
    chosen = labels != -100
    picked = probability[chosen].gather(-1, labels[chosen][:, None])
    return -picked.log().sum() / chosen.sum().clamp(min=1)


def where_after_division(logits, labels):
    total = (each(logits, labels) * weights(labels)).sum()
    return torch.where(weights(labels).sum() > 0, total / weights(labels).sum(), 0.0)


def half_detached(logits, labels):
    return (masked_mean_loss(logits, labels) + masked_mean_loss(logits.detach(), labels)) / 2


def in_numpy(logits, labels):
    return float(masked_mean_loss(logits.detach(), labels))


def gathered_at_minus_100(logits, labels):
    picked = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    return -(picked * weights(labels)).sum() / weights(labels).sum()


def fills_the_gaps(logits, labels):
    loss = masked_mean_loss(logits, labels.clone())
    labels[labels == -100] = 0
    return loss


MEANS = [
    ("divides_by_all_positions", lambda logits, labels: summed(logits, labels) / labels.numel()),
    ("nan_when_nothing_selected", lambda logits, labels: cross_entropy(logits.transpose(1, 2), labels)),
    ("softmax_overflows", lambda logits, labels: log_of(logits.softmax(-1), labels)),
    ("epsilon_under_logarithm", lambda logits, labels: log_of(logits.softmax(-1) + 1e-9, labels)),
    ("loss_rounded", lambda logits, labels: masked_mean_loss(logits, labels).round(decimals=4)),
    ("nan_gradient", where_after_division),
    ("no_gradient", lambda logits, labels: masked_mean_loss(logits, labels).detach()),
    ("no_gradient", in_numpy),
    ("wrong_gradient", half_detached),
    ("minus_100_not_ignored", gathered_at_minus_100),
    ("class_axis_not_second", lambda logits, labels: cross_entropy(logits, labels)),
    ("changes_logits_in_place", lambda logits, labels: masked_mean_loss(logits.sub_(logits.max()), labels)),
    ("changes_its_input", fills_the_gaps),
    ("wrong_type", lambda logits, labels: each(logits, labels)),
    ("wrong_type", lambda logits, labels: masked_mean_loss(logits, labels)[None]),
    ("unexpected_value", lambda logits, labels: masked_mean_loss(logits, labels) * 0.15),
]


def summing(combine):
    """A sum that is right but for how the two are combined: combine(mlm mean, nsp mean)."""

    def answer(mlm_logits, nsp_logits, mlm_labels, nsp_labels):
        return combine(masked_mean_loss(mlm_logits, mlm_labels), cross_entropy(nsp_logits, nsp_labels))

    return answer


def sum_without_class_zero(mlm_logits, nsp_logits, mlm_labels, nsp_labels):
    return masked_mean_loss(mlm_logits, mlm_labels) + cross_entropy(nsp_logits, nsp_labels, ignore_index=0)


SUMS = [
    ("mean_of_the_two", summing(lambda mlm, nsp: (mlm + nsp) / 2)),
    ("nsp_class_zero_ignored", sum_without_class_zero),
    ("mlm_detached", summing(lambda mlm, nsp: mlm.detach() + nsp)),
    ("mlm_detached", summing(lambda mlm, nsp: mlm.item() + nsp)),
    ("nsp_detached", summing(lambda mlm, nsp: mlm + nsp.detach())),
    ("no_gradient", summing(lambda mlm, nsp: (mlm + nsp).item())),
    ("wrong_gradient", summing(lambda mlm, nsp: mlm + (nsp + nsp.detach()) / 2)),
    ("wrong_type", summing(lambda mlm, nsp: (mlm, nsp))),
    ("unexpected_value", summing(lambda mlm, nsp: mlm + 0.1 * nsp)),
]


# --- nsp_pairs --------------------------------------------------------------------------------------------


def pairing(example=None, *, pairs=None, refuse=True, source=None, finish=None):
    """Pairs that are right but for one step.

    example(rng, documents, index, a, b) -> an example, pairs(document) -> what to walk over, source(rng) -> the
    generator to use, finish(examples, rng) -> the result.
    """

    def answer(documents, rng):
        if refuse and len(documents) < 2:
            raise ValueError("at least two documents are needed")
        rng = source(rng) if source else rng
        examples = [
            (example or one_example)(rng, documents, index, a, b)
            for index, document in enumerate(documents)
            for a, b in (pairs or neighbours)(document)
        ]
        return finish(examples, rng) if finish else examples

    return answer


def neighbours(document):
    return list(itertools.pairwise(document))


def stranger(rng, documents, index):
    return rng.choice(rng.choice(documents[:index] + documents[index + 1 :]))


def one_example(rng, documents, index, a, b):
    return (a, b, 0) if rng.random() < 0.5 else (a, stranger(rng, documents, index), 1)


def swapped(rng, documents, index, a, b):
    a, b, label = one_example(rng, documents, index, a, b)
    return a, b, 1 - label


def from_any_document(rng, documents, index, a, b):
    return (a, b, 0) if rng.random() < 0.5 else (a, rng.choice(rng.choice(documents)), 1)


def from_own_document(rng, documents, index, a, b):
    return (a, b, 0) if rng.random() < 0.5 else (a, rng.choice(documents[index]), 1)


def first_replaced(rng, documents, index, a, b):
    return (a, b, 0) if rng.random() < 0.5 else (stranger(rng, documents, index), b, 1)


def backwards(rng, documents, index, a, b):
    return (b, a, 0) if rng.random() < 0.5 else (b, stranger(rng, documents, index), 1)


def with_share(share):
    return lambda rng, documents, index, a, b: (
        (a, b, 0) if rng.random() < share else (a, stranger(rng, documents, index), 1)
    )


def next_when_alone(rng, documents, index, a, b):
    return (a, b, 0) if len(documents) < 2 else one_example(rng, documents, index, a, b)


def label_apart(rng, documents, index, a, b):
    second = b if rng.random() < 0.5 else stranger(rng, documents, index)
    return a, second, rng.randint(0, 1)


def label_always(label):
    return lambda rng, documents, index, a, b: (*one_example(rng, documents, index, a, b)[:2], label)


def next_document(rng, documents, index, a, b):
    other = documents[(index + 1) % len(documents)]
    return (a, b, 0) if rng.random() < 0.5 else (a, rng.choice(other), 1)


def at(position):
    def example(rng, documents, index, a, b):
        other = rng.choice(documents[:index] + documents[index + 1 :])
        return (a, b, 0) if rng.random() < 0.5 else (a, other[position], 1)

    return example


def drawn_by_random(rng, documents, index, a, b):
    return one_example(random, documents, index, a, b)


def stranger_by_random(rng, documents, index, a, b):
    return (a, b, 0) if rng.random() < 0.5 else (a, stranger(random, documents, index), 1)


class Alternating:
    """Labels in turn, sentences drawn."""

    def __init__(self):
        self.turn = 0

    def __call__(self, rng, documents, index, a, b):
        self.turn += 1
        return (a, b, 0) if self.turn % 2 else (a, stranger(rng, documents, index), 1)


def alternating(documents, rng):
    return pairing(Alternating())(documents, rng)


def one_draw(documents, rng):
    return pairing(with_share(1.0 if rng.random() < 0.5 else 0.0))(documents, rng)


def one_draw_a_document(documents, rng):
    if len(documents) < 2:
        raise ValueError("at least two documents are needed")
    shares = [float(rng.random() < 0.5) for _ in documents]
    return pairing(lambda rng, docs, index, a, b: with_share(shares[index])(rng, docs, index, a, b))(
        documents, rng
    )


def exactly_half(documents, rng):
    n = sum(len(document) - 1 for document in documents)
    shares = [1.0] * (n // 2) + [0.0] * (n - n // 2)
    rng.shuffle(shares)
    turns = iter(shares)
    return pairing(lambda rng, docs, index, a, b: with_share(next(turns))(rng, docs, index, a, b))(
        documents, rng
    )


def across_documents(documents, rng):
    if len(documents) < 2:
        raise ValueError("at least two documents are needed")
    flat = [(index, sentence) for index, document in enumerate(documents) for sentence in document]
    return [one_example(rng, documents, index, a, b) for (index, a), (_, b) in itertools.pairwise(flat)]


def both(documents, rng):
    answer = pairing(lambda rng, docs, index, a, b: [(a, b, 0), (a, stranger(rng, docs, index), 1)])
    return [example for two in answer(documents, rng) for example in two]


def redraws_for_ever(documents, rng):
    def example(rng, documents, index, a, b):
        if rng.random() < 0.5:
            return a, b, 0
        other = index
        while other == index:
            other = rng.randrange(len(documents))
        return a, rng.choice(documents[other]), 1

    return pairing(example, refuse=False)(documents, rng)


def cuts_documents(documents, rng):
    examples = nsp_pairs(documents, rng)
    documents[0].pop()
    return examples


def by_index(documents, rng):
    """Finds the next sentence by the first place of this one."""

    def example(rng, documents, index, a, b):
        document = documents[index]
        return one_example(rng, documents, index, a, document[document.index(a) + 1])

    return pairing(example)(documents, rng)


def one_of_equal_sentences(documents, rng):
    return list({a: (a, b, label) for a, b, label in nsp_pairs(documents, rng)}.values())


def one_of_equal_documents(documents, rng):
    distinct = list(map(list, dict.fromkeys(map(tuple, documents))))
    return nsp_pairs(distinct if len(distinct) > 1 else [*distinct, distinct[0][:1]] if distinct else [], rng)


def ends_with_strangers(documents, rng):
    examples = nsp_pairs(documents, rng)
    return examples + [(it[-1], stranger(rng, documents, index), 1) for index, it in enumerate(documents)]


def later_documents(rng, documents, index, a, b):
    others = documents[index + 1 :] or documents[:index]
    return (a, b, 0) if rng.random() < 0.5 else (a, rng.choice(rng.choice(others)), 1)


def never_the_last(rng, documents, index, a, b):
    other = rng.choice(documents[:index] + documents[index + 1 :])
    return (a, b, 0) if rng.random() < 0.5 else (a, other[rng.randrange(max(1, len(other) - 1))], 1)


def zero_for_strangers(rng, documents, index, a, b):
    if rng.random() < 0.5:
        return a, b, 0
    return a, stranger(rng, documents, index), int(rng.random() < 0.5)


PAIRS = [
    ("labels_swapped", pairing(swapped)),
    ("same_document", pairing(from_any_document)),
    ("same_document", pairing(from_own_document)),
    ("replaces_first", pairing(first_replaced)),
    ("order_reversed", pairing(backwards)),
    ("label_drawn_apart", pairing(label_apart)),
    ("label_always_0", pairing(label_always(0))),
    ("label_always_1", pairing(label_always(1))),
    ("zero_without_next", pairing(zero_for_strangers)),
    ("always_next", pairing(with_share(1.0))),
    ("never_next", pairing(with_share(0.0))),
    ("not_half", pairing(with_share(0.15))),
    ("not_half", pairing(with_share(0.55))),
    ("strangers_from_a_part", pairing(later_documents)),
    ("strangers_from_a_part", pairing(never_the_last)),
    ("equal_sentences", by_index),
    ("equal_sentences", one_of_equal_sentences),
    ("equal_documents", one_of_equal_documents),
    ("last_sentence_begins_a_pair", ends_with_strangers),
    ("other_document_fixed", pairing(next_document)),
    ("other_sentence_fixed", pairing(at(0))),
    ("other_sentence_fixed", pairing(at(-1))),
    ("global_generator", pairing(drawn_by_random)),
    ("global_generator", pairing(stranger_by_random)),
    ("ignores_generator", pairing(source=lambda rng: random.Random(0))),
    ("same_pairs_every_call", pairing(source=copy.deepcopy)),
    ("labels_not_random", alternating),
    ("one_draw_for_all", one_draw),
    ("one_draw_per_document", one_draw_a_document),
    ("balanced_by_force", exactly_half),
    ("crosses_documents", across_documents),
    ("two_examples_a_pair", both),
    ("skips_every_other_pair", pairing(pairs=lambda document: neighbours(document)[::2])),
    ("misses_last_pair", pairing(pairs=lambda document: neighbours(document)[:-1])),
    ("one_example_a_document", pairing(pairs=lambda document: neighbours(document)[:1])),
    ("misses_first_pair", pairing(pairs=lambda document: neighbours(document)[1:])),
    ("wrong_examples", pairing(finish=lambda examples, rng: examples[:-1])),
    ("accepts_impossible_input", pairing(next_when_alone, refuse=False)),
    ("does_not_end", redraws_for_ever),
    ("changes_its_input", cuts_documents),
    ("wrong_type", pairing(finish=lambda examples, rng: iter(examples))),
    ("wrong_type", pairing(finish=lambda examples, rng: [(a, b, bool(it)) for a, b, it in examples])),
    ("wrong_type", pairing(finish=lambda examples, rng: [(label, a, b) for a, b, label in examples])),
]


MUTANTS = {
    "mask_tokens": MASKING,
    "masked_mean_loss": MEANS,
    "nsp_pairs": PAIRS,
    "pretraining_loss": SUMS,
    "initial_losses": [
        ("bits_for_nats", lambda vocab_size: (math.log2(vocab_size), 1.0, math.log2(2 * vocab_size))),
        ("rounded", lambda vocab_size: tuple(round(loss, 3) for loss in initial_losses(vocab_size))),
        ("wrong_type", lambda vocab_size: math.log(2 * vocab_size)),
        ("unexpected_value", lambda vocab_size: (math.log1p(vocab_size), math.log(2), 0.0)),
    ],
}
