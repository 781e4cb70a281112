"""Answers to the assignment `parameter_budget`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import itertools

from torch import nn

PARTS = (
    "token table",
    "position table",
    "segment table",
    "embedding norm",
    "encoder layers",
    "pooler",
    "head",
)


# --- right answers ----------------------------------------------------------------------------------------


def count_parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


def count_by_identity(model):
    seen, count = set(), 0
    for module in model.modules():
        for weight in module._parameters.values():
            if weight is not None and id(weight) not in seen:
                seen.add(id(weight))
                size = 1
                for axis in weight.shape:
                    size *= axis
                count += size
    return count


def token_table_share(model):
    for name, weight in model.named_parameters():
        if name.endswith("word_embeddings.weight"):
            return weight.numel() / count_parameters(model)
    raise ValueError("no token table")


def share_by_module(model):
    table = next(m for n, m in model.named_modules() if n.endswith("word_embeddings"))
    return table.num_embeddings * table.embedding_dim / count_by_identity(model)


def breakdown(model):
    rules = {
        "word_embeddings": "token table",
        "position_embeddings": "position table",
        "token_type_embeddings": "segment table",
        "embeddings.LayerNorm": "embedding norm",
        "encoder.layer": "encoder layers",
        "pooler": "pooler",
    }
    result = dict.fromkeys(PARTS, 0)
    for name, weight in model.named_parameters():
        part = next((part for key, part in rules.items() if key in name), "head")
        result[part] += weight.numel()
    return result


def breakdown_by_module(model):
    encoder = next(m for m in model.modules() if hasattr(m, "embeddings") and hasattr(m, "encoder"))
    e = encoder.embeddings
    result = {
        "token table": count_parameters(e.word_embeddings),
        "position table": count_parameters(e.position_embeddings),
        "segment table": count_parameters(e.token_type_embeddings),
        "embedding norm": count_parameters(e.LayerNorm),
        "encoder layers": count_parameters(encoder.encoder),
        "pooler": count_parameters(encoder.pooler) if encoder.pooler is not None else 0,
    }
    return result | {"head": count_parameters(model) - sum(result.values())}


def layer_parameters(hidden, intermediate):
    attention = 4 * (hidden * hidden + hidden)
    feed_forward = hidden * intermediate + intermediate + intermediate * hidden + hidden
    return attention + feed_forward + 2 * 2 * hidden


def layer_by_counting(hidden, intermediate):
    linear = [(hidden, hidden)] * 4 + [(hidden, intermediate), (intermediate, hidden)]
    return sum(rows * columns + columns for rows, columns in linear) + sum([hidden] * 4)


def factorised_table(vocab, hidden, factor):
    parameters = factor * (vocab + hidden)
    return parameters, vocab * hidden / parameters


def factorised_as_list(vocab, hidden, factor):
    sizes = [vocab * factor, factor * hidden]
    return [sum(sizes), (vocab * hidden) / sum(sizes)]


def budget_report(models):
    report = {}
    for name, model in models.items():
        table = round(token_table_share(model) * count_parameters(model))
        report[name] = {
            "total": count_parameters(model),
            "token_table": table,
            "share": table / count_parameters(model),
        }
    return report


def report_by_comprehension(models):
    return {
        name: {
            "share": b["token table"] / sum(b.values()),
            "total": sum(b.values()),
            "token_table": b["token table"],
        }
        for name, b in ((name, breakdown(model)) for name, model in models.items())
    }


RIGHT = {
    "count_parameters": [count_parameters, count_by_identity],
    "token_table_share": [token_table_share, share_by_module],
    "breakdown": [breakdown, breakdown_by_module],
    "layer_parameters": [layer_parameters, layer_by_counting],
    "factorised_table": [factorised_table, factorised_as_list],
    "budget_report": [budget_report, report_by_comprehension],
}


# --- wrong answers ----------------------------------------------------------------------------------------


def numel(named):
    return sum(tensor.numel() for _, tensor in named)


def tied_twice(model):
    return numel(model.named_parameters(remove_duplicate=False)) - _shared_bias(model)


def _shared_bias(model):
    """The decoder's bias is registered twice as well; people who go through `weight` alone do not see it."""
    return sum(head.bias.numel() for head in mlm_heads(model) if head.bias is head.decoder.bias)


def mlm_heads(model):
    return [m for m in model.modules() if hasattr(m, "decoder") and hasattr(m, "bias")]


def state_dict(model):
    return sum(tensor.numel() for tensor in model.state_dict().values())


def with_position_ids(model):
    return count_parameters(model) + numel(
        (n, b) for n, b in model.named_buffers() if n.endswith("position_ids")
    )


def with_buffers(model):
    return count_parameters(model) + numel(model.named_buffers())


def with_buffers_and_tied_twice(model):
    return tied_twice(model) + numel(model.named_buffers())


