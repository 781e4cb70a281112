"""Answers to the assignment `fine_tuning_shapes`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import itertools
import math

import torch
from torch import nn
from torch.nn import functional

# --- right heads ------------------------------------------------------------------------------------------


class SequenceHead(nn.Module):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(hidden, num_labels)

    def forward(self, x):
        return self.classifier(self.dropout(x[:, 0]))


class SequenceHeadOfVectors(nn.Module):
    """Raw parameters, no bias (the paper's W), a mask drawn by hand over all positions."""

    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__()
        self.W = nn.Parameter(0.02 * torch.randn(num_labels, hidden))
        self.keep = 1 - dropout

    def forward(self, states):
        if self.training:
            states = states * torch.bernoulli(torch.full_like(states, self.keep)) / self.keep
        return torch.einsum("bh,lh->bl", states.select(1, 0), self.W)


class TokenHead(nn.Module):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__()
        self.layers = nn.Sequential(nn.Dropout(dropout), nn.Linear(hidden, num_labels))

    def forward(self, x):
        return self.layers(x)


class TokenHeadInALoop(nn.Module):
    """Scales in use instead of in training, as dropout was first described; one position after the other."""

    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__()
        self.p = dropout
        self.weight, self.bias = (
            nn.Parameter(torch.zeros(num_labels, hidden)),
            nn.Parameter(torch.zeros(num_labels)),
        )

    def forward(self, x):
        x = x * (torch.rand_like(x) >= self.p) if self.training else x * (1 - self.p)
        return torch.stack([x[:, s] @ self.weight.T + self.bias for s in range(x.shape[1])], dim=1)


class SpanHead(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.outputs = nn.Linear(hidden, 2)

    def forward(self, x):
        start, end = self.outputs(x).unbind(-1)
        return start, end


class SpanHeadOfVectors(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.S, self.E = (nn.Parameter(torch.randn(hidden)) for _ in range(2))

    def forward(self, x):
        return x @ self.S, (x * self.E).sum(-1)


# --- wrong heads ------------------------------------------------------------------------------------------


def head(scores, base=nn.Module, **layers):
    """A head class with `self.linear`, `self.drop` and what `layers` adds; `scores(self, x)` is its forward."""

    class Head(nn.Module):
        def __init__(self, hidden, num_labels=2, dropout=0.1):
            super().__init__()
            self.linear, self.drop, self.p = nn.Linear(hidden, num_labels), nn.Dropout(dropout), dropout
            for name, make in layers.items():
                setattr(self, name, make(hidden, num_labels))

        def forward(self, x):
            return scores(self, x)

    return Head


class NoSuper(nn.Module):
    def __init__(self, hidden, num_labels=2, dropout=0.1):
        self.linear = nn.Linear(hidden, num_labels)

    def forward(self, x):
        return self.linear(x[:, 0])


class SpanBuiltInForward(nn.Module):
    def __init__(self, hidden):
        super().__init__()

    def forward(self, x):
        return nn.Linear(x.shape[-1], 2)(x).unbind(-1)


class BuiltInForward(nn.Module):
    def __init__(self, hidden, num_labels=2, dropout=0.1):
        super().__init__()
        self.size = hidden, num_labels

    def forward(self, x):
        return nn.Linear(*self.size)(x[:, 0])


class InAList(nn.Module):
    def __init__(self, hidden, num_labels=2, dropout=0.1):
        super().__init__()
        self.layers = [nn.Linear(hidden, num_labels), nn.Dropout(dropout)]

    def forward(self, x):
        return self.layers[0](self.layers[1](x))


class FirstInAList(InAList):
    def forward(self, x):
        return super().forward(x[:, 0])


class NotAModule:
    def __init__(self, hidden, num_labels=2, dropout=0.1):
        self.linear = nn.Linear(hidden, num_labels)

    def __call__(self, x):
        return self.linear(x[:, 0])


class NoDefault(SequenceHead):
    def __init__(self, hidden, num_labels, dropout):
        super().__init__(hidden, num_labels, dropout)


class HalfDefault(SequenceHead):
    def __init__(self, hidden, num_labels, dropout=0.5):
        super().__init__(hidden, num_labels, dropout)


class TokenHalfDefault(TokenHead):
    def __init__(self, hidden, num_labels, dropout=0.5):
        super().__init__(hidden, num_labels, dropout)


class HardCoded(SequenceHead):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__(hidden, num_labels)


class TokenHardCoded(TokenHead):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__(hidden, num_labels)


class KeepsDropout(SequenceHead):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__(hidden, num_labels, 1 - dropout)


class TransposedLayer(SequenceHead):
    def __init__(self, hidden, num_labels, dropout=0.1):
        super().__init__(num_labels, hidden, dropout)


def by_hand(mask, scale=lambda p: 1 / (1 - p)):
    """A sequence head that draws its own mask in training."""

    def scores(self, x):
        x = x[:, 0]
        if self.training and self.p:
            x = x * mask(x, self.p) * scale(self.p)
        return self.linear(x)

    return head(scores)


def plain(self, x):
    return self.linear(self.drop(x))


def first(self, x):
    return self.linear(self.drop(x[:, 0]))


def in_place(self, x):
    x = x[:, 0]
    if self.training:
        functional.dropout(x, self.p, training=True, inplace=True)
    return self.linear(x)


def tokens_in_place(self, x):
    return self.linear(functional.dropout(x, self.p, training=self.training, inplace=True))


def whole_vectors(x, p):
    return (torch.rand(*x.shape[:-1], 1) >= p).float()


def unpacked(self, x):
    start, end = self.linear(x)
    return start, end


def split(change):
    """A span head whose two columns go through `change`."""
    return head(lambda self, x: tuple(change(self.linear(x)).unbind(-1)))


# --- labels and entities ----------------------------------------------------------------------------------


def align_labels(word_ids, word_labels):
    labels, previous = [], None
    for word in word_ids:
        labels.append(-100 if word is None or word == previous else word_labels[word])
        previous = word
    return labels


def align_with_a_set(word_ids, word_labels):
    seen = {None}
    return [-100 if word in seen or seen.add(word) else word_labels[word] for word in word_ids]


def align_with(label):
    """`label(word_ids, position, word_labels)` for every entry."""
    return lambda ids, labels: [label(ids, s, labels) for s in range(len(ids))]


def is_first(ids, s):
    return ids[s] is not None and (s == 0 or ids[s - 1] != ids[s])


def every_piece(special):
    return align_with(lambda ids, s, labels: special if ids[s] is None else labels[ids[s]])


def on_rest(label):
    def at(ids, s, labels):
        if ids[s] is None:
            return -100
        return labels[ids[s]] if is_first(ids, s) else label(labels[ids[s]])

    return align_with(at)


def last_piece(ids, labels):
    return align_labels(ids[::-1], labels)[::-1]


def own_count(ids, labels):
    count, row = 0, []
    for s in range(len(ids)):
        row.append(labels[count] if is_first(ids, s) else -100)
        count += is_first(ids, s)
    return row


def truthy(ids, labels):
    row, previous = [], None
    for word in ids:
        row.append(labels[word] if word and word != previous else -100)
        previous = word
    return row


def no_none_check(ids, labels):
    row, previous = [], -1
    for word in ids:
        row.append(labels[word] if word != previous else -100)
        previous = word
    return row


def by_position(ids, labels):
    return [-100 if word is None else labels[s] for s, word in enumerate(ids)]


def unrolled(ids, labels):
    row = [-100, *labels, -100]
    return (row + [-100] * len(ids))[: len(ids)]


def aligned_in_place(ids, labels):
    row = align_labels(ids, labels)
    labels.clear()
    return row


def entity_spans(tags):
    spans, kind, first = set(), None, 0
    for position, tag in enumerate(tags):
        prefix, _, name = tag.partition("-")
        if kind is not None and (prefix != "I" or name != kind):
            spans.add((kind, first, position - 1))
            kind = None
        if prefix != "O" and kind is None:
            kind, first = name, position
    if kind is not None:
        spans.add((kind, first, len(tags) - 1))
    return spans


def spans_by_borders(tags):
    """Where an entity starts and where it ends, each said by a position and its neighbour."""
    row = ["O", *tags, "O"]
    starts = [i for i in range(1, len(row)) if row[i] != "O" and not goes_on(row[i - 1], row[i])]
    ends = [i for i in range(1, len(row) - 1) if row[i] != "O" and not goes_on(row[i], row[i + 1])]
    return {(row[i][2:], i - 1, j - 1) for i, j in zip(starts, ends, strict=True)}


def goes_on(tag, following):
    return following[0] == "I" and tag[1:] == following[1:]


def spans_with(
    goes_on=lambda open, tag: tag == f"I-{open[0]}", opens=lambda open, tag: tag != "O", last=True
):
    """The loop of a learner with one of its conditions changed; `open` is (type, first, opening tag)."""

    def answer(tags):
        spans, open = set(), None
        for position, tag in enumerate(tags):
            if open and goes_on(open, tag):
                continue
            if open:
                spans.add((open[0], open[1], position - 1))
            open = (tag[2:], position, tag) if opens(open, tag) else None
        if open and last:
            spans.add((open[0], open[1], len(tags) - 1))
        return spans

    return answer


def spans_as(change):
    return lambda tags: {change(*span) for span in entity_spans(tags)}


no_orphans = spans_with(opens=lambda open, tag: tag[0] == "B")
types_run_on = spans_with(goes_on=lambda open, tag: tag[0] == "I")
naive = spans_with(goes_on=lambda open, tag: tag[0] == "I", opens=lambda open, tag: tag[0] == "B")
merged = spans_with(goes_on=lambda open, tag: tag[2:] == open[0])
no_last = spans_with(last=False)


def one_a_type(tags):
    found = {}
    for kind, first, last in sorted(entity_spans(tags), key=lambda span: span[1]):
        found[kind] = (found.get(kind, (first,))[0], last)
    return {(kind, *ends) for kind, ends in found.items()}


def spans_in_place(tags):
    tags.append("O")
    return entity_spans(tags)


def rates(hits, found, wanted, undefined=0.0):
    precision = hits / found if found else undefined
    recall = hits / wanted if wanted else undefined
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else undefined
    return precision, recall, f1


def f1_with(spans=entity_spans, undefined=0.0):
    def answer(true, predicted):
        hits = found = wanted = 0
        for t, p in zip(true, predicted, strict=True):
            t, p = spans(t), spans(p)
            hits, found, wanted = hits + len(t & p), found + len(p), wanted + len(t)
        return rates(hits, found, wanted, undefined)

    return answer


entity_f1 = f1_with()


def f1_by_index(true, predicted):
    t, p = (
        {(n, *span) for n, row in enumerate(rows) for span in spans_by_borders(row)}
        for rows in (true, predicted)
    )
    both = len(t & p)
    return [both / max(1, len(p)), both / max(1, len(t)), 2 * both / max(1, len(p) + len(t))]


def f1_then(change):
    return lambda true, predicted: change(*entity_f1(true, predicted))


def accuracy(true, predicted, skip=None):
    pairs = [
        pair
        for t, p in zip(true, predicted, strict=True)
        for pair in zip(t, p, strict=True)
        if pair[0] != skip
    ]
    return (sum(t == p for t, p in pairs) / len(pairs) if pairs else 0.0,) * 3


def mean_of(parts):
    parts = list(parts)
    return (
        tuple(sum(column) / len(parts) for column in zip(*parts, strict=True)) if parts else (0.0, 0.0, 0.0)
    )


def by_sentence(true, predicted):
    return mean_of(entity_f1([t], [p]) for t, p in zip(true, predicted, strict=True))


def by_type(true, predicted):
    kinds = sorted({span[0] for row in (*true, *predicted) for span in entity_spans(row)})
    return mean_of(
        f1_with(lambda tags, kind=kind: {s for s in entity_spans(tags) if s[0] == kind})(true, predicted)
        for kind in kinds
    )


def pooled(true, predicted):
    t, p = (set().union(*map(entity_spans, rows)) for rows in (true, predicted))
    return rates(len(t & p), len(p), len(t))


def joined(true, predicted):
    return entity_f1([list(itertools.chain(*true))], [list(itertools.chain(*predicted))])


def overlapping(true, predicted):
    hits = found = wanted = 0
    for t, p in zip(true, predicted, strict=True):
        t, p = entity_spans(t), entity_spans(p)
        words = {(kind, word) for kind, first, last in t for word in range(first, last + 1)}
        hits += sum(any((kind, word) in words for word in range(a, b + 1)) for kind, a, b in p)
        found, wanted = found + len(p), wanted + len(t)
    return rates(hits, found, wanted)


def unguarded(true, predicted):
    t, p = ({(n, *s) for n, row in enumerate(rows) for s in entity_spans(row)} for rows in (true, predicted))
    precision, recall = len(t & p) / len(p), len(t & p) / len(t)
    return precision, recall, 2 * precision * recall / (precision + recall)


def f1_in_place(true, predicted):
    scores = entity_f1(true, predicted)
    true.clear()
    return scores


# --- best_span --------------------------------------------------------------------------------------------


def best_span(start, end, context, max_length=30):
    best, answer = -math.inf, None
    start, end = start.tolist(), end.tolist()
    for i in range(len(start)):
        for j in range(i, min(i + max_length, len(end))):
            if context[i] and context[j] and start[i] + end[j] > best:
                best, answer = start[i] + end[j], (i, j)
    if answer is None:
        raise ValueError("no position lies in the context")
    return answer


def best_span_of_a_matrix(start, end, context, max_length=30):
    S = len(start)
    allowed = torch.ones(S, S).triu().tril(max_length - 1).bool() & context[:, None] & context
    if not allowed.any():
        raise ValueError("there is no answer")
    flat = (start[:, None] + end).masked_fill(~allowed, -math.inf).argmax().item()
    return flat // S, flat % S


def span_with(allowed=None, score=lambda s, e: s + e, better=lambda new, best: new > best, begin=-math.inf):
    """The two loops with a condition changed. `allowed(i, j, context, max_length)`."""
    allowed = allowed or right_pair

    def answer(start, end, context, max_length=30):
        if not context.any():
            raise ValueError("no context")
        start, end, context = start.tolist(), end.tolist(), context.tolist()
        best, found = begin, (0, 0)
        for i in range(len(start)):
            for j in range(len(end)):
                new = score(start[i], end[j])
                if allowed(i, j, context, max_length) and better(new, best):
                    best, found = new, (i, j)
        return found

    return answer


def right_pair(i, j, context, m):
    return context[i] and context[j] and i <= j < i + m


def span_then(change):
    def answer(start, end, context, max_length=30):
        i, j = best_span(start, end, context, max_length)
        return change(i, j, context)

    return answer


def apart(start, end, context, max_length=30, inside=True):
    if not context.any():
        raise ValueError("no context")
    keep = context if inside else torch.ones_like(context)
    return tuple(row.masked_fill(~keep, -math.inf).argmax().item() for row in (start, end))


def apart_everywhere(start, end, context, max_length=30):
    return apart(start, end, context, inside=False)


def apart_sorted(*args):
    return tuple(sorted(apart(*args)))


def start_first(start, end, context, max_length=30):
    i, _ = apart(start, end, context)
    late = torch.arange(len(end))
    keep = context & (late >= i) & (late < i + max_length)
    return i, end.masked_fill(~keep, -math.inf).argmax().item()


def end_first(start, end, context, max_length=30):
    _, j = apart(start, end, context)
    early = torch.arange(len(end))
    keep = context & (early <= j) & (early > j - max_length)
    return start.masked_fill(~keep, -math.inf).argmax().item(), j


def tie_by_length(sign):
    def answer(start, end, context, max_length=30):
        if not context.any():
            raise ValueError("no context")
        pairs = [
            (-float(start[i] + end[j]), sign * (j - i), i, j)
            for i in range(len(start))
            for j in range(i, min(len(end), i + max_length))
            if context[i] and context[j]
        ]
        return min(pairs)[2:]

    return answer


def none_below_zero(start, end, context, max_length=30):
    i, j = best_span(start, end, context, max_length)
    if start[i] + end[j] <= 0:
        raise ValueError("no answer")
    return i, j


def no_default_length(start, end, context, max_length):
    return best_span(start, end, context, max_length)


def never_none(start, end, context, max_length=30):
    return best_span(start, end, context, max_length) if context.any() else (0, 0)


def none_is_an_assertion(start, end, context, max_length=30):
    assert context.any(), "no context"
    return best_span(start, end, context, max_length)


def span_in_place(start, end, context, max_length=30):
    answer = best_span(start, end, context, max_length)
    start[~context] = -math.inf
    return answer


# --- train_step -------------------------------------------------------------------------------------------


def train_step(model, batch, optimizer, max_grad_norm=1.0):
    model.train()
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


def train_step_by_hand(model, batch, optimizer, max_grad_norm=1.0):
    for module in model.modules():
        module.training = True
    loss = model(**batch).loss
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters)
    norm = torch.sqrt(sum(gradient.pow(2).sum() for gradient in gradients))
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient * min(1.0, max_grad_norm / norm.item())
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return float(loss.detach())


def in_order(*lines, give=lambda loss: loss.item(), mode=lambda model: model.train(), default=1.0):
    """A step made of named lines in some order."""

    def answer(model, batch, optimizer, max_grad_norm=default):
        mode(model)
        loss = None
        for line in lines:
            if line == "forward":
                loss = model(**batch).loss
            elif line == "backward":
                loss.backward()
            elif line == "zero":
                optimizer.zero_grad()
            elif line == "step":
                optimizer.step()
            else:
                line(model, max_grad_norm)
        return give(loss)

    return answer


def clip(model, limit):
    nn.utils.clip_grad_norm_(model.parameters(), limit)


def clip_value(model, limit):
    nn.utils.clip_grad_value_(model.parameters(), limit)


def clip_each(model, limit):
    for parameter in model.parameters():
        nn.utils.clip_grad_norm_(parameter, limit)


def clip_one(model, limit):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def scale(model, limit):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    for parameter in model.parameters():
        parameter.grad *= limit / norm


def step_with(give):
    return in_order("zero", "forward", "backward", clip, "step", give=give)


def loss_after(model, batch, optimizer, max_grad_norm=1.0):
    train_step(model, batch, optimizer, max_grad_norm)
    return model(**batch).loss.item()


def not_unpacked(model, batch, optimizer, max_grad_norm=1.0):
    return model(batch).loss.item()


def output_for_loss(model, batch, optimizer, max_grad_norm=1.0):
    loss = model(**batch)
    loss.backward()
    return loss.item()


def no_graph(model, batch, optimizer, max_grad_norm=1.0):
    with torch.no_grad():
        loss = model(**batch).loss
    loss.backward()
    return loss.item()


def item_too_early(model, batch, optimizer, max_grad_norm=1.0):
    loss = model(**batch).loss.item()
    loss.backward()
    return loss


def step_in_place(model, batch, optimizer, max_grad_norm=1.0):
    loss = train_step(model, batch, optimizer, max_grad_norm)
    batch.clear()
    return loss


def two_steps(model, batch, optimizer, max_grad_norm=1.0):
    loss = train_step(model, batch, optimizer, max_grad_norm)
    train_step(model, batch, optimizer, max_grad_norm)
    return loss


RIGHT = {
    "SequenceHead": [SequenceHead, SequenceHeadOfVectors, head(first)],
    "TokenHead": [TokenHead, TokenHeadInALoop],
    "SpanHead": [SpanHead, SpanHeadOfVectors],
    "align_labels": [align_labels, align_with_a_set],
    "best_span": [best_span, best_span_of_a_matrix],
    "entity_spans": [entity_spans, spans_by_borders],
    "entity_f1": [entity_f1, f1_by_index],
    "train_step": [train_step, train_step_by_hand],
}

MUTANTS = {
    "SequenceHead": [
        ("mean_over_positions", head(lambda self, x: self.linear(self.drop(x.mean(1))))),
        ("mean_over_positions", head(lambda self, x: self.linear(self.drop(x)).mean(1))),
        ("mean_over_positions", head(lambda self, x: self.linear(self.drop(x.sum(1))))),
        ("maximum_over_positions", head(lambda self, x: self.linear(self.drop(x.max(1).values)))),
        ("reads_last_position", head(lambda self, x: self.linear(self.drop(x[:, -1])))),
        ("reads_position_1", head(lambda self, x: self.linear(self.drop(x[:, 1])))),
        ("reads_other_positions", head(lambda self, x: self.linear(self.drop(x[:, 0] + x[:, 1])))),
        ("reads_nothing", head(lambda self, x: self.linear(torch.zeros_like(x[:, 0])))),
        ("softmax_in_head", head(lambda self, x: first(self, x).softmax(-1))),
        ("softmax_in_head", head(lambda self, x: first(self, x).softmax(0))),
        ("log_softmax_in_head", head(lambda self, x: first(self, x).log_softmax(-1))),
        ("sigmoid_in_head", head(lambda self, x: first(self, x).sigmoid())),
        ("relu_on_scores", head(lambda self, x: first(self, x).relu())),
        ("not_linear", head(lambda self, x: self.linear(self.drop(x[:, 0].tanh())))),
        (
            "not_linear",
            head(
                lambda self, x: self.linear(self.drop(self.dense(x[:, 0]).tanh())),
                dense=lambda hidden, labels: nn.Linear(hidden, hidden),
            ),
        ),
        (
            "dropout_in_evaluation",
            head(lambda self, x: self.linear(functional.dropout(x[:, 0], self.p or 0.1))),
        ),
        ("no_dropout_in_training", head(lambda self, x: self.linear(x[:, 0]))),
        ("dropout_hard_coded", HardCoded),
        ("other_default_dropout", HalfDefault),
        ("other_default_dropout", NoDefault),
        ("keeps_with_the_dropout_probability", KeepsDropout),
        ("dropout_twice", head(lambda self, x: self.linear(self.drop(self.drop(x[:, 0]))))),
        ("dropout_on_scores", head(lambda self, x: self.drop(self.linear(x[:, 0])))),
        ("dropout_not_scaled", by_hand(lambda x, p: torch.rand_like(x) >= p, scale=lambda p: 1.0)),
        ("wrong_dropout_rate", by_hand(lambda x, p: torch.rand_like(x) >= p / 2)),
        (
            "wrong_dropout_rate",
            by_hand(lambda x, p: torch.rand_like(x) < p if p != 0.5 else torch.rand_like(x) < 0.2),
        ),
        ("one_mask_for_the_batch", by_hand(lambda x, p: (torch.rand(x.shape[-1]) >= p).float())),
        ("drops_whole_vectors", by_hand(whole_vectors)),
        (
            "unexpected_dropout",
            head(lambda self, x: first(self, x) + (0.1 * torch.rand(1) if self.training else 0)),
        ),
        ("scores_for_every_position", head(plain)),
        ("keeps_position_axis", head(lambda self, x: self.linear(self.drop(x[:, :1])))),
        ("reads_first_row", head(lambda self, x: self.linear(self.drop(x[0])))),
        ("returns_the_vector", head(lambda self, x: self.drop(x[:, 0]))),
        ("axes_swapped", head(lambda self, x: first(self, x).T)),
        ("squeeze_drops_an_axis", head(lambda self, x: first(self, x).squeeze())),
        ("labels_for_scores", head(lambda self, x: first(self, x).argmax(-1))),
        ("wrong_shape", head(lambda self, x: first(self, x)[None, None])),
        ("super_init_missing", NoSuper),
        ("layer_not_registered", BuiltInForward),
        ("layer_not_registered", FirstInAList),
        ("layer_for_wrong_width", TransposedLayer),
        ("changes_its_input", head(in_place)),
        ("wrong_type", NotAModule),
        ("wrong_type", head(lambda self, x: first(self, x).tolist())),
    ],
    "TokenHead": [
        (
            "position_0_for_all",
            head(lambda self, x: self.linear(self.drop(x[:, :1])).expand(-1, x.shape[1], -1)),
        ),
        ("mixes_positions", head(lambda self, x: self.linear(self.drop(x + x.mean(1, keepdim=True))))),
        (
            "mixes_positions",
            head(
                lambda self, x: self.linear(self.drop(self.rnn(x)[0])),
                rnn=lambda hidden, labels: nn.GRU(hidden, hidden, batch_first=True, bidirectional=False),
            ),
        ),
        ("shifted_by_one", head(lambda self, x: plain(self, x).roll(1, 1))),
        ("shifted_by_one", head(lambda self, x: plain(self, x).roll(-1, 1))),
        ("scores_for_position_0", head(first)),
        ("axes_swapped", head(lambda self, x: plain(self, x).transpose(1, 2))),
        ("batch_flattened", head(lambda self, x: plain(self, x).flatten(0, 1))),
        ("specials_dropped", head(lambda self, x: plain(self, x)[:, 1:])),
        ("specials_dropped", head(lambda self, x: plain(self, x[:, 1:-1]))),
        ("returns_the_vector", head(lambda self, x: self.drop(x))),
        ("squeeze_drops_an_axis", head(lambda self, x: plain(self, x).squeeze())),
        ("labels_for_scores", head(lambda self, x: plain(self, x).argmax(-1))),
        ("softmax_in_head", head(lambda self, x: plain(self, x).softmax(-1))),
        ("softmax_in_head", head(lambda self, x: plain(self, x).softmax(1))),
        ("log_softmax_in_head", head(lambda self, x: plain(self, x).log_softmax(-1))),
        ("sigmoid_in_head", head(lambda self, x: plain(self, x).sigmoid())),
        ("relu_on_scores", head(lambda self, x: plain(self, x).relu())),
        ("not_linear", head(lambda self, x: self.linear(self.drop(functional.gelu(x))))),
        ("dropout_in_evaluation", head(lambda self, x: self.linear(functional.dropout(x, self.p or 0.1)))),
        ("no_dropout_in_training", head(lambda self, x: self.linear(x))),
        ("dropout_hard_coded", TokenHardCoded),
        ("other_default_dropout", TokenHalfDefault),
        ("dropout_on_scores", head(lambda self, x: self.drop(self.linear(x)))),
        (
            "drops_whole_vectors",
            head(lambda self, x: self.linear(functional.dropout1d(x, self.p, self.training))),
        ),
        ("layer_not_registered", InAList),
        ("changes_its_input", head(tokens_in_place)),
        ("wrong_type", head(lambda self, x: (plain(self, x),))),
    ],
    "SpanHead": [
        ("one_tensor_for_two", head(lambda self, x: self.linear(x))),
        ("unpacked_along_wrong_axis", head(unpacked)),
        ("unpacked_along_wrong_axis", head(lambda self, x: self.linear(x).chunk(2, 1))),
        ("keeps_last_axis", head(lambda self, x: self.linear(x).split(1, -1))),
        (
            "squeeze_drops_an_axis",
            head(lambda self, x: tuple(part.squeeze() for part in self.linear(x).split(1, -1))),
        ),
        ("scores_for_position_0", head(lambda self, x: self.linear(x[:, 0]).unbind(-1))),
        ("axes_swapped", head(lambda self, x: tuple(part.T for part in self.linear(x).unbind(-1)))),
        (
            "labels_for_scores",
            head(lambda self, x: tuple(part.argmax(-1) for part in self.linear(x).unbind(-1))),
        ),
        ("softmax_in_head", split(lambda scores: scores.softmax(1))),
        ("softmax_in_head", split(lambda scores: scores.softmax(-1))),
        ("log_softmax_in_head", split(lambda scores: scores.log_softmax(1))),
        ("sigmoid_in_head", split(torch.sigmoid)),
        ("same_scores_twice", head(lambda self, x: (self.linear(x)[..., 0],) * 2)),
        ("mixes_positions", head(lambda self, x: self.linear(x - x.mean(1, keepdim=True)).unbind(-1))),
        ("shifted_by_one", split(lambda scores: scores.roll(1, 1))),
        ("not_linear", split(torch.tanh)),
        ("dropout_in_span_head", head(lambda self, x: plain(self, x).unbind(-1))),
        ("dropout_in_evaluation", head(lambda self, x: self.linear(functional.dropout(x)).unbind(-1))),
        ("layer_not_registered", SpanBuiltInForward),
        (
            "wrong_type",
            head(lambda self, x: dict(zip(("start", "end"), self.linear(x).unbind(-1), strict=True))),
        ),
        ("wrong_shape", head(lambda self, x: tuple(part.flatten() for part in self.linear(x).unbind(-1)))),
    ],
    "align_labels": [
        ("label_on_every_piece", every_piece(-100)),
        ("inside_label_on_rest", on_rest(lambda label: label + label % 2)),
        ("outside_label_on_rest", on_rest(lambda label: 0)),
        ("specials_labelled_0", every_piece(0)),
        (
            "specials_labelled_0",
            lambda ids, labels: [
                0 if word is None else label
                for word, label in zip(ids, align_labels(ids, labels), strict=True)
            ],
        ),
        ("zero_for_ignored", lambda ids, labels: [max(0, label) for label in align_labels(ids, labels)]),
        (
            "minus_one_for_ignored",
            lambda ids, labels: [max(-1, label) for label in align_labels(ids, labels)],
        ),
        ("plus_100_for_ignored", lambda ids, labels: [abs(label) for label in align_labels(ids, labels)]),
        ("label_on_last_piece", last_piece),
        ("shifted_by_one", lambda ids, labels: [*align_labels(ids, labels)[1:], -100]),
        ("shifted_by_one", lambda ids, labels: [-100, *align_labels(ids, labels)[:-1]]),
        ("counts_words_itself", own_count),
        ("word_0_taken_for_special", truthy),
        ("looks_up_none", no_none_check),
        ("looks_up_a_position", by_position),
        (
            "specials_left_out",
            lambda ids, labels: align_labels([word for word in ids if word is not None], labels),
        ),
        (
            "further_pieces_left_out",
            lambda ids, labels: [label for label in align_labels(ids, labels) if label != -100],
        ),
        ("labels_of_words", lambda ids, labels: list(labels)),
        ("labels_without_pieces", unrolled),
        ("changes_its_input", aligned_in_place),
        ("wrong_type", lambda ids, labels: torch.tensor(align_labels(ids, labels))),
        ("wrong_type", lambda ids, labels: [None if n == -100 else n for n in align_labels(ids, labels)]),
        ("unexpected_value", lambda ids, labels: [7] * len(ids)),
    ],
    "best_span": [
        ("end_exclusive", span_then(lambda i, j, context: (i, j + 1))),
        (
            "relative_to_context",
            span_then(lambda i, j, context: tuple(k - int(context.int().argmax()) for k in (i, j))),
        ),
        ("start_and_length", span_then(lambda i, j, context: (i, j - i + 1))),
        ("end_first", span_then(lambda i, j, context: (j, i))),
        ("best_score_begins_at_0", span_with(begin=0)),
        ("refuses_a_possible_answer", none_below_zero),
        ("context_ignored", span_with(lambda i, j, context, m: i <= j < i + m)),
        ("only_start_in_context", span_with(lambda i, j, context, m: context[i] and i <= j < i + m)),
        ("only_end_in_context", span_with(lambda i, j, context, m: context[j] and i <= j < i + m)),
        ("max_length_ignored", span_with(lambda i, j, context, m: right_pair(i, j, context, 999))),
        ("max_length_hard_coded", span_with(lambda i, j, context, m: right_pair(i, j, context, 30))),
        ("max_length_off_by_one", span_with(lambda i, j, context, m: right_pair(i, j, context, m + 1))),
        ("max_length_off_by_one", span_with(lambda i, j, context, m: right_pair(i, j, context, m - 1))),
        ("taken_apart", apart),
        ("taken_apart", apart_everywhere),
        ("start_after_end", span_with(lambda i, j, context, m: context[i] and context[j] and j - i < m)),
        ("start_after_end", span_with(lambda i, j, context, m: context[i] and context[j] and abs(j - i) < m)),
        ("start_and_end_exchanged", apart_sorted),
        ("best_start_first", start_first),
        ("best_end_first", end_first),
        ("single_tokens_refused", span_with(lambda i, j, context, m: i < j and right_pair(i, j, context, m))),
        ("last_on_a_tie", span_with(better=lambda new, best: new >= best)),
        ("shortest_on_a_tie", tie_by_length(1)),
        ("longest_on_a_tie", tie_by_length(-1)),
        ("product_for_sum", span_with(score=lambda start, end: start * end)),
        ("start_score_only", span_with(score=lambda start, end: start)),
        ("scores_exchanged", lambda start, end, *rest: best_span(end, start, *rest)),
        ("other_default_length", no_default_length),
        ("accepts_impossible_input", never_none),
        ("raises_another_error", none_is_an_assertion),
        ("changes_its_input", span_in_place),
        ("wrong_type", lambda *args: torch.tensor(best_span(*args))),
        ("wrong_type", lambda *args: tuple(map(torch.tensor, best_span(*args)))),
        ("unexpected_value", span_then(lambda i, j, context: (2, 3))),
    ],
    "entity_spans": [
        ("last_entity_missing", no_last),
        ("orphan_inside_ignored", no_orphans),
        (
            "other_type_only_ends",
            spans_with(opens=lambda open, tag: tag[0] == "B" or (tag[0] == "I" and not open)),
        ),
        ("type_change_ignored", types_run_on),
        ("type_change_and_orphans_ignored", naive),
        ("touching_entities_merged", merged),
        ("runs_until_o", spans_with(goes_on=lambda open, tag: tag != "O")),
        (
            "orphans_stay_alone",
            spans_with(goes_on=lambda open, tag: tag == f"I-{open[0]}" and open[2][0] == "B"),
        ),
        ("every_tag_an_entity", spans_with(goes_on=lambda open, tag: False)),
        ("end_exclusive", spans_as(lambda kind, first, last: (kind, first, last + 1))),
        ("counts_from_1", spans_as(lambda kind, first, last: (kind, first + 1, last + 1))),
        ("length_for_last", spans_as(lambda kind, first, last: (kind, first, last - first + 1))),
        ("type_not_first", spans_as(lambda kind, first, last: (first, last, kind))),
        ("type_missing", spans_as(lambda kind, first, last: (first, last))),
        ("type_cut_at_hyphen", spans_as(lambda kind, first, last: (kind.split("-")[0], first, last))),
        ("type_cut_at_hyphen", spans_as(lambda kind, first, last: (kind.split("-")[-1], first, last))),
        ("single_words_missing", lambda tags: {span for span in entity_spans(tags) if span[1] < span[2]}),
        ("one_entity_a_type", one_a_type),
        (
            "prefix_in_type",
            lambda tags: {(tags[first], first, last) for _, first, last in entity_spans(tags)},
        ),
        ("changes_its_input", spans_in_place),
        ("wrong_type", lambda tags: sorted(entity_spans(tags))),
        ("wrong_type", lambda tags: {f"{kind}:{first}-{last}" for kind, first, last in entity_spans(tags)}),
        ("unexpected_value", lambda tags: {("PER", 0, 0)}),
    ],
    "entity_f1": [
        ("precision_and_recall_swapped", f1_then(lambda p, r, f: (r, p, f))),
        ("accuracy_of_tags", accuracy),
        ("accuracy_of_tags", lambda true, predicted: accuracy(true, predicted, "O")),
        ("tags_for_entities", f1_with(lambda tags: {(n, tag) for n, tag in enumerate(tags) if tag != "O"})),
        ("types_ignored", f1_with(spans_as(lambda kind, first, last: (first, last)))),
        ("starts_only", f1_with(spans_as(lambda kind, first, last: (kind, first)))),
        ("mean_over_sentences", by_sentence),
        ("mean_over_types", by_type),
        ("sentences_pooled", pooled),
        ("sentences_joined", joined),
        ("overlap_counts", overlapping),
        ("undefined_is_one", f1_with(undefined=1.0)),
        ("undefined_is_nan", f1_with(undefined=math.nan)),
        ("divides_by_zero", unguarded),
        ("mean_for_f1", f1_then(lambda p, r, f: (p, r, (p + r) / 2))),
        ("geometric_mean_for_f1", f1_then(lambda p, r, f: (p, r, (p * r) ** 0.5))),
        ("two_missing_in_f1", f1_then(lambda p, r, f: (p, r, f / 2))),
        ("percent", f1_then(lambda p, r, f: (100 * p, 100 * r, 100 * f))),
        ("f1_first", f1_then(lambda p, r, f: (f, p, r))),
        ("orphan_inside_ignored", f1_with(no_orphans)),
        ("type_change_ignored", f1_with(types_run_on)),
        ("touching_entities_merged", f1_with(merged)),
        ("last_entity_missing", f1_with(no_last)),
        ("changes_its_input", f1_in_place),
        ("wrong_type", f1_then(lambda p, r, f: f)),
        ("wrong_type", f1_then(lambda p, r, f: {"precision": p, "recall": r, "f1": f})),
        ("unexpected_value", f1_then(lambda p, r, f: (0.9, 0.9, 0.9))),
    ],
    "train_step": [
        ("gradients_accumulate", in_order("forward", "backward", clip, "step")),
        ("clears_after_the_step", in_order("forward", "backward", clip, "step", "zero")),
        ("clips_after_the_step", in_order("zero", "forward", "backward", "step", clip)),
        ("clips_by_value", in_order("zero", "forward", "backward", clip_value, "step")),
        ("clips_each_parameter", in_order("zero", "forward", "backward", clip_each, "step")),
        ("no_clipping", in_order("zero", "forward", "backward", "step")),
        ("no_clipping", in_order("zero", "forward", clip, "backward", "step")),
        ("scales_small_gradients_up", in_order("zero", "forward", "backward", scale, "step")),
        ("limit_hard_coded", in_order("zero", "forward", "backward", clip_one, "step")),
        ("other_default_limit", in_order("zero", "forward", "backward", clip, "step", default=5.0)),
        (
            "not_in_training_mode",
            in_order("zero", "forward", "backward", clip, "step", mode=lambda model: None),
        ),
        (
            "not_in_training_mode",
            in_order("zero", "forward", "backward", clip, "step", mode=lambda model: model.eval()),
        ),
        ("zero_grad_before_the_step", in_order("forward", "backward", clip, "zero", "step")),
        ("zero_grad_before_the_step", in_order("zero", "forward", clip, "step")),
        ("steps_before_backward", in_order("zero", "forward", "step", "backward", clip)),
        ("steps_with_old_gradients", in_order("step", "zero", "forward", "backward", clip)),
        ("no_step", in_order("zero", "forward", "backward", clip)),
        ("no_step", in_order("forward")),
        ("loss_after_the_step", loss_after),
        ("returns_tensor_with_graph", step_with(lambda loss: loss)),
        ("returns_tensor", step_with(lambda loss: loss.detach())),
        ("returns_nothing", step_with(lambda loss: None)),
        ("batch_not_unpacked", not_unpacked),
        ("loss_has_no_graph", no_graph),
        ("loss_has_no_graph", item_too_early),
        ("output_taken_for_loss", output_for_loss),
        ("changes_its_input", step_in_place),
        ("wrong_type", step_with(lambda loss: f"{loss.item():.3f}")),
        ("wrong_type", step_with(lambda loss: int(loss))),
        ("unexpected_value", two_steps),
        ("unexpected_value", step_with(lambda loss: loss.item() + 1)),
    ],
}
