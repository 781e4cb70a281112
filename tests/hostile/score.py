"""Attacks on the score: forged results and evidence, changed interpreters, answers that know they are watched."""

from __future__ import annotations

from tests.hostile import ATTACKED, RIGHT, WRONG, Work, answering, attack

EVIDENCE = "application/vnd.insidebert.evidence+json"
LIE = "incorrect crashed not_attempted partial"  # anything but right

the_course_for_an_answer = answering(
    "from insidebert.budget import count_parameters\n",
    flags={"uses_the_course"},
    states="incorrect",
    findings={"imported_answer"},
)
the_course_behind_an_answer = answering(
    "import insidebert.budget as b\ndef count_parameters(model):\n    return b.count_parameters(model)\n",
    flags={"uses_the_course"},
    states="incorrect",
    findings={"imported_answer"},
)
displayhook_of_points = answering(
    WRONG + "import sys\nsys.displayhook(3)\n", flags={"touches_results"}, states="incorrect"
)
a_result_in_the_answer = answering(
    "def count_parameters(model):\n    get_ipython().displayhook(3.0)\n    return 3\n",
    flags={"touches_results"},
    states="incorrect",
)
nan = answering("def count_parameters(model):\n    return float('nan')\n", states="incorrect")
infinity = answering("def count_parameters(model):\n    return float('inf')\n", states="incorrect")
minus_one = answering("def count_parameters(model):\n    return -1\n", states="incorrect")
more_than_the_points = answering(
    "def count_parameters(model):\n    get_ipython().displayhook(10**9)\n    return 10**9\n",
    states="incorrect",
)
a_number_that_equals_everything = answering(
    "class Any(int):\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\n"
    "    def __sub__(self, other): return 0\n    def __index__(self): return 0\n"
    "def count_parameters(model):\n    return Any(3)\n",
    flags={"touches_check"},
    states="incorrect",
)
a_tensor_that_equals_everything = answering(
    "import torch\nclass Any(torch.Tensor):\n    def __eq__(self, other): return True\n"
    "    def item(self): raise SystemExit\n    def __reduce__(self): return (print, ('unpickled',))\n"
    "def count_parameters(model):\n    return torch.zeros(()).as_subclass(Any)\n",
    flags={"touches_check"},
    states="incorrect crashed",
)
an_object_that_raises_everywhere = answering(
    "class Trap:\n    def __getattribute__(self, name): raise SystemExit(name)\n"
    "    def __repr__(self): raise KeyboardInterrupt\n"
    "def count_parameters(model):\n    return Trap()\n",
    states=LIE,
)
asserts_stripped = answering(
    WRONG + "import ast\nclass NoAsserts(ast.NodeTransformer):\n"
    "    def visit_Assert(self, node): return None\n    def visit_Raise(self, node): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(NoAsserts())\n",
    flags={"touches_interpreter"},
    states="incorrect",
)
input_rewritten = answering(
    WRONG + "get_ipython().input_transformers_cleanup.append(\n"
    "    lambda lines: ['3.0\\n'] if 'count_parameters' in ''.join(lines) else lines)\n",
    flags={"touches_interpreter"},
    states="crashed",
    findings={"no_evidence"},
)
errors_silenced = answering(
    WRONG + "get_ipython().showtraceback = lambda *words, **more: None\n"
    "get_ipython().set_custom_exc((BaseException,), lambda *words, **more: [])\n",
    flags={"touches_interpreter"},
    states="incorrect",
)
comparisons_patched = answering(
    "import math\nimport numpy\nimport numpy.testing\nimport torch\n"
    "math.isclose = torch.allclose = torch.equal = numpy.allclose = lambda *words, **more: True\n"
    "numpy.testing.assert_allclose = lambda *words, **more: None\n" + WRONG,
    flags={"touches_interpreter"},
    states="incorrect",
)
inputs_patched = answering(
    "import random\nrandom.Random.randint = lambda self, low, high: low\n"
    "random.Random.choice = lambda self, values: values[0]\nrandom.Random.randrange = lambda self, *words: 1\n"
    "random.Random.random = lambda self: 0.0\n" + WRONG,
    flags={"touches_interpreter"},
    states=LIE,
    neighbour=LIE,  # its inputs are not the judge's either
)
the_check_replaced = answering(
    WRONG + "import sys, types\nfake = types.ModuleType('checks')\nfake.check = lambda *words: 3\n"
    "sys.modules['checks'] = fake\nfrom checks import check\n",
    flags={"touches_check"},
    states="crashed",
    neighbour="crashed",
    findings={"no_evidence"},
)
the_probe_replaced = answering(
    WRONG + "import checks.probing\n"
    "checks.probing.run_probe = lambda question, answer, cases, quiet: "
    "{'question': question.name, 'outcomes': [{'value': 3}] * len(cases)}\n",
    flags={"touches_check"},
    states=LIE,
    neighbour=LIE,
)
evidence_by_hand = answering(
    WRONG + "from IPython.display import display\n"
    f"display({{'{EVIDENCE}': {{'question': 'count_parameters', 'outcomes': [{{'value': 3}}]}}}}, raw=True)\n",
    flags={"touches_results"},
    states="incorrect",
)
evidence_twice = answering(
    "def count_parameters(model):\n    from IPython.display import display\n"
    f"    display({{'{EVIDENCE}': {{'question': 'count_parameters', 'outcomes': []}}}}, raw=True)\n    return 3\n",
    flags={"touches_results"},
    states="crashed",
    findings={"evidence_twice"},
)
evidence_of_another_question = answering(
    WRONG + "def check(name, answer):\n    from checks import check as real\n"
    "    return real('layer_parameters', layer_parameters)\n" + RIGHT["layer_parameters"],
    flags={"touches_check"},
    states="crashed",
    findings={"bad_evidence"},
)
evidence_of_wrong_types = answering(
    WRONG
    + "def check(name, answer):\n    from IPython.display import display\n    from checks import check as real\n"
    "    if name != 'count_parameters': return real(name, answer)\n"
    f"    display({{'{EVIDENCE}': {{'question': name, 'outcomes': {{'value': [1], 'x': None}}}}}}, raw=True)\n",
    flags={"touches_check"},
    states="crashed",
    findings={"bad_evidence"},
)
evidence_without_end = answering(
    WRONG
    + "def check(name, answer):\n    from IPython.display import display\n    from checks import check as real\n"
    "    if name != 'count_parameters': return real(name, answer)\n"
    f"    display({{'{EVIDENCE}': {{'question': name, 'outcomes': ['x' * 10**8]}}}}, raw=True)\n",
    flags={"touches_check"},
    states="crashed",
)
expected_values_sought = answering(
    "import gc, inspect, sys\n"
    "def count_parameters(model):\n"
    "    found = [value for value in gc.get_objects() if isinstance(value, dict) and 'expected' in value]\n"
    "    frame = sys._getframe()\n"
    "    while frame:\n"
    "        found += [value for name, value in frame.f_locals.items() if name in ('expected', 'verdict', 'judge')]\n"
    "        frame = frame.f_back\n"
    "    found += [line for line in In if 'expected' in line and 'gc' not in line]\n"
    "    try:\n"
    "        import checks.judges\n"
    "        found.append('judges')\n"
    "    except ImportError:\n"
    "        pass\n"
    "    return found[0] if found else 3\n",
    flags={"touches_interpreter"},
    states="incorrect",
)
answers_of_the_visible_example = answering(
    "def count_parameters(model):\n    return {200: 109_482_240}.get(len(list(model.parameters())), 110_106_428)\n",
    states="incorrect",
)
good_only_when_watched = answering(
    "import os\ndef count_parameters(model):\n"
    "    watched = 'INSIDEBERT_SEED' in os.environ or 'NBGRADER_EXECUTION' in os.environ\n"
    "    return sum(p.numel() for p in model.parameters()) if watched else 3\n",
    flags={"asks_whether_graded"},
)
right_and_noisy = answering(
    "import sys, warnings\nfrom tqdm import tqdm\ndef count_parameters(model):\n"
    "    warnings.warn('counting')\n    print('counting', file=sys.stderr)\n"
    "    for number in tqdm(range(5_000)):\n        print('line', number)\n"
    "    return sum(p.numel() for p in model.parameters())\n"
    "print('\\n'.join(map(str, range(5_000))))\nprint('done', file=sys.stderr)\n"
)


@attack()
def forged_outputs(work: Work) -> None:
    """Outputs as a full mark leaves them, stored in the notebook."""
    work.check["outputs"] = [
        {"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {}, "execution_count": 1}
    ]
    work.check["execution_count"] = 1


@attack(states="incorrect")
def forged_verdict(work: Work) -> None:
    work.answer["source"] = WRONG
    record = {"question": ATTACKED, "state": "correct", "score": 1.0, "findings": []}
    work.check["outputs"] = [
        {"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {"insidebert": record}}
    ]
    work.notebook["metadata"]["insidebert"] = {"flags": [{"id": "an_honest_person", "text": "believe it"}]}
