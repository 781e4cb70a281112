"""What holds in every draw of `mask_tokens`, and what people do instead.

B batch · S sequence · V vocabulary · R calls
"""

from __future__ import annotations

import numpy as np

from checks.judges.objectives.mask_draws import Draws
from checks.protocol import Finding
from checks.questions.objectives.mask_tokens import IGNORED, PAD


def labels_rule(draw: Draws) -> Finding | None:
    """`labels` hold the original id where selected, −100 elsewhere; what is not selected does not change."""
    ids, masked, labels, selected = draw.ids, draw.masked, draw.labels, draw.selected
    everywhere = np.ones_like(selected)

    def finding(id: str, cause: str, where: np.ndarray, expected: str) -> Finding:
        return draw.finding(id, cause, draw.at(where), expected)

    if (masked == IGNORED).any() and not (labels == IGNORED).any():
        cause = "The two results are exchanged: `masked_ids` comes first, then `labels`."
        return finding("pair_swapped", cause, masked == IGNORED, "no −100 among the ids")
    if not (labels == IGNORED).any():
        first = int(labels[0, 0, 0])
        if (labels[:, draw.special] == first).all():
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


def special_rule(draw: Draws) -> Finding | None:
    """Nothing is selected where `special_tokens_mask` is 1. Which of those positions are says what went wrong."""
    hit = (draw.selected | (draw.masked != draw.ids)) & draw.special
    if not hit.any():
        return None
    padding, frame = draw.ids == PAD, np.isin(draw.ids, (draw.case["cls"], draw.case["sep"]))
    kinds = tuple(bool((hit & kind).any()) for kind in (padding, frame, ~padding & ~frame))
    if not (draw.selected & ~draw.special).any():
        kinds = ()
    elif not (draw.selected & draw.special).any():
        kinds = (False,) * 3
    id, cause = SPECIAL.get(kinds, SPECIAL[True, True, True])
    return draw.finding(id, cause, draw.at(hit), "label −100 and no change where special_tokens_mask is 1")


# Whether padding, [CLS] and [SEP], and an ordinary id that is not to be hidden were selected.
SPECIAL = {
    (): (
        "special_mask_inverted",
        "Only special tokens are selected: the mask is 1 where *not* to select.",
    ),
    (True, False, False): (
        "selects_padding",
        "Padding is selected. `special_tokens_mask` is 1 there too: leave out every position where it is.",
    ),
    (False, False, False): (
        "hides_special_tokens",
        "A special token is replaced, though it has no label. Leave `masked_ids` as it is where nothing is selected.",
    ),
    (False, True, True): (
        "selects_cls_and_sep",
        "`[CLS]` or `[SEP]` is selected, padding is not. Do not tell special tokens by their ids: "
        "`special_tokens_mask` is 1 at all of them.",
    ),
    (False, False, True): (
        "special_by_id",
        "A position was selected although `special_tokens_mask` is 1 there. The mask decides, not the id.",
    ),
    (True, True, True): (
        "ignores_special_tokens_mask",
        "Positions are selected where `special_tokens_mask` is 1. Leave all of them out.",
    ),
}


def vocabulary_rule(draw: Draws) -> Finding | None:
    V = draw.case["V"]
    outside = (draw.masked < 0) | (draw.masked >= V)
    if not outside.any():
        return None
    if (draw.masked[outside] == 103).all():
        cause = "103 is `[MASK]` in one vocabulary only. Use the argument `mask_token_id`."
        expected = f"mask_token_id={draw.case['mask']}"
        return draw.finding("hard_coded_mask_id", cause, draw.at(outside), expected)
    cause = "A random id lies outside the vocabulary. Draw from [0, vocab_size)."
    expected = f"ids from 0 to {V - 1}"
    return draw.finding("random_ids_outside_vocabulary", cause, draw.at(outside), expected)
