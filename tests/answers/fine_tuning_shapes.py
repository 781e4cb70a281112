"""Answers to the assignment `fine_tuning_shapes`: right ones in several styles, and wrong ones written by hand."""

from __future__ import annotations

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


def no_none_check(ids, labels):
    row, previous = [], -1
    for word in ids:
        row.append(labels[word] if word != previous else -100)
        previous = word
    return row


def by_position(ids, labels):
    return [-100 if word is None else labels[s] for s, word in enumerate(ids)]


def takes_the_next(ids, labels):
    rest = iter(labels)
    next(rest)
    return [next(rest) if label != -100 else label for label in align_labels(ids, labels)]


def by_index(ids, labels):
    row = [-100] * len(ids)
    for word, label in enumerate(labels):
        row[ids.index(word)] = label
    return row


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


def mean_of(parts):
    parts = list(parts)
    return (
        tuple(sum(column) / len(parts) for column in zip(*parts, strict=True)) if parts else (0.0, 0.0, 0.0)
    )


def by_sentence(true, predicted):
    return mean_of(entity_f1([t], [p]) for t, p in zip(true, predicted, strict=True))


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


def span_then(change):
    def answer(start, end, context, max_length=30):
        i, j = best_span(start, end, context, max_length)
        return change(i, j, context)

    return answer


def start_first(start, end, context, max_length=30):
    if not context.any():
        raise ValueError("no context")
    i = start.masked_fill(~context, -math.inf).argmax().item()
    late = torch.arange(len(end))
    keep = context & (late >= i) & (late < i + max_length)
    return i, end.masked_fill(~keep, -math.inf).argmax().item()


def none_below_zero(start, end, context, max_length=30):
    i, j = best_span(start, end, context, max_length)
    if start[i] + end[j] <= 0:
        raise ValueError("no answer")
    return i, j


def best_of_twenty(start, end, context, max_length=30):
    starts, ends = (row.argsort(descending=True, stable=True)[:20].tolist() for row in (start, end))
    pairs = [(i, j) for i in starts for j in ends if context[i] and context[j] and i <= j < i + max_length]
    if not pairs:
        raise ValueError("no span")
    return min(pairs, key=lambda pair: (-float(start[pair[0]] + end[pair[1]]), pair))


def probabilities(start, end, context, max_length=30):
    """The product of two softmaxes, in which low scores vanish."""
    if not context.any():
        raise ValueError("no context")
    both = start.softmax(0)[:, None] * end.softmax(0)
    keep = (context[:, None] & context).triu().tril(max_length - 1)
    return divmod(both.masked_fill(~keep, -1.0).argmax().item(), len(start))


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


def train_step_by_closure(model, batch, optimizer, max_grad_norm=1.0):
    assert isinstance(optimizer, torch.optim.Optimizer)
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
        return loss

    return optimizer.step(closure).item()


def train_step_by_hook(model, batch, optimizer, max_grad_norm=1.0):
    model.train()
    model.zero_grad()
    shorten = optimizer.register_step_pre_hook(lambda *_: clip(model, max_grad_norm))
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    shorten.remove()
    return loss.item()


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


def clip_sum(model, limit):
    nn.utils.clip_grad_norm_(model.parameters(), limit, norm_type=1)


def clips_the_loss(model, batch, optimizer, max_grad_norm=1.0):
    model.train()
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.clamp(max=max_grad_norm).backward()
    optimizer.step()
    return loss.item()


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
    "best_span": [best_span, best_span_of_a_matrix, lambda *row: [*map(torch.tensor, best_span(*row))]],
    "entity_spans": [entity_spans, spans_by_borders],
    "entity_f1": [entity_f1, f1_by_index],
    "train_step": [train_step, train_step_by_hand, train_step_by_closure, train_step_by_hook],
}