def trainable_only(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def without_pooler(model):
    return numel((n, p) for n, p in model.named_parameters() if "pooler" not in n)


def matrices_only(model):
    return sum(p.numel() for p in model.parameters() if p.dim() > 1)


def tensors(model):
    return len(list(model.parameters()))


def encoder_only(model):
    return numel((n, p) for n, p in model.named_parameters() if "encoder.layer" in n)


def without_head(model):
    inside = ("embeddings", "encoder.layer", "pooler")
    return numel((n, p) for n, p in model.named_parameters() if any(key in n for key in inside))


def in_bytes(model):
    return sum(p.numel() * p.element_size() for p in model.parameters())


def with_optimizer(model):
    return 3 * count_parameters(model)


def as_float(model):
    return float(count_parameters(model))


def published_total(model):
    return 110_000_000


def table(model, ending="word_embeddings.weight"):
    return numel((n, p) for n, p in model.named_parameters() if n.endswith(ending))


def embeddings(model):
    return numel((n, p) for n, p in model.named_parameters() if "embeddings" in n)


def three_tables(model):
    return numel((n, p) for n, p in model.named_parameters() if n.endswith("embeddings.weight"))


def share_by_fixed_prefix(model):
    return model.bert.embeddings.word_embeddings.weight.numel() / count_parameters(model)


def share_by_fixed_name(model):
    found = dict(model.named_parameters()).get("bert.embeddings.word_embeddings.weight")
    return (found.numel() if found is not None else 0) / count_parameters(model)


def table_counted_twice(model):
    extra = tied_twice(model) - count_parameters(model)
    return (table(model) + extra) / count_parameters(model)


def changed(change):
    """A breakdown that is right but for what `change(result, model)` does to it."""

    def answer(model):
        result = breakdown(model)
        change(result, model)
        return result

    return answer


def _move(source, target):
    def change(result, model):
        result[target] += result[source]
        result[source] = 0

    return changed(change)


def tied_in_head(result, model):
    result["head"] += tied_twice(model) - count_parameters(model)


def tied_moved(result, model):
    extra = tied_twice(model) - count_parameters(model)
    result["head"] += extra
    result["token table"] -= extra


def no_mlm_bias(result, model):
    result["head"] -= sum(head.bias.numel() for head in mlm_heads(model))


def no_untied_decoder(result, model):
    result["head"] -= numel((n, p) for n, p in model.named_parameters() if n.endswith("decoder.weight"))


def one_layer(result, model):
    result["encoder layers"] = numel((n, p) for n, p in model.named_parameters() if "encoder.layer.0." in n)


def swap_tables(result, model):
    result["position table"], result["segment table"] = result["segment table"], result["position table"]


def double_everything(result, model):
    for part in PARTS:
        result[part] *= 2


def shift_one(result, model):
    result["pooler"] += 1
    result["encoder layers"] -= 1


def drop_empty(model):
    return {part: count for part, count in breakdown(model).items() if count}


def with_total(model):
    return breakdown(model) | {"total": count_parameters(model)}


def pairs_of_parts(model):
    return list(breakdown(model).items())


def floats_of_parts(model):
    return {part: float(count) for part, count in breakdown(model).items()}


def report_with(**columns):
    def answer(models):
        report = budget_report(models)
        for name, model in models.items():
            report[name].update({key: column(model) for key, column in columns.items()})
        return report

    return answer


def report_last(models):
    for name, model in models.items():
        report = {name: budget_report({name: model})[name]}
    return report


def report_first(models):
    name, model = next(iter(models.items()))
    return {name: budget_report({name: model})[name]}


def report_same(pick):
    def answer(models):
        model = pick(list(models.values()))
        return {name: budget_report({name: model})[name] for name in models}

    return answer


def report_listed(models):
    return [*itertools.chain(budget_report(models).items())]


def report_hard_coded(models):
    return {
        "bert-base-uncased": {
            "total": 109_482_240,
            "token_table": 23_440_896,
            "share": 23_440_896 / 109_482_240,
        }
    }


def report_total_missing(models):
    return {
        name: {"table": row["token_table"], "share": row["share"]}
        for name, row in budget_report(models).items()
    }


def report_in_place(models):
    for name, row in budget_report(models).items():
        models[name] = row
    return models


def breakdown_of_all_names(model):
    result = dict.fromkeys(PARTS, 0)
    rules = {
        "word_embeddings": "token table",
        "position_embeddings": "position table",
        "token_type_embeddings": "segment table",
        "embeddings.LayerNorm": "embedding norm",
        "encoder.layer": "encoder layers",
        "pooler": "pooler",
    }
    for name, weight in model.state_dict().items():
        result[next((part for key, part in rules.items() if key in name), "head")] += weight.numel()
    return result


def all_norms(model):
    result = breakdown(model)
    for name, weight in model.named_parameters():
        if "LayerNorm" in name and "embeddings" not in name:
            result["embedding norm"] += weight.numel()
            result["encoder layers" if "encoder.layer" in name else "head"] -= weight.numel()
    return result


def share_below(bottom):
    return lambda model: table(model) / bottom(model)


MUTANTS = {
    "count_parameters": [
        ("counts_tied_decoder_twice", tied_twice),
        ("counts_tied_decoder_twice", state_dict),
        ("counts_position_ids_buffer", with_position_ids),
        ("counts_buffers", with_buffers),
        ("counts_buffers_and_tied_twice", with_buffers_and_tied_twice),
        ("counts_trainable_only", trainable_only),
        ("misses_pooler", without_pooler),
        ("misses_biases_and_norms", matrices_only),
        ("counts_tensors", tensors),
        ("counts_encoder_only", encoder_only),
        ("misses_head", without_head),
        ("counts_bytes", in_bytes),
        ("counts_optimizer_slots", with_optimizer),
        ("wrong_type", as_float),
        ("unexpected_value", published_total),
    ],
    "token_table_share": [
        ("percent_for_share", lambda model: 100 * token_table_share(model)),
        ("share_of_embeddings", lambda model: table(model) / embeddings(model)),
        ("all_embeddings_for_token_table", lambda model: embeddings(model) / count_parameters(model)),
        ("three_tables_for_token_table", lambda model: three_tables(model) / count_parameters(model)),
        (
            "position_table_for_token_table",
            lambda model: table(model, "position_embeddings.weight") / count_parameters(model),
        ),
        (
            "segment_table_for_token_table",
            lambda model: table(model, "token_type_embeddings.weight") / count_parameters(model),
        ),
        ("share_with_tied_decoder_twice", share_below(tied_twice)),
        ("share_with_tied_decoder_twice", share_below(state_dict)),
        ("share_with_buffers", share_below(with_buffers)),
        ("table_twice_over_total", table_counted_twice),
        ("share_of_rest", share_below(lambda model: count_parameters(model) - table(model))),
        ("misses_head_below", share_below(without_head)),
        ("share_of_trainable", share_below(trainable_only)),
        (
            "first_parameter_for_table",
            lambda model: next(model.parameters()).numel() / count_parameters(model),
        ),
        (
            "largest_parameter_for_table",
            lambda model: max(p.numel() for p in model.parameters()) / count_parameters(model),
        ),
        ("integer_division", lambda model: table(model) // count_parameters(model)),
        ("raises", lambda model: model.numle()),
        ("share_rounded", lambda model: round(token_table_share(model), 3)),
        ("fixed_prefix", share_by_fixed_prefix),
        ("fixed_prefix", share_by_fixed_name),
        ("wrong_type", lambda model: f"{token_table_share(model):.2%}"),
        ("unexpected_value", lambda model: 0.9),
    ],
    "breakdown": [
        ("tied_decoder_in_head", changed(tied_in_head)),
        ("tied_decoder_in_head", breakdown_of_all_names),
        ("all_norms_in_embedding_norm", all_norms),
        ("raises", lambda model: model.named_params()),
        ("tied_decoder_moved_to_head", changed(tied_moved)),
        ("pooler_in_head", _move("pooler", "head")),
        ("pooler_in_layers", _move("pooler", "encoder layers")),
        ("embedding_norm_in_layers", _move("embedding norm", "encoder layers")),
        ("embedding_norm_in_head", _move("embedding norm", "head")),
        ("misses_head", lambda model: breakdown(model) | {"head": 0}),
        ("misses_mlm_bias", changed(no_mlm_bias)),
        ("untied_decoder_dropped", changed(no_untied_decoder)),
        ("one_layer_for_all", changed(one_layer)),
        ("positions_and_segments_swapped", changed(swap_tables)),
        ("does_not_sum", changed(double_everything)),
        ("wrong_part", changed(shift_one)),
        ("missing_keys", drop_empty),
        ("extra_keys", with_total),
        ("wrong_type", pairs_of_parts),
        ("wrong_type", floats_of_parts),
        ("fixed_prefix", lambda model: {"token table": model.bert.embeddings.word_embeddings.weight.numel()}),
    ],
    "layer_parameters": [
        ("matrices_only", lambda hidden, intermediate: 4 * hidden**2 + 2 * hidden * intermediate),
        (
            "no_biases",
            lambda hidden, intermediate: 4 * hidden**2 + 2 * hidden * intermediate + 4 * hidden,
        ),
        ("no_layer_norms", lambda hidden, intermediate: layer_parameters(hidden, intermediate) - 4 * hidden),
        (
            "half_the_layer_norms",
            lambda hidden, intermediate: layer_parameters(hidden, intermediate) - 2 * hidden,
        ),
        (
            "no_layer_norms",
            lambda hidden, intermediate: (
                4 * hidden**2 + 2 * hidden * intermediate + intermediate + 5 * hidden
            ),
        ),
        (
            "no_feed_forward_biases",
            lambda hidden, intermediate: layer_parameters(hidden, intermediate) - hidden - intermediate,
        ),
        (
            "no_query_key_value_biases",
            lambda hidden, intermediate: layer_parameters(hidden, intermediate) - 3 * hidden,
        ),
        ("arguments_swapped", lambda hidden, intermediate: layer_parameters(intermediate, hidden)),
        ("attention_only", lambda hidden, intermediate: 4 * hidden * (hidden + 1)),
        ("feed_forward_only", lambda hidden, intermediate: 2 * hidden * intermediate + hidden + intermediate),
        (
            "three_projections",
            lambda hidden, intermediate: layer_parameters(hidden, intermediate) - hidden**2 - hidden,
        ),
        ("assumes_four_times_hidden", lambda hidden, intermediate: 12 * hidden**2 + 13 * hidden),
        ("twelve_h_squared", lambda hidden, intermediate: 12 * hidden**2),
        (
            "one_feed_forward_matrix",
            lambda hidden, intermediate: (
                layer_parameters(hidden, intermediate) - hidden * intermediate - hidden
            ),
        ),
        ("wrong_type", lambda hidden, intermediate: layer_parameters(hidden, intermediate) / 1),
        ("unexpected_value", lambda hidden, intermediate: 7_087_872),
    ],
    "factorised_table": [
        ("ratio_inverted", lambda v, h, e: (e * (v + h), e * (v + h) / (v * h))),
        ("second_matrix_missing", lambda v, h, e: (v * e, v * h / (v * e))),
        ("counts_bias", lambda v, h, e: (e * (v + h) + h, v * h / (e * (v + h) + h))),
        ("counts_both_biases", lambda v, h, e: (e * (v + h) + h + e, v * h / (e * (v + h) + h + e))),
        ("saving_for_ratio", lambda v, h, e: (e * (v + h), 1 - e * (v + h) / (v * h))),
        ("difference_for_ratio", lambda v, h, e: (e * (v + h), v * h - e * (v + h))),
        ("hidden_over_factor", lambda v, h, e: (e * (v + h), h / e)),
        ("integer_division", lambda v, h, e: (e * (v + h), v * h // (e * (v + h)))),
        ("product_of_three", lambda v, h, e: (v * e * h, v * h / (v * e * h))),
        ("count_is_float", lambda v, h, e: (float(e * (v + h)), v * h / (e * (v + h)))),
        ("ratio_rounded", lambda v, h, e: (e * (v + h), round(v * h / (e * (v + h)), 2))),
        ("pair_swapped", lambda v, h, e: (v * h / (e * (v + h)), e * (v + h))),
        ("wrong_type", lambda v, h, e: e * (v + h)),
        ("unexpected_value", lambda v, h, e: (4_005_120, 5.85)),
    ],
    "budget_report": [
        ("percent_for_share", report_with(share=lambda model: 100 * token_table_share(model))),
        ("share_of_embeddings", report_with(share=lambda model: table(model) / embeddings(model))),
        (
            "all_embeddings_for_token_table",
            report_with(
                token_table=embeddings, share=lambda model: embeddings(model) / count_parameters(model)
            ),
        ),
        ("counts_tied_decoder_twice", report_with(total=tied_twice, share=share_below(tied_twice))),
        ("counts_tied_decoder_twice", report_with(total=state_dict, share=share_below(state_dict))),
        ("counts_buffers", report_with(total=with_buffers, share=share_below(with_buffers))),
        ("same_row_for_all", report_same(lambda models: models[0])),
        ("same_row_for_all", report_same(lambda models: models[-1])),
        ("share_rounded", report_with(share=lambda model: round(token_table_share(model), 4))),
        ("wrong_type", report_with(total=lambda model: float(count_parameters(model)))),
        ("dict_without_items", lambda models: {name: count_parameters(m) for name, m in models}),
        ("dict_without_items", lambda models: [count_parameters(model) for model in models]),
        ("changes_its_input", report_in_place),
        ("last_model_only", report_last),
        ("first_model_only", report_first),
        (
            "table_size_for_count",
            report_with(token_table=lambda model: table(model) // embedding_width(model)),
        ),
        ("wrong_type", report_listed),
        ("wrong_names", report_hard_coded),
        ("wrong_columns", report_total_missing),
        ("unexpected_value", report_with(total=lambda model: count_parameters(model) + 7)),
        (
            "fixed_prefix",
            lambda models: {n: m.bert.embeddings.word_embeddings.weight.numel() for n, m in models.items()},
        ),
    ],
}


def embedding_width(model):
    return next(m for m in model.modules() if isinstance(m, nn.Embedding)).embedding_dim
