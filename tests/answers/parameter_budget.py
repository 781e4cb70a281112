"""Answers to the assignment `parameter_budget`: right ones in several styles, and wrong ones written by hand."""

from __future__ import annotations

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


def count_by_storage(model):
    return sum({p.data_ptr(): p.numel() for _, p in model.named_parameters(remove_duplicate=False)}.values())


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
    "count_parameters": [count_parameters, count_by_identity, count_by_storage],
    "token_table_share": [token_table_share, share_by_module],
    "breakdown": [breakdown, breakdown_by_module],
    "layer_parameters": [layer_parameters, layer_by_counting],
    "factorised_table": [factorised_table, factorised_as_list],
    "budget_report": [budget_report, report_by_comprehension],
}


# --- wrong answers ----------------------------------------------------------------------------------------


def numel(named):
    return sum(tensor.numel() for _, tensor in named)


def state_dict(model):
    return numel(model.state_dict().items())


def trainable_only(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def sum_over_modules(model):
    return sum(p.numel() for module in model.modules() for p in module.parameters())


def with_buffers(model):
    return count_parameters(model) + numel(model.named_buffers())


def share_by_fixed_prefix(model):
    return model.bert.embeddings.word_embeddings.weight.numel() / count_parameters(model)


def share_by_fixed_name(model):
    found = dict(model.named_parameters()).get("bert.embeddings.word_embeddings.weight")
    return (found.numel() if found is not None else 0) / count_parameters(model)


def share_of_the_first(model):
    return next(model.parameters()).numel() / count_parameters(model)


def breakdown_of_all_names(model):
    result = dict.fromkeys(PARTS, 0)
    for name, weight in model.state_dict().items():
        part = (
            "token table" if "word_embeddings" in name else "position table" if "position_emb" in name else ""
        )
        part = part or (
            "segment table" if "token_type" in name else "embedding norm" if "embeddings.L" in name else ""
        )
        part = part or (
            "encoder layers" if "encoder.layer" in name else "pooler" if "pooler" in name else "head"
        )
        result[part] += weight.numel()
    return result


def breakdown_without_frozen(model):
    result = breakdown(model)
    result["encoder layers"] -= count_parameters(model) - trainable_only(model)
    return result


def shift_one(model):
    result = breakdown(model)
    return result | {"pooler": result["pooler"] + 1, "encoder layers": result["encoder layers"] - 1}


def report_in_place(models):
    for name, row in budget_report(models).items():
        models[name] = row
    return models


def report_last(models):
    for name, model in models.items():
        report = {name: budget_report({name: model})[name]}
    return report


def report_of_trainable(models):
    report = budget_report(models)
    for name, model in models.items():
        total = trainable_only(model)
        report[name].update(total=total, share=report[name]["token_table"] / total)
    return report


def report_with(**columns):
    def answer(models):
        report = budget_report(models)
        for name, model in models.items():
            report[name].update({key: column(model) for key, column in columns.items()})
        return report

    return answer


MUTANTS = {
    "count_parameters": [
        ("counts_tied_decoder_twice", state_dict),
        ("counts_trainable_only", trainable_only),
        ("sums_over_modules", sum_over_modules),
        ("counts_buffers", with_buffers),
        ("wrong_type", lambda model: float(count_parameters(model))),
        ("unexpected_value", lambda model: 110_000_000),
    ],
    "token_table_share": [
        ("first_parameter_for_table", share_of_the_first),
        ("fixed_prefix", share_by_fixed_prefix),
        ("fixed_prefix", share_by_fixed_name),
        ("share_rounded", lambda model: round(token_table_share(model), 3)),
        ("raises", lambda model: model.numle()),
        ("wrong_type", lambda model: f"{token_table_share(model):.2%}"),
        ("unexpected_value", lambda model: 0.9),
    ],
    "breakdown": [
        ("tied_decoder_in_head", breakdown_of_all_names),
        ("skips_frozen_parts", breakdown_without_frozen),
        ("raises", lambda model: model.named_params()),
        ("does_not_sum", lambda model: {part: 2 * count for part, count in breakdown(model).items()}),
        ("wrong_part", shift_one),
        ("missing_keys", lambda model: {part: count for part, count in breakdown(model).items() if count}),
        ("extra_keys", lambda model: breakdown(model) | {"total": count_parameters(model)}),
        ("wrong_type", lambda model: list(breakdown(model).items())),
        ("wrong_type", lambda model: {part: float(count) for part, count in breakdown(model).items()}),
        ("fixed_prefix", lambda model: {"token table": model.bert.embeddings.word_embeddings.weight.numel()}),
    ],
    "layer_parameters": [
        ("matrices_only", lambda hidden, intermediate: 4 * hidden**2 + 2 * hidden * intermediate),
        ("wrong_type", lambda hidden, intermediate: layer_parameters(hidden, intermediate) / 1),
        ("unexpected_value", lambda hidden, intermediate: 7_087_872),
    ],
    "factorised_table": [
        ("hidden_over_factor", lambda v, h, e: (e * (v + h), h / e)),
        ("count_is_float", lambda v, h, e: (float(e * (v + h)), v * h / (e * (v + h)))),
        ("ratio_rounded", lambda v, h, e: (e * (v + h), round(v * h / (e * (v + h)), 2))),
        ("wrong_type", lambda v, h, e: e * (v + h)),
        ("unexpected_value", lambda v, h, e: (4_005_120, 5.85)),
    ],
    "budget_report": [
        ("skips_frozen_parts", report_of_trainable),
        ("last_model_only", report_last),
        ("share_rounded", report_with(share=lambda model: round(token_table_share(model), 4))),
        ("wrong_type", report_with(total=lambda model: float(count_parameters(model)))),
        ("dict_without_items", lambda models: {name: count_parameters(m) for name, m in models}),
        ("changes_its_input", report_in_place),
        ("wrong_names", lambda models: {"bert-base-uncased": {"total": 109_482_240}}),
        ("missing_keys", lambda models: {name: {"total": 1} for name in models}),
        ("extra_keys", report_with(layers=lambda model: 12)),
        ("unexpected_value", report_with(total=lambda model: count_parameters(model) + 7)),
        (
            "fixed_prefix",
            lambda models: {n: m.bert.embeddings.word_embeddings.weight.numel() for n, m in models.items()},
        ),
    ],
}