def descends_by_hand(model, batch, optimizer, max_grad_norm=1.0):
    model.train()
    model.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= optimizer.param_groups[0]["lr"] * parameter.grad
    return loss.item()


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
        (
            "sigmoid_in_head",
            head(
                lambda self, x: first(self, x).sigmoid() if self.single else first(self, x),
                single=lambda hidden, labels: labels == 1,
            ),
        ),
        ("scores_negated", head(lambda self, x: -first(self, x))),
        ("scores_scaled", head(lambda self, x: first(self, x) / x.shape[-1] ** 0.5)),
        ("mixes_rows", head(lambda self, x: first(self, x - x.mean(0)))),
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
        ("positions_left_out", head(lambda self, x: functional.pad(plain(self, x)[:, 1:], (0, 0, 1, 0)))),
        (
            "weights_by_position",
            head(lambda self, x: plain(self, x * torch.arange(1, 1 + x.shape[1])[:, None])),
        ),
        ("scrambled_view", head(lambda self, x: plain(self, x).view(len(x), -1, x.shape[1]).transpose(1, 2))),
        ("infinite_scores", head(lambda self, x: plain(self, x).index_fill(1, torch.tensor(0), -math.inf))),
        ("scores_scaled", head(lambda self, x: 2 * plain(self, x))),
        ("squeeze_drops_an_axis", head(lambda self, x: plain(self, x).squeeze(0))),
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
        ("one_vector_for_two", head(lambda self, x: (self.linear(x)[..., 0], -self.linear(x)[..., 0]))),
        ("scores_negated", head(lambda self, x: (self.linear(x)[..., 0], -self.linear(x)[..., 1]))),
        ("scores_scaled", split(lambda scores: 3 * scores)),
        ("scrambled_view", head(lambda self, x: self.linear(x).view(2, *x.shape[:2]).unbind())),
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
        ("label_on_every_piece", lambda ids, labels: [-100 if n is None else labels[n] for n in ids]),
        ("looks_up_none", no_none_check),
        ("looks_up_a_position", by_position),
        ("counts_words_itself", takes_the_next),
        ("looks_for_every_word", by_index),
        ("changes_its_input", aligned_in_place),
        ("wrong_type", lambda ids, labels: torch.tensor(align_labels(ids, labels))),
        ("wrong_type", lambda ids, labels: [None if n == -100 else n for n in align_labels(ids, labels)]),
        ("wrong_type", lambda ids, labels: [float(n) for n in align_labels(ids, labels)]),
        ("unexpected_value", lambda ids, labels: [7] * len(ids)),
    ],
    "best_span": [
        ("best_start_first", start_first),
        ("refuses_a_possible_answer", none_below_zero),
        ("refuses_a_possible_answer", best_of_twenty),
        ("other_default_length", no_default_length),
        ("accepts_impossible_input", never_none),
        ("raises_another_error", none_is_an_assertion),
        ("changes_its_input", span_in_place),
        ("wrong_type", lambda *args: torch.tensor(best_span(*args))),
        ("wrong_type", lambda *args: tuple(map(float, best_span(*args)))),
        ("unexpected_value", probabilities),
        ("unexpected_value", span_then(lambda i, j, context: (2, 3))),
    ],
    "entity_spans": [
        ("every_tag_an_entity", lambda tags: {(tag[2:], i, i) for i, tag in enumerate(tags) if tag != "O"}),
        ("letters_stripped", lambda tags: {(s[0].lstrip("BI-"), *s[1:]) for s in entity_spans(tags)}),
        ("changes_its_input", spans_in_place),
        ("wrong_type", lambda tags: sorted(entity_spans(tags))),
        ("wrong_type", lambda tags: {f"{kind}:{first}-{last}" for kind, first, last in entity_spans(tags)}),
        ("unexpected_value", lambda tags: {("PER", 0, 0)}),
    ],
    "entity_f1": [
        ("mean_over_sentences", by_sentence),
        ("divides_by_zero", unguarded),
        ("rounded", lambda true, predicted: [round(score, 3) for score in entity_f1(true, predicted)]),
        ("changes_its_input", f1_in_place),
        ("wrong_type", lambda *rows: entity_f1(*rows)[2]),
        ("wrong_type", lambda *rows: dict(zip(("precision", "recall", "f1"), entity_f1(*rows), strict=True))),
        ("unexpected_value", lambda true, predicted: (0.9, 0.9, 0.9)),
    ],
    "train_step": [
        ("moves_by_hand", descends_by_hand),
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
        ("steps_twice", two_steps),
        ("clips_another_norm", in_order("zero", "forward", "backward", clip_sum, "step")),
        ("clips_the_loss", clips_the_loss),
        ("unexpected_value", in_order("zero", "forward", "backward", clip, "step", default=-1.0)),
        ("unexpected_value", step_with(lambda loss: loss.item() + 1)),
    ],
}
